-- An insert into notification_outbox is a call of notify(), with its defaults, and answers the id that is there on a repeat.
create or replace function notify.insert_notification() returns trigger
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  new.id := notify.tell_member(
    new.workspace_id, new.user_id, new.idempotency_key, new.title, new.body, new.action_url, coalesce(new.channels, '{in-app}'),
    coalesce(new.priority, 5), new.expires_at);
  return new;
end
$$;
comment on function notify.insert_notification() is 'Makes an insert into notification_outbox a call of notify().';
