-- Everything about one request, for those who may read it: the row, its history, the names of those it waits for, its messages and
-- where they are, its provisioning jobs, its notices, whether its customer was asked and who can fix
-- that, and whether the customer was erased.
create or replace function public.get_capacity_request(p_request_id text) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
declare
  v_request capacity.requests := capacity.readable_request(p_request_id);
  v_shown public.capacity_requests;
begin
  select * into v_shown from public.capacity_requests r where r.id = v_request.id;
  return jsonb_build_object(
    'request', to_jsonb(v_shown),
    'history', (select jsonb_agg(to_jsonb(e) order by e.seq) from public.capacity_request_events e
                 where e.capacity_request_id = v_request.id),
    'pending_approvals', capacity.pending_approvals(v_request),
    'deliveries', capacity.deliveries_of(v_request.id),
    'jobs', provisioning.jobs_of(v_request.id),
    'money', billing.payments_of(v_request.id),
    'notices', (select coalesce(jsonb_agg(jsonb_build_object('id', n.id, 'kind', n.kind, 'step', n.step, 'member_id', n.member_id,
                                                             'actor_type', n.actor_type,
                                                             'actor_id', n.actor_id, 'via', n.via,
                                                             'said', n.said, 'body', capacity.free_text(n.request_id, n.body_hash),
                                                             'created_at', n.created_at) order by n.id), '[]')
                  from capacity.notices n where n.request_id = v_request.id),
    'customer', jsonb_build_object(
      'address', capacity.email_of_customer(v_request.id), 'unasked', v_shown.customer_unasked,
      'fixers', (select coalesce(jsonb_agg(jsonb_build_object('id', m.id, 'name', m.display_name) order by m.id), '[]')
                   from directory.members m
                   where v_shown.customer_unasked is not null and v_request.state = 'CUSTOMER_CONFIRMATION_REQUIRED'
                     and m.workspace_id = v_request.workspace_id
                     and m.id = any ((select capacity.fixers(v_request, v_shown.customer_unasked))::text[]))),
    'erasure', capacity.erasure_state(v_request.id));
end
$$;
comment on function public.get_capacity_request(text) is 'A request with its history, open approvals, deliveries, jobs, money and notices.';
