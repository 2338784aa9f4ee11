-- Whom a request waits on, in the words of lists: people by their ids, a role or a group by its name, or what is not a member. A party
-- without any members left is named, because nothing will move until an admin fixes it; and so is a customer who
-- does not know that they are awaited.
create or replace function capacity.waits_on(p_request capacity.requests) returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_authority jsonb := p_request.review_plan #> '{commercial,authority}';
  v_on text[];
  v_technical boolean;
begin
  if p_request.state = 'CUSTOMER_CONFIRMATION_REQUIRED' then
    return array['customer' || case when capacity.unasked(p_request.id, p_request.state) is not null then ' (not asked)' else '' end];
  elsif p_request.state = 'PROVISIONING' then
    return '{provisioning}';
  elsif p_request.state <> 'UNDER_REVIEW' then
    return '{}';
  end if;
  select coalesce(array_agg(distinct case when a.reason = 'authority' and v_authority ->> 'kind' = 'role'
                                            then 'role ' || (v_authority ->> 'role')
                                          else a.member_id end) filter (where a.step = 'commercial'), '{}'),
         bool_or(a.step = 'technical') is true
    into v_on, v_technical
    from capacity.asked_now(p_request) a where a.asked;
  if p_request.commercial_approved_at is null and v_on = '{}' then
    v_on := array['nobody ' || case v_authority ->> 'kind' when 'role' then 'with role ' || (v_authority ->> 'role')
                                 when 'member' then 'for ' || (v_authority ->> 'member')
                                 else 'for ' || p_request.commercial_owner_user_id end];
  end if;
  if p_request.technical_approved_at is null then
    v_on := array_append(v_on, case when v_technical then 'group ' else 'nobody in group ' end || p_request.infra_owner_group);
  end if;
  return v_on;
end
$$;
comment on function capacity.waits_on(capacity.requests) is 'Whom a request waits on, in words for a list.';
