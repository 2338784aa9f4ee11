-- The verdicts on what a member can do to the money of a request: one for each payment, and one for its subscription if it has one.
create or replace function billing.verdicts_of(p_request capacity.requests, p_actor capacity.actor, p_actions text[] default null)
returns setof capacity.action_verdict
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select row(v.action, v.target_id, (v.refusal).code is null, v.repeated, null, null, v.refusal, null,
             case when coalesce((v.refusal).code, 'not_allowed') = 'not_allowed'
                    then capacity.holders(p_request.workspace_id, '{operator,admin}') end)::capacity.action_verdict
    from (select 'refund' as action, p.id::text as target_id, billing.refund_refusal(p, p_actor.id, null, null) as refusal,
                 false as repeated, p.paid_at
            from billing.payments p where p.request_id = p_request.id
          union all
          select 'end_subscription', null, billing.end_refusal(p_request, s, p_actor.id), s.cancel_asked_at is not null, null
            from billing.subscriptions s where s.request_id = p_request.id) v
   where p_actions is null or v.action = any (p_actions)
   order by v.paid_at, v.target_id;
$$;
comment on function billing.verdicts_of(capacity.requests, capacity.actor, text[])
  is 'What a member can do to the money of a request now, and why not. Nullable: p_actions.';
