-- Records that a report of Stripe's does not agree with our records, once, and tells people. No money moves until one of them has checked
-- it. The caller has locked the request, if there is one.
create or replace function billing.record_finding(p_kind text, p_stripe_id text, p_request_id text, p_said text, p_event_id text)
returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  insert into billing.findings (kind, stripe_id, workspace_id, request_id, said, event_id)
  select p_kind, p_stripe_id, (select r.workspace_id from capacity.requests r where r.id = p_request_id), p_request_id, left(p_said, 500),
         p_event_id
  on conflict (kind, stripe_id, said) do nothing;
  if found and p_request_id is not null then
    perform billing.tell(p_request_id, p_said || ' No money was moved: an operator has to check it in Stripe.', true);
  end if;
  return billing.outcome('finding', p_request_id) || jsonb_build_object('finding', p_kind, 'said', p_said);
end
$$;
comment on function billing.record_finding(text, text, text, text, text) is 'Records what does not agree. Nullable: p_request_id.';
