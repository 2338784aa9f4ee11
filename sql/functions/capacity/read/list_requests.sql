-- A page of requests, newest first. The next page begins after the last request of this one. Filters: states, requester, and `waits on`:
-- a member (whom a request waits on now, by id or Slack id) or a group.
--
-- Planned again for each call, because the useful index depends on the given filters. Cheap conditions on a row are checked
-- first, in a fixed order, and null is treated as no: capacity.asked_now() for every request of a workspace would take minutes.
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
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  v_after_at timestamptz;
  v_requester_id text := p_requester_id;
  v_member_id text;
  v_owners text[];
  v_named text[];
  v_roles text[];
  v_groups text[];
  v_able text[];
begin
  if p_limit is null or p_limit not between 1 and 1000 then
    perform headroom.fail('invalid_input', 'A page has 1 to 1000 requests.');
  end if;
  if p_after is not null then
    select r.created_at into v_after_at from capacity.requests r where r.workspace_id = p_workspace_id and r.id = p_after;
    if not found then
      perform headroom.fail('not_found', 'There is no such request to continue after.', left(p_after, 80),
                            'Pass the last id of the previous page.');
    end if;
  end if;
  if p_requester_id is not null then
    v_requester_id := coalesce((directory.find_member(p_workspace_id, p_requester_id)).id, p_requester_id);
  end if;
  if p_waits_on is not null then
    v_member_id := (directory.find_member(p_workspace_id, p_waits_on)).id;
    -- The parties for which this member may be the one who is asked: because they are here, or because at most one other is, who may be
    -- the requester. This narrows the search; asked_now() then decides for each that is found.
    select array_agg(p.party) filter (where p.kind = 'owner'), array_agg(p.party) filter (where p.kind = 'member'),
           array_agg(p.party) filter (where p.kind = 'role'), array_agg(p.party) filter (where p.kind = 'group')
      into v_owners, v_named, v_roles, v_groups
      from capacity.parties p
     where p.workspace_id = p_workspace_id and v_member_id = any (p.everyone) and (v_member_id = any (p.here) or cardinality(p.here) < 2)
       and case p.kind
             when 'owner' then exists (select from capacity.requests r
                                        where r.workspace_id = p_workspace_id and r.commercial_owner_user_id = p.party)
             when 'member' then exists (select from capacity.requests r
                                         where r.workspace_id = p_workspace_id
                                           and r.review_plan #>> '{commercial,authority,kind}' = 'member'
                                           and r.review_plan #>> '{commercial,authority,member}' = p.party)
             when 'role' then exists (select from capacity.requests r
                                       where r.workspace_id = p_workspace_id and r.review_plan #>> '{commercial,authority,kind}' = 'role'
                                         and r.review_plan #>> '{commercial,authority,role}' = p.party)
             else true end;
    -- Most people review nothing, so there is nothing to search for.
    if num_nonnulls(v_owners, v_named, v_roles, v_groups) = 0
       and not exists (select from directory.groups g where g.workspace_id = p_workspace_id and g.id = p_waits_on) then
      return;
    end if;
    -- A role is asked once the owner has endorsed, unless there is no owner who could.
    if v_roles is not null then
      v_able := array(select p.party from capacity.parties p where p.workspace_id = p_workspace_id and p.kind = 'owner');
    end if;
  end if;

  return query
  select l.id, l.state, l.version, l.created_at, l.updated_at, l.state_since, l.requester_user_id, l.commercial_owner_user_id,
         l.infra_owner_group,
         l.requested_size, l.quantity, l.region, l.needed_by_date, l.estimated_monthly_cost_usd, l.next_deadline_at, capacity.waits_on(l)
    from (select r.*
            from capacity.requests r
           where r.workspace_id = p_workspace_id
             and (p_states is null or r.state = any (p_states))
             and (p_requester_id is null or r.requester_user_id = v_requester_id)
             and (p_after is null or (r.created_at, r.id) < (v_after_at, p_after))
             and (p_waits_on is null
                  or r.state = 'UNDER_REVIEW'
                     and case
                           when r.technical_approved_at is null and r.infra_owner_group = p_waits_on then true
                           when r.requester_user_id <> v_member_id
                                and (r.technical_approved_at is null and r.infra_owner_group = any (v_groups)
                                     or r.commercial_approved_at is null
                                        and (r.commercial_owner_user_id = any (v_owners)
                                             or r.review_plan #>> '{commercial,authority,kind}' = 'member'
                                                and r.review_plan #>> '{commercial,authority,member}' = any (v_named)
                                             or r.review_plan #>> '{commercial,authority,role}' = any (v_roles)
                                                and (r.commercial_endorsed_at is not null
                                                     or r.commercial_owner_user_id = r.requester_user_id
                                                     or (r.commercial_owner_user_id = any (v_able)) is not true)))
                             then exists (select from capacity.asked_now(r) a where a.asked and a.member_id = v_member_id)
                           else false end)
           order by r.created_at desc, r.id desc
           limit p_limit) l
   order by l.created_at desc, l.id desc;
end
$$;
comment on function capacity.list_requests(text, public.capacity_request_state[], text, text, integer, text)
  is 'Requests of a workspace, newest first, in pages.
Nullable: commercial_owner_user_id, infra_owner_group, needed_by_date, estimated_monthly_cost_usd, next_deadline_at.';
