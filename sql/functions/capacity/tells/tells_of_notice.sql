-- The people whom a notice notifies, as names of side effects; each has a recipient. p_called: whom it addresses. p_asked: whose turn it
-- is.
create or replace function capacity.tells_of_notice(p_context capacity.context, p_called text[], p_asked jsonb) returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests := p_context.request;
  v_kind text := p_context.cause;
  v_actor_id text := coalesce((p_context.standing).member_id, '');
  v_audience text := case
    when v_kind = 'nudge' then 'asked'
    when v_kind = 'unasked' then 'fixers'
    when v_kind = 'warning' then case when capacity.unasked(v_request.id, v_request.state) is null then 'asked' else 'fixers' end
    when v_kind in ('job', 'payment', 'payment_failed', 'refund') then 'operators' end;
  v_open boolean := v_request.state = 'CUSTOMER_CONFIRMATION_REQUIRED';
  v_tells text[] := '{}';
begin
  if v_audience is not null and capacity.active_of(v_request.workspace_id, p_called, array[v_actor_id]) <> '{}' then
    v_tells := array['tell:' || v_audience];
  end if;
  if v_kind = 'nudge' and v_request.state = 'UNDER_REVIEW' and capacity.group_channel(v_request, p_asked) is not null then
    v_tells := v_tells || 'tell:group'::text;
  end if;
  if v_audience = 'operators' and not p_context.quiet and p_context.requester_here
     and v_request.requester_user_id <> all (array_remove(p_called || v_actor_id, null)) then
    v_tells := v_tells || 'tell:requester'::text;
  end if;
  if (v_kind in ('address', 'link', 'warning', 'payment_failed') and v_open or v_kind = 'refund')
     and capacity.reach_problem(p_context) is null then
    v_tells := v_tells || 'tell:customer'::text;
  end if;
  return v_tells;
end
$$;
comment on function capacity.tells_of_notice(capacity.context, text[], jsonb) is 'Whom a notice notifies, as names of side effects.';
