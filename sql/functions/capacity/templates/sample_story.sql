-- An invented story as capacity.story_of() makes it, for checking templates. p_sample: with a price, without one
-- and with somebody's words, or with as little as a story can have.
create or replace function capacity.sample_story(p_workspace_id text, p_cause text, p_sample integer) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_event text := case when p_cause = upper(p_cause collate "C") then p_cause end;
  v_story jsonb := jsonb_build_object(
    'workspace', p_workspace_id, 'id', 'CR-2026-000042', 'what', '4 × 32XL in us-east-1', 'customer', 'Initech',
    'event', v_event, 'notice', case when v_event is null then p_cause end,
    'state', case when v_event is null then 'CUSTOMER_CONFIRMATION_REQUIRED'
                  when v_event = 'CUSTOMER_CONFIRMED' then 'PROVISIONING' when v_event = 'PROVISIONING_COMPLETE' then 'COMPLETED'
                  when v_event = 'PROVISIONING_FAILED' then 'FAILED' when v_event = 'CUSTOMER_CONFIRMATION_TIMEOUT' then 'EXPIRED'
                  when v_event in ('CUSTOMER_DECLINED', 'CANCEL_APPROVED') then 'CANCELLED' else 'UNDER_REVIEW' end,
    'state_before', case when v_event in ('PROVISIONING_COMPLETE', 'PROVISIONING_FAILED', 'CANCEL_APPROVED') then 'PROVISIONING'
                         else 'CUSTOMER_CONFIRMATION_REQUIRED' end,
    'deadline', 1768039200, 'actor_type', 'user', 'actor', 'rita', 'people', '{"rita": {"name": "Rita"}}'::jsonb,
    'token_id', '00000000-0000-0000-0000-000000000000', 'public_url', 'https://capacity.example');
  v_items constant jsonb := '[
    {"id": "CR-2026-000042", "what": "4 × 32XL in us-east-1", "step": "technical", "since": 1767348000},
    {"id": "CR-2026-000043", "what": "1 × 8XL in eu-west-1", "step": "commercial", "since": 1767348000}]';
begin
  return v_story || case p_sample
    when 1 then jsonb_build_object('needed_by', '2026-02-01', 'duration_days', 30, 'items', v_items,
                                   'offer', '{"words": "USD 1,200.00", "interval": "month"}'::jsonb)
    when 2 then jsonb_build_object('needed_by', '2026-02-01', 'duration_days', 30, 'items', v_items - 1, 'monthly_cost', 12500,
                                   'justification', 'We need it for the launch.',
                                   'reason', E'We looked everywhere.\nThere is no other way.')
    else jsonb_build_object('items', v_items - 1) end;
end
$$;
comment on function capacity.sample_story(text, text, integer) is 'A story for checking templates.';
