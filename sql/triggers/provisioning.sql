-- The log of a job is written once. The trigger applies to everybody, including the owner of the table.
create or replace trigger append_only before update or delete or truncate on provisioning.events
  for each statement execute function capacity.refuse_change();
