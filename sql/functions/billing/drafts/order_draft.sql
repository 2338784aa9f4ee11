-- Makes the request of a draft, once: the order is checked again, and the price must be the one that the visitor saw.
create or replace function billing.order_draft(p_draft billing.drafts, p_requester_id text, p_seen text) returns capacity.requests
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_terms jsonb := p_draft.terms;
  v_price record;
  v_problem text;
  v_workspace directory.workspaces;
  v_answer record;
  v_context capacity.context;
  v_request capacity.requests;
begin
  for v_step in 1..3 loop
    if (billing.check_step(p_draft.workspace_id, v_step, v_terms, v_terms)).problems <> '{}' then
      perform headroom.fail('conflict', 'Something in this order is no longer possible.', 'step ' || v_step,
                            format('Go back to step %s: it says what. Nothing was ordered.', v_step));
    end if;
  end loop;
  v_price := billing.draft_offer(p_draft.workspace_id, v_terms);
  -- Visitors do not see which missing rule, group or member keeps the order from being approved.
  v_problem := billing.draft_routing(p_draft.workspace_id, v_terms, v_price.offer) ->> 'problem';
  if v_problem is not null then
    perform headroom.fail('nobody_can_approve', v_problem, null, 'Please try again later. Nothing was ordered.');
  end if;
  if p_seen is distinct from billing.offer_seen(v_price.offer) then
    perform headroom.fail('stale_version', 'The price has changed since you looked at it.', null,
                          'Look at the new price, and order if you agree. Nothing was ordered.');
  end if;
  select w.* into v_workspace from directory.workspaces w where w.id = p_draft.workspace_id;
  v_answer := capacity.submit(
    row('user', p_requester_id, 'self-service')::capacity.actor, v_workspace,
    jsonb_populate_record(null::capacity.terms, jsonb_build_object(
      'customer_ref', jsonb_strip_nulls(jsonb_build_object('name', v_terms -> 'name', 'org', v_terms -> 'organisation',
                                                           'email', v_terms -> 'email')),
      'requested_size', v_terms -> 'size', 'quantity', v_terms -> 'quantity', 'region', v_terms -> 'region',
      'needed_by_date', v_terms -> 'needed_by', 'expected_duration_days', v_terms -> 'duration_days', 'confirmation_ttl_days', 7)),
    -- A draft that is begun again after its day has ended is another order.
    format('%s@%s', p_draft.id, extract(epoch from p_draft.created_at)));
  v_context := v_answer.context;
  v_request := v_context.request;
  -- From here on the customer's texts are in the request, where an erasure finds them. A customer who gives up at Stripe, or opens the link
  -- of the mail again, returns to the draft, even on another day: it leads to the customer's page for as long as that can be read.
  update billing.drafts d
     set request_id = v_request.id, terms = '{}', entered = null, updated_at = clock_timestamp(),
         expires_at = clock_timestamp() + interval '90 days'
   where d.id = p_draft.id;
  return v_request;
end
$$;
comment on function billing.order_draft(billing.drafts, text, text) is 'Submits the request that a draft describes. Nullable: p_seen.';
