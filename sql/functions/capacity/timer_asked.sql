-- Who is waited for in a review, by the directory as it is now: where a higher authority decides, the owner's side until it has
-- endorsed, and the authority from then on. People who are away are left in peace, unless that leaves nobody.
create or replace function capacity.timer_asked(p_request capacity.requests, p_step text) returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan jsonb := p_request.review_plan -> p_step;
  v_people jsonb := '[]';
  v_here text[];
begin
  if p_request.state <> 'UNDER_REVIEW' or v_plan -> 'auto' = 'true'
     or (case p_step when 'commercial' then p_request.commercial_approved_at else p_request.technical_approved_at end) is not null then
    return '{}';
  end if;
  if p_step = 'commercial' and v_plan #>> '{authority,kind}' <> 'owner' and p_request.commercial_endorsed_at is null then
    v_people := capacity.commercial_reviewers(p_request.workspace_id, p_request.requester_user_id, p_request.commercial_owner_user_id, null);
  end if;
  if v_people = '[]' then
    v_people := capacity.reviewers(p_request, p_step);
  end if;
  v_here := array(select m.id from jsonb_array_elements(v_people) p
                    join capacity.members m on m.workspace_id = p_request.workspace_id and m.id = p ->> 'id'
                   where (now() >= m.away_from and now() < m.away_until) is not true order by m.id);
  return case when cardinality(v_here) > 0 then v_here else array(select p ->> 'id' from jsonb_array_elements(v_people) p) end;
end
$$;
comment on function capacity.timer_asked(capacity.requests, text) is 'Member ids of those whom an open review waits for; none when it is decided.';
