-- One request whose review takes longer than it should: posts once per step that it is late, finds the people to remind
-- now, and records the next check: when the first of those reminded recently may be reminded again, but at least hourly,
-- since the people asked may change.
--
-- A person is due when a late review waits on them that they were not reminded of too often, and when they have had no
-- reminder at all, about any request, for as long as the workspace's interval.
create or replace function capacity.timer_review_one(
  p_request capacity.requests, p_workspace directory.workspaces, out late integer, out due text[]
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_sla interval := p_workspace.review_sla_hours * interval '1 hour';
  v_every interval := p_workspace.remind_every_hours * interval '1 hour';
  v_next timestamptz := now() + interval '1 hour';
  v_asked text[];
  v_since timestamptz;
  v_found text[];
  v_again timestamptz;
  v_step text;
begin
  late := 0;
  due := '{}';
  foreach v_step in array array['commercial', 'technical'] loop
    v_asked := capacity.notice_asked(p_request, 'reminder', v_step, capacity.asked_people(p_request, null));
    v_since := capacity.timer_since(p_request, v_step);
    if v_since + v_sla > now() then
      v_next := least(v_next, v_since + v_sla);
      continue;
    end if;
    if cardinality(v_asked) > 0 and not exists (select from capacity.notices n
                                                 where n.request_id = p_request.id and n.kind = 'late' and n.step = v_step) then
      perform capacity.post_notice(p_request, 'late', v_step, null, capacity.timer_actor(), null);
      late := late + 1;
    end if;
    select coalesce(array_agg(a.id) filter (where a.last is null), '{}'), min(a.last + v_every)
      into v_found, v_again
      from (select p.id, (select max(n.created_at) from capacity.notices n join capacity.requests r on r.id = n.request_id
                           where n.kind = 'reminder' and n.member_id = p.id and n.created_at > now() - v_every
                             and r.workspace_id = p_workspace.id) as last
              from unnest(v_asked) p(id)
             where (select count(*) from capacity.notices n
                     where n.request_id = p_request.id and n.kind = 'reminder' and n.step = v_step
                       and n.member_id = p.id) < p_workspace.most_reminders) a;
    due := due || v_found;
    v_next := least(v_next, v_again);
  end loop;
  insert into capacity.review_looks as l (request_id, next_look_at) values (p_request.id, v_next)
  on conflict (request_id) do update set next_look_at = excluded.next_look_at;
end
$$;
comment on function capacity.timer_review_one(capacity.requests, directory.workspaces)
  is 'What is late in one request, and whom to remind of it.';
