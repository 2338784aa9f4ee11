-- What waits for a member and what they asked for, as lines of Slack markup.
create or replace function inbound.slack_list(p_member capacity.members) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_open constant public.capacity_request_state[] := '{SUBMITTED,UNDER_REVIEW,CUSTOMER_CONFIRMATION_REQUIRED,PROVISIONING}';
  v_waiting text;
  v_own text;
begin
  select string_agg(inbound.slack_line(l.id, l.quantity, l.requested_size, l.region, l.state, l.state_since), E'\n') into v_waiting
    from capacity.list_requests(p_member.workspace_id, null, null, p_member.id, 10) l;
  select string_agg(inbound.slack_line(l.id, l.quantity, l.requested_size, l.region, l.state, l.state_since), E'\n') into v_own
    from capacity.list_requests(p_member.workspace_id, v_open, p_member.id, null, 10) l;
  return concat_ws(E'\n\n', E'*Waiting for your decision*\n' || v_waiting, E'*Your open requests*\n' || v_own,
    case when v_waiting is null and v_own is null then 'Nothing waits for you, and you have no open request. `/capacity` makes one.' end);
end
$$;
comment on function inbound.slack_list(capacity.members) is 'The requests that concern a member, for Slack.';
