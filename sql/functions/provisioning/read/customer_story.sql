-- The provisioning status of a request, for its customer: no run, no error and no names. A workflow may call its steps anything, so only
-- plain words are passed on; the last ten of the current attempt.
create or replace function provisioning.customer_story(p_request_id text) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'state', case when h.held_by in ('cleanup_failed', 'no_address', 'dispatch') or j.state = 'failed' then 'delayed'
                  when j.state = 'queued' then 'waiting' when j.state = 'given_up' then 'failed' else j.state end,
    'held_by', case when h.held_by = 'customer' then 'customer' end, 'ends_at', provisioning.gives_up_at(j),
    'attempt', j.attempts, 'progress', case when j.state = 'provisioning' then a.progress end,
    'since', coalesce(a.claimed_at, j.waiting_since), 'completed_at', j.completed_at,
    'steps', (select coalesce(jsonb_agg(jsonb_build_object('step', s.step, 'at', s.at) order by s.n), '[]')
                from (select t.step, t.at, t.n from provisioning.steps t
                       where t.job_id = j.id and t.task = 'provision' and t.attempt = j.attempts and t.step ~ '^[A-Za-z][A-Za-z ]{0,59}$'
                       order by t.n desc limit 10) s))
    from provisioning.jobs j
   cross join lateral (select provisioning.held_by(j.id) as held_by) h
    left join provisioning.attempts a on a.job_id = j.id and a.task = 'provision' and a.number = j.attempts
   where j.request_id = p_request_id;
$$;
comment on function provisioning.customer_story(text) is 'The provisioning status, as a customer may see it. Nullable: result.';
