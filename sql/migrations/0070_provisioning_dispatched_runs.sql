-- Which runs GitHub started for an attempt, so that no other run can claim it. Relays write it when they settle, so it refers to no row
-- that a decision may have locked.
create table provisioning.dispatched_runs (
  job_id uuid not null,
  task text not null,
  number smallint not null,
  run_id bigint not null,
  answered boolean not null,
  primary key (job_id, task, number, run_id)
);
comment on table provisioning.dispatched_runs is 'Runs that GitHub says it started for an attempt.';
comment on column provisioning.dispatched_runs.answered
  is 'GitHub named it as the run of our dispatch; else it was found by its name, which counts only where no run was named.';
