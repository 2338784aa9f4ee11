-- One request that has been under review for longer than it should: says once per step that it is late, finds whom to remind of it
-- now, and notes when to look again: when the next reminder falls due, but at least hourly, since who is asked may change.
create or replace function capacity.timer_review_one(p_request capacity.requests, p_workspace capacity.workspaces, out late integer, out due jsonb)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_sla interval := p_workspace.review_sla_hours * interval '1 hour';
  v_every interval := p_workspace.remind_every_hours * interval '1 hour';
  v_next timestamptz := now() + interval '1 hour';
  v_asked text[];
  v_since timestamptz;
  v_found jsonb;
  v_again timestamptz;
  v_step text;
begin
  late := 0;
  due := '[]';
  foreach v_step in array array['commercial', 'technical'] loop
    v_asked := capacity.timer_asked(p_request, v_step);
    v_since := capacity.timer_since(p_request, v_step);
    if v_since + v_sla > now() then
      v_next := least(v_next, v_since + v_sla);
      continue;
    end if;
    if cardinality(v_asked) > 0 and not exists (select from capacity.notices n where n.request_id = p_request.id and n.kind = 'late' and n.step = v_step) then
      perform capacity.post_notice(p_request, 'late', v_step, null, capacity.timer_actor(), null);
      late := late + 1;
    end if;
    select coalesce(jsonb_agg(jsonb_build_object(
             'member_id', a.id, 'id', p_request.id, 'step', v_step, 'since', extract(epoch from v_since), 'channel', p_request.slack_channel_id,
             'what', p_request.quantity || ' × ' || p_request.requested_size || ' in ' || p_request.region)) filter (where a.last + v_every > now() is not true), '[]'),
           min(a.last + v_every) filter (where a.last + v_every > now())
      into v_found, v_again
      from (select p.id, count(n.id) as times, max(n.created_at) as last
              from unnest(v_asked) p(id)
              left join capacity.notices n
                on n.request_id = p_request.id and n.kind = 'reminder' and n.step = v_step and n.member_id = p.id
             group by p.id) a
     where a.times < p_workspace.most_reminders;
    due := due || v_found;
    v_next := least(v_next, v_again);
  end loop;
  insert into capacity.review_looks as l (request_id, next_look_at) values (p_request.id, v_next)
  on conflict (request_id) do update set next_look_at = excluded.next_look_at;
end
$$;
comment on function capacity.timer_review_one(capacity.requests, capacity.workspaces) is 'What is late in one request, and whom to remind of it.';
