-- What the holder of a link may know: the offer, how long it is valid, and its outcome. Nothing about people except the name
-- of a contact, because link scanners read this too. A customer who paid has confirmed, which the system then records.
--
-- status: open; confirmed and declined (by the link, or recorded on the customer's behalf); expired, even before the sweep has
-- recorded it; cancelled; closed for any other end.
create or replace function capacity.confirmation_story(p_token capacity.confirmation_tokens) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests;
  v_answer capacity.events;
begin
  select r.* into v_request from capacity.requests r where r.id = p_token.request_id;
  select e.* into v_answer from capacity.events e
   where e.request_id = p_token.request_id and e.event_type in ('CUSTOMER_CONFIRMED', 'CUSTOMER_DECLINED') order by e.seq limit 1;
  return jsonb_build_object(
    'status', case
        when v_answer.event_type = 'CUSTOMER_DECLINED' then 'declined'
        when v_request.state = 'CANCELLED' then 'cancelled'
        when v_answer.event_type = 'CUSTOMER_CONFIRMED' then 'confirmed'
        when v_request.state = 'EXPIRED' or least(p_token.expires_at, v_request.next_deadline_at) <= clock_timestamp() then 'expired'
        when v_request.state = 'CUSTOMER_CONFIRMATION_REQUIRED' then 'open'
        else 'closed' end,
    'decision', case v_answer.event_type when 'CUSTOMER_CONFIRMED' then 'confirm' when 'CUSTOMER_DECLINED' then 'decline' end,
    'decided_at', v_answer.created_at,
    'decided_by', case when v_answer.actor_type in ('customer', 'system') then 'customer' when v_answer.id is not null then 'on_behalf' end,
    'expires_at', p_token.expires_at,
    'request_id', v_request.id,
    'workspace', (select w.name from directory.workspaces w where w.id = v_request.workspace_id),
    'contact', (select m.display_name from directory.members m
                 where m.workspace_id = v_request.workspace_id and m.id = v_request.commercial_owner_user_id),
    'requested_size', v_request.requested_size,
    'quantity', v_request.quantity,
    'region', v_request.region,
    'needed_by_date', v_request.needed_by_date,
    'expected_duration_days', v_request.expected_duration_days,
    'estimated_monthly_cost_usd', v_request.estimated_monthly_cost_usd,
    'offer', v_request.offer - '{price_id,monthly_usd}'::text[]);
end
$$;
comment on function capacity.confirmation_story(capacity.confirmation_tokens) is 'What a confirmation page shows.';
