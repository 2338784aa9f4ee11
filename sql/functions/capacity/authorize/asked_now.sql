-- Who is asked to decide a request at this moment, and who else could. Slack, reminders, nudges, lists, previews and the story of a request
-- all use this answer. One row for each member whose decision would be accepted, with the reason; `asked` marks those whom the request
-- waits on.
--
--   owner      the commercial owner                     group     a member of the infra group
--   delegate   stands in for `stands_for`, who is away  authority has the role, or is the member, that a rule asks for
--
-- Where a rule asks for a higher authority, the owner's side is asked first, for an endorsement (`counts` is false). The authority is asked
-- after the endorsement, or immediately where nobody is on the owner's side. People who are away are not asked unless nobody else is left.
-- The requester is never asked, and nobody is asked in their place. While the customer is asked, the step is `confirmation`, and its
-- members are those who may record the customer's answer.
--
-- Whether somebody is allowed to decide is checked when they act, by capacity.authorize(); a test proves that the two agree. For many
-- requests at the same time use capacity.waits.
create or replace function capacity.asked_now(p_request capacity.requests)
returns table (
  step text, member_id text, name text, slack_user_id text, reason text, stands_for text, counts boolean, asked boolean
)
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_requester text := p_request.requester_user_id;
  v_authority jsonb := p_request.review_plan #> '{commercial,authority}';
  v_by_owner boolean := v_authority ->> 'kind' = 'owner';
  v_endorsed boolean := p_request.commercial_endorsed_at is not null;
  v_step text := case p_request.state when 'UNDER_REVIEW' then 'commercial' when 'CUSTOMER_CONFIRMATION_REQUIRED' then 'confirmation' end;
  v_owner text;
  v_named text;
  v_role text;
  v_group text;
begin
  if v_step is null then
    return;
  end if;
  if v_step = 'confirmation' then
    v_by_owner := true;
    v_owner := nullif(p_request.commercial_owner_user_id, v_requester);
  else
    if p_request.commercial_approved_at is null and p_request.review_plan #> '{commercial,auto}' is distinct from 'true' then
      v_owner := case when v_by_owner or not v_endorsed then nullif(p_request.commercial_owner_user_id, v_requester) end;
      v_named := case v_authority ->> 'kind' when 'member' then nullif(v_authority ->> 'member', v_requester) end;
      v_role := case v_authority ->> 'kind' when 'role' then v_authority ->> 'role' end;
    end if;
    if p_request.technical_approved_at is null and p_request.review_plan #> '{technical,auto}' is distinct from 'true' then
      v_group := p_request.infra_owner_group;
    end if;
  end if;

  -- The kinds are written out, so that each lookup is one by key, and lookups that are not needed are not made. One plan serves all
  -- requests, because planning takes longer than executing.
  return query
  select distinct on (t.step, t.member_id)
         t.step, t.member_id, t.name, t.slack_user_id, t.reason, t.stands_for, bool_or(t.counts) over (partition by t.step, t.member_id),
         t.turn and (not t.away or bool_and(t.away) over (partition by t.step, t.turn)) as asked
    from (select s.*, s.first or not bool_or(s.first) over (partition by s.step) as turn
            from (select v_step as step, c.member_id, c.display_name as name, c.slack_user_id,
                         case when c.stands_for is null then 'owner' else 'delegate' end as reason,
                         c.stands_for, c.away, v_by_owner as counts, true as first
                    from capacity.candidates c
                   where v_owner is not null and c.workspace_id = p_request.workspace_id and c.kind = 'owner' and c.party = v_owner
                  union all
                  select v_step, c.member_id, c.display_name, c.slack_user_id,
                         case when c.stands_for is null then 'authority' else 'delegate' end,
                         c.stands_for, c.away, true, false
                    from capacity.candidates c
                   where v_named is not null and c.workspace_id = p_request.workspace_id and c.kind = 'member' and c.party = v_named
                  union all
                  select v_step, c.member_id, c.display_name, c.slack_user_id, 'authority', null, c.away, true, false
                    from capacity.candidates c
                   where v_role is not null and c.workspace_id = p_request.workspace_id and c.kind = 'role' and c.party = v_role
                  union all
                  select 'technical', c.member_id, c.display_name, c.slack_user_id, 'group', null, c.away, true, true
                    from capacity.candidates c
                   where v_group is not null and c.workspace_id = p_request.workspace_id and c.kind = 'group' and c.party = v_group) s
           where s.member_id <> v_requester) t
   order by t.step, t.member_id, asked desc;
end
$$;
comment on function capacity.asked_now(capacity.requests)
  is 'Who may decide a request now, why, and whom it waits on. Nullable: slack_user_id, stands_for.';
