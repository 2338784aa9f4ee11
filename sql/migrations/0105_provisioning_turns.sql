-- When the run of an attempt is known to be over, which is later than the attempt's end where we ended it; and whose turn it is.
alter table provisioning.attempts
  add column due_at timestamptz not null default clock_timestamp(),
  add column sent_at timestamptz,
  add column over_at timestamptz,
  add column over_because text check (over_because in ('reported', 'seen', 'never_ran', 'limit')),
  add constraint attempts_over check ((over_at is null) = (over_because is null) and (over_at is null or ended_at is not null));
comment on column provisioning.attempts.due_at is 'From when on its run was to be asked for.';
comment on column provisioning.attempts.sent_at is 'When GitHub was asked for its run, as far as the sweep has seen.';
comment on column provisioning.attempts.over_at is 'When its run was known to be over, and nothing had to wait for it any longer.';
comment on column provisioning.attempts.over_because
  is 'By its report, as GitHub shows it, because none ever began, or because nobody knew after the limit.';

alter table provisioning.attempts drop constraint attempts_ended_because_check,
  add constraint attempts_ended_because_check check (ended_because in (
    'reported', 'run_ended', 'rerun', 'stale', 'time_limit', 'not_dispatched', 'not_served', 'cancelled', 'by_hand'));

update provisioning.attempts a set due_at = a.created_at;
-- What was stopped lately may still be running.
update provisioning.attempts a set over_at = a.ended_at, over_because = case a.ended_because when 'reported' then 'reported' else 'seen' end
 where a.ended_at is not null and (a.status <> 'stopped' or a.ended_at < now() - interval '1 hour');

alter table provisioning.jobs add column has_turn boolean not null default false,
  add column asked_for text, add column asked_since timestamptz;
comment on column provisioning.jobs.has_turn
  is 'It has its customer''s turn: a run of it is asked for, under way, or not known to be over.';
comment on column provisioning.jobs.asked_for
  is 'What people were last asked to do about it, and asked_since, from when on: provisioning.asks_for().';

update provisioning.jobs j set has_turn = true where j.state in ('queued', 'provisioning');
-- Cleanups were no reason to wait before: where another job of the customer has begun, that one has the turn.
update provisioning.jobs j set has_turn = true
 where j.id in (select distinct on (coalesce(o.customer_key, uuid_send(o.id)), o.workspace_id) o.id from provisioning.jobs o
                 where exists (select from provisioning.attempts a where a.job_id = o.id and a.over_at is null)
                   and not exists (select from provisioning.jobs n
                                    where n.workspace_id = o.workspace_id and n.customer_key = o.customer_key and n.has_turn)
                 order by coalesce(o.customer_key, uuid_send(o.id)), o.workspace_id, o.updated_at desc)
   and not j.has_turn;

-- At most one job of a customer has the turn, whatever else goes wrong.
drop index provisioning.jobs_in_progress;
create unique index jobs_in_progress on provisioning.jobs (workspace_id, customer_key) where has_turn;
drop index provisioning.jobs_looks;
create index jobs_looks on provisioning.jobs (next_look_at)
  where state in ('waiting', 'queued', 'provisioning', 'failed') or cleanup in ('under_way', 'failed') or has_turn;

-- A run that is started anew at GitHub keeps its id: what was seen of an earlier try says nothing about a later one.
alter table provisioning.dispatched_runs add column run_attempt integer not null default 1;
comment on column provisioning.dispatched_runs.run_attempt is 'The latest try of it that GitHub has shown.';

drop function if exists provisioning.end_attempt(provisioning.attempts, text, text, text, text);
drop function if exists provisioning.cleanup_ended(provisioning.jobs, provisioning.attempts, boolean, text, text, text);
