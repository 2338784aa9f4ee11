-- What Stripe says does not agree with what we know: each is written down once, people are told, and nothing moves until one of them has
-- looked at it. The caller has locked the request, where there is one.
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
    perform billing.tell(p_request_id, p_said || ' Nothing was moved: an operator looks at it in Stripe.', true);
  end if;
  return billing.outcome('finding', p_request_id) || jsonb_build_object('finding', p_kind, 'said', p_said);
end
$$;
comment on function billing.record_finding(text, text, text, text, text) is 'Writes down what does not agree. Nullable: p_request_id.';
