-- Whom a notice is meant for: those whose decision is waited for, or, while the customer is asked, whoever is in touch with the
-- customer.
create or replace function capacity.notice_asked(p_request capacity.requests, p_kind text, p_step text) returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_kind = 'note' then
    return '{}';
  elsif p_request.state <> 'UNDER_REVIEW' then
    return array_remove(array[p_request.commercial_owner_user_id], null);
  elsif p_step is not null then
    return capacity.timer_asked(p_request, p_step);
  end if;
  return array(select distinct a from unnest(capacity.timer_asked(p_request, 'commercial') || capacity.timer_asked(p_request, 'technical')) a order by a);
end
$$;
comment on function capacity.notice_asked(capacity.requests, text, text) is 'Member ids of those whom a notice calls upon.';
