-- Events and notices are written once. The triggers apply to everybody, including the owner of the tables.
create or replace trigger append_only before update or delete or truncate on capacity.events
  for each statement execute function capacity.refuse_change();
create or replace trigger append_only before update or delete or truncate on capacity.notices
  for each statement execute function capacity.refuse_change();
-- Subscriptions decide where events go.
create or replace trigger route_subscription after insert or update or delete on capacity.subscriptions
  for each row execute function capacity.route_subscription();
