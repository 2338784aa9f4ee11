-- Submits a request with typed terms, for the member who typed them. The receipt's id is the idempotency key: however often
-- Slack sends it, there is one request. If the workspace has no channel, the request lives in the channel in which it was asked
-- for.
create or replace function inbound.submit_terms(
  p_receipt jsonb, p_home directory.workspaces, p_member directory.members, p_fields jsonb, p_channel text,
  out context capacity.context, out story jsonb
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_terms jsonb := '{"quantity": 1, "confirmation_ttl_days": 7}';
  v_submitted record;
begin
  if not p_fields ? 'size' or not p_fields ? 'region' then
    perform headroom.fail('invalid_input', 'A request needs at least a size and a region.', null,
                          'For example: /capacity create 32XL x4 us-east-1');
  end if;
  select v_terms || coalesce(jsonb_object_agg(n.value, p_fields -> n.key), '{}')
    into v_terms from jsonb_each_text(inbound.term_names()) n where p_fields ? n.key;
  v_submitted := capacity.submit(
    row('user', p_member.id, 'slack')::capacity.actor, p_home,
    jsonb_populate_record(null::capacity.terms, v_terms || jsonb_strip_nulls(jsonb_build_object(
      'customer_ref', nullif(jsonb_strip_nulls(jsonb_build_object('name', p_fields ->> 'customer', 'email', p_fields ->> 'email')), '{}'),
      'needed_by_date', inbound.parse_date(p_fields ->> 'needed_by'),
      'slack_channel_id', case when p_channel ~ '^[CG]' and p_home.slack_channel_id is null then p_channel end))),
    'slack:' || (p_receipt ->> 'id'));
  context := v_submitted.context;
  story := v_submitted.story;
end
$$;
comment on function inbound.submit_terms(jsonb, directory.workspaces, directory.members, jsonb, text)
  is 'Submits a request that was typed in Slack. Nullable: story.';
