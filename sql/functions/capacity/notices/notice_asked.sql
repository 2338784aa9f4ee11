-- The people a notice addresses: those whose decision is awaited, at one step or at all of them; while the customer is asked, those who
-- may record the customer's answer; and where the customer was not asked, those who can fix that.
create or replace function capacity.notice_asked(p_request capacity.requests, p_kind text, p_step text, p_asked jsonb) returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_unasked text;
begin
  if p_kind in ('note', 'address', 'link') then
    return '{}';
  elsif p_kind in ('warning', 'unasked') then
    v_unasked := capacity.unasked(p_request.id, p_request.state);
    if v_unasked is not null then
      return capacity.fixers(p_request, v_unasked);
    end if;
  end if;
  return array(select distinct a ->> 'id' from jsonb_array_elements(p_asked) a where p_step is null or a ->> 'step' = p_step order by 1);
end
$$;
comment on function capacity.notice_asked(capacity.requests, text, text, jsonb)
  is 'Member ids of the people a notice addresses. Nullable: p_step.';
