-- The requests that wait for a member and those they asked for, as lines of Slack markup; and the customers who were not asked and whose
-- answer the member may record, because those requests wait for the member too.
create or replace function inbound.slack_list(p_member directory.members) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_open constant public.capacity_request_state[] := '{SUBMITTED,UNDER_REVIEW,CUSTOMER_CONFIRMATION_REQUIRED,PROVISIONING}';
  v_waiting text;
  v_own text;
  v_unasked text;
begin
  select string_agg(inbound.slack_line(l.id, l.quantity, l.requested_size, l.region, l.state, l.state_since), E'\n') into v_waiting
    from capacity.list_requests(p_member.workspace_id, null, null, p_member.id, 10) l;
  select string_agg(inbound.slack_line(l.id, l.quantity, l.requested_size, l.region, l.state, l.state_since)
                    || case when l.state = 'CUSTOMER_CONFIRMATION_REQUIRED' and capacity.unasked(l.id, l.state) is not null
                            then ' :warning: the customer has not been asked' else '' end, E'\n')
    into v_own from capacity.list_requests(p_member.workspace_id, v_open, p_member.id, null, 10) l;
  select string_agg(inbound.slack_line(u.id, u.quantity, u.requested_size, u.region, u.state, u.state_since)
                    || E'\n   ' || capacity.unasked_words(u.unasked, u.state::text) || ' '
                      || capacity.unasked_remedy(u.unasked, u.id, u.state::text, u.offer is not null), E'\n')
    into v_unasked
    from (select r.*, capacity.unasked(r.id, r.state) as unasked
            from capacity.requests r
           where r.workspace_id = p_member.workspace_id and r.state = 'CUSTOMER_CONFIRMATION_REQUIRED'
             and r.commercial_owner_user_id in (select p.party from capacity.parties p
                                                 where p.workspace_id = p_member.workspace_id and p.kind = 'owner'
                                                   and p_member.id = any (p.everyone))
             and capacity.unasked(r.id, r.state) is not null
             and exists (select from capacity.asked_now(r) a where a.asked and a.member_id = p_member.id)
           order by r.next_deadline_at limit 10) u;
  return concat_ws(E'\n\n', E'*Waiting for your decision*\n' || v_waiting, E'*Customers who have not been asked*\n' || v_unasked,
    E'*Your open requests*\n' || v_own,
    case when v_waiting is null and v_unasked is null and v_own is null
           then 'Nothing waits for you, and you have no open request. `/capacity` creates one.' end);
end
$$;
comment on function inbound.slack_list(directory.members) is 'The requests that concern a member, for Slack.';
