-- The books are written once. The trigger applies to everybody, including the owner of the table.
create or replace trigger append_only before update or delete or truncate on billing.entries
  for each statement execute function capacity.refuse_change();
