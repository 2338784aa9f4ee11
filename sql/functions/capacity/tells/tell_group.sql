-- Notifies the group that gives the technical review, in its channel: the group that was notified before, since the directory may have
-- changed.
create or replace function capacity.tell_group(p_context capacity.context, p_story jsonb, p_rule capacity.tell, p_key text)
returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests := p_context.request;
begin
  perform notify.tell(
    notify.recipient(v_request.workspace_id, 'group', coalesce(p_context.group_told, v_request.infra_owner_group)), p_key,
    capacity.content_of(p_context, p_rule, capacity.tell_values(p_story, p_rule.template, 'technical')));
  return 1;
end
$$;
comment on function capacity.tell_group(capacity.context, jsonb, capacity.tell, text) is 'Notifies a group in its channel.';
