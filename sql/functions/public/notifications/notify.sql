-- Notifies a member of a workspace, in the caller's transaction. A second call with the same key for the same person is the same
-- notification. For machines and for the logins that an operator named (notify.producers).
create or replace function public.notify(
  p_workspace_id text, p_user_id text, p_idempotency_key text, p_title text, p_body text, p_action_url text default null,
  p_channels text[] default '{in-app}', p_priority integer default 5, p_expires_at timestamptz default null
) returns uuid
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_content notify.content := notify.content('general', p_title, p_body, p_channels, p_priority, p_action_url => p_action_url);
begin
  v_content.expires_at := p_expires_at;
  return notify.tell_member(p_workspace_id, p_user_id, p_idempotency_key, v_content);
end
$$;
comment on function public.notify(text, text, text, text, text, text, text[], integer, timestamptz)
  is 'Notifies a member, once per key. Nullable: p_action_url, p_expires_at.';
