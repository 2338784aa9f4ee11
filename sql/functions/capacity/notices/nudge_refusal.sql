-- Why a member may not nudge the reviewers of a request now, or null.
create or replace function capacity.nudge_refusal(p_request capacity.requests, p_standing directory.standing) returns headroom.refusal
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_again timestamptz;
begin
  if p_request.requester_user_id is distinct from p_standing.member_id and ('admin' = any (p_standing.roles)) is not true then
    return row('not_allowed', 'Only the requester or an admin may nudge the reviewers of a request.', p_request.id, null)::headroom.refusal;
  elsif p_request.state not in ('UNDER_REVIEW', 'CUSTOMER_CONFIRMATION_REQUIRED') then
    return row('conflict', format('The request is %s: nobody is asked to decide it now.', capacity.story_state(p_request.state::text)),
               p_request.id, null)::headroom.refusal;
  end if;
  select max(n.created_at) + w.nudge_every_minutes * interval '1 minute' into v_again
    from directory.workspaces w left join capacity.notices n on n.request_id = p_request.id and n.kind = 'nudge'
   where w.id = p_request.workspace_id group by w.id;
  if v_again > clock_timestamp() then
    return row('too_soon', 'The reviewers of this request were nudged a short while ago.',
               format('again in %s seconds', ceil(extract(epoch from v_again - clock_timestamp()))),
               'Give them some time, then try again.')::headroom.refusal;
  end if;
  return null;
end
$$;
comment on function capacity.nudge_refusal(capacity.requests, directory.standing)
  is 'Why a member may not nudge now. Nullable: p_standing, result.';
