-- An insert into notification_outbox calls notify() with its defaults, and returns the existing id on a repeat.
create or replace function notify.insert_notification() returns trigger
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_content notify.content := notify.content(
    'general', new.title, new.body, coalesce(new.channels, '{in-app}'), coalesce(new.priority, 5), p_action_url => new.action_url);
begin
  v_content.expires_at := new.expires_at;
  new.id := notify.tell_member(new.workspace_id, new.user_id, new.idempotency_key, v_content);
  return new;
end
$$;
comment on function notify.insert_notification() is 'Makes an insert into notification_outbox a call of notify().';
