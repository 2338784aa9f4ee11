-- Whom a notice tells, as names of side effects; each has somebody to tell. p_asked: whom it calls upon.
create or replace function capacity.tells_of_notice(p_request capacity.requests, p_kind text, p_actor_id text, p_asked text[])
returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_called text := case
    when p_kind = 'nudge' then 'asked'
    when p_kind = 'unasked' then 'fixers'
    when p_kind = 'warning' then case when capacity.unasked(p_request.id, p_request.state) is null then 'asked' else 'fixers' end
    when p_kind in ('job', 'payment', 'payment_failed', 'refund') then 'operators' end;
  v_open boolean := p_request.state = 'CUSTOMER_CONFIRMATION_REQUIRED';
  v_tells text[] := '{}';
begin
  if v_called is not null and capacity.active_of(p_request.workspace_id, p_asked, array[p_actor_id]) <> '{}' then
    v_tells := array['tell:' || v_called];
  end if;
  if p_kind = 'nudge' and p_request.state = 'UNDER_REVIEW' and capacity.group_channel(p_request) is not null then
    v_tells := v_tells || 'tell:group'::text;
  end if;
  if v_called = 'operators' and not capacity.is_quiet(p_request) is true
     and capacity.active_of(p_request.workspace_id, array[p_request.requester_user_id], p_asked || p_actor_id) <> '{}' then
    v_tells := v_tells || 'tell:requester'::text;
  end if;
  if (p_kind in ('address', 'link', 'warning', 'payment_failed') and v_open or p_kind = 'refund')
     and (select w.public_url from directory.workspaces w where w.id = p_request.workspace_id) is not null
     and (p_kind = 'address' or capacity.email_of_customer(p_request.id) is not null) then
    v_tells := v_tells || 'tell:customer'::text;
  end if;
  return v_tells;
end
$$;
comment on function capacity.tells_of_notice(capacity.requests, text, text, text[]) is 'Whom a notice tells, as names of side effects.';
