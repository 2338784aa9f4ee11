-- A page of requests, newest first. The next page begins after the last request of this one. Filters: states, requester, and `waits on`:
-- a member (who could decide something now) or a group.
--
-- Planned anew for each call, because which index serves depends on which filters are given.
create or replace function capacity.list_requests(
  p_workspace_id text,
  p_states public.capacity_request_state[] default null,
  p_requester_id text default null,
  p_waits_on text default null,
  p_limit integer default 50,
  p_after text default null
) returns table (
  id text, state public.capacity_request_state, version integer, created_at timestamptz, updated_at timestamptz, state_since timestamptz,
  requester_user_id text, commercial_owner_user_id text, infra_owner_group text, requested_size text, quantity integer, region text,
  needed_by_date date, estimated_monthly_cost_usd numeric, next_deadline_at timestamptz, waits_on text[]
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan set jit = off
as $$
#variable_conflict use_column
declare
  v_after_at timestamptz;
  v_roles text[];
  v_groups text[];
begin
  if p_limit is null or p_limit not between 1 and 1000 then
    perform capacity.fail('invalid_input', 'A page has 1 to 1000 requests.');
  end if;
  if p_after is not null then
    select r.created_at into v_after_at from capacity.requests r where r.workspace_id = p_workspace_id and r.id = p_after;
    if not found then
      perform capacity.fail('not_found', 'There is no such request to begin after.', left(p_after, 80), 'Take the last id of the page before.');
    end if;
  end if;
  if p_waits_on is not null then
    select m.roles, array(select g.group_id from capacity.group_members g where g.workspace_id = m.workspace_id and g.member_id = m.id)
      into v_roles, v_groups
      from capacity.members m where m.workspace_id = p_workspace_id and m.id = p_waits_on and m.active;
  end if;

  return query
  select r.id, r.state, r.version, r.created_at, r.updated_at, r.state_since, r.requester_user_id, r.commercial_owner_user_id, r.infra_owner_group,
         r.requested_size, r.quantity, r.region, r.needed_by_date, r.estimated_monthly_cost_usd, r.next_deadline_at,
         array_remove(case r.state
           when 'UNDER_REVIEW' then array[
             case when r.commercial_approved_at is null then
               case r.review_plan #>> '{commercial,authority,kind}' when 'role' then 'role ' || (r.review_plan #>> '{commercial,authority,role}')
                 else coalesce(r.review_plan #>> '{commercial,authority,member}', r.commercial_owner_user_id) end end,
             case when r.technical_approved_at is null then 'group ' || r.infra_owner_group end]
           when 'CUSTOMER_CONFIRMATION_REQUIRED' then array['customer']
           when 'PROVISIONING' then array['provisioning']
           else '{}' end, null)
    from capacity.requests r
   where r.workspace_id = p_workspace_id
     and (p_states is null or r.state = any (p_states))
     and (p_requester_id is null or r.requester_user_id = p_requester_id)
     and (p_after is null or (r.created_at, r.id) < (v_after_at, p_after))
     and (p_waits_on is null
          or r.state = 'UNDER_REVIEW' and r.requester_user_id <> p_waits_on
             and (r.technical_approved_at is null and (r.infra_owner_group = p_waits_on or r.infra_owner_group = any (v_groups))
                  or r.commercial_approved_at is null
                     and (r.review_plan #>> '{commercial,authority,member}' = p_waits_on
                          or r.review_plan #>> '{commercial,authority,role}' = any (v_roles)
                          or r.review_plan #>> '{commercial,authority,kind}' = 'owner'
                             and exists (select from capacity.members o
                                          where o.workspace_id = r.workspace_id and o.id = r.commercial_owner_user_id and o.delegate_id = p_waits_on
                                            and now() between o.away_from and o.away_until))))
   order by r.created_at desc, r.id desc
   limit p_limit;
end
$$;
comment on function capacity.list_requests(text, public.capacity_request_state[], text, text, integer, text)
  is 'Requests of a workspace, newest first, in pages. Nullable: commercial_owner_user_id, infra_owner_group, needed_by_date, estimated_monthly_cost_usd, next_deadline_at.';
