-- Events and notices are written once. The triggers hold for everybody, the owner of the tables included.
create or replace trigger append_only before update or delete or truncate on capacity.events
  for each statement execute function capacity.refuse_change();
create or replace trigger append_only before update or delete or truncate on capacity.notices
  for each statement execute function capacity.refuse_change();
-- Where events go follows from who is subscribed.
create or replace trigger route_subscription after insert or update or delete on capacity.subscriptions
  for each row execute function capacity.route_subscription();
