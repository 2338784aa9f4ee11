-- What a request waits for and on whom, by name and reason: `asked` lists those whose turn it is; `reviewers`, all whose approval would
-- count; `endorsers`, those whose approval is recorded as an endorsement, until there is one. Bounded, because it is shown to people.
create or replace function capacity.pending_approvals(p_request capacity.requests) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan jsonb := p_request.review_plan;
begin
  if p_request.state <> 'UNDER_REVIEW' then
    return '[]';
  end if;
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
             'step', s.step, 'since', p_request.state_since, 'why', v_plan #> array[s.step, 'why'],
             'asked', jsonb_path_query_array(coalesce(p.asked, '[]'), '$[0 to 49]'),
             'reviewers', jsonb_path_query_array(coalesce(p.reviewers, '[]'), '$[0 to 49]'))
             || case s.step
                  when 'technical' then jsonb_build_object('group', p_request.infra_owner_group)
                  else jsonb_build_object('authority', v_plan #> '{commercial,authority}',
                                          'endorsers', jsonb_path_query_array(coalesce(p.endorsers, '[]'), '$[0 to 49]')) end
                                            order by s.step), '[]')
      from (values ('commercial', p_request.commercial_approved_at), ('technical', p_request.technical_approved_at)) s(step, approved_at)
      left join (select a.step,
                        jsonb_agg(jsonb_build_object('id', a.member_id, 'name', a.name, 'reason', a.reason, 'stands_for', a.stands_for)
                                  order by a.member_id) filter (where a.asked) as asked,
                        jsonb_agg(jsonb_build_object('id', a.member_id, 'name', a.name)
                                  order by a.member_id) filter (where a.counts) as reviewers,
                        jsonb_agg(jsonb_build_object('id', a.member_id, 'name', a.name)
                                  order by a.member_id) filter (where not a.counts) as endorsers
                   from capacity.asked_now(p_request) a group by a.step) p on p.step = s.step
     where s.approved_at is null
  );
end
$$;
comment on function capacity.pending_approvals(capacity.requests) is 'Open review steps, whom each waits on, and who may decide it.';
