-- Why a member may not decide where the customer's link goes, or null: the person with the link can answer for the customer. Once a request
-- has an approval, only those who may record the answer and admins may do this, and never the requester, who could accept their own
-- offer. Before that the requester may too, because the reviewers see it.
create or replace function capacity.fixer_refusal(p_request capacity.requests, p_standing directory.standing) returns headroom.refusal
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_reviewed boolean := p_request.state not in ('SUBMITTED', 'UNDER_REVIEW')
    or exists (select from capacity.events e
                where e.request_id = p_request.id and e.event_type in ('COMMERCIAL_APPROVED', 'TECH_REVIEW_APPROVED'));
  v_own text := capacity.own_refusal(
    p_request, p_standing, 'Once somebody has approved a request, its requester cannot change where the customer''s link goes.');
begin
  if v_own is not null and v_reviewed then
    return row('not_allowed', v_own, p_request.id, 'Ask the commercial owner or an admin. Nothing was changed.')::headroom.refusal;
  elsif (p_standing.member_id = p_request.requester_user_id or 'admin' = any (p_standing.roles)
         or capacity.acts_as_owner(p_request, p_standing)) is not true then
    return row('not_allowed', format('Only %sthe commercial owner, their delegate or an admin decides where the customer''s link goes.',
                                     case when v_reviewed then '' else 'the requester, ' end), p_request.id,
               'Nothing was changed.')::headroom.refusal;
  end if;
  return null;
end
$$;
comment on function capacity.fixer_refusal(capacity.requests, directory.standing)
  is 'Why a member may not give the customer''s address or have the link sent. Nullable: p_standing, result.';
