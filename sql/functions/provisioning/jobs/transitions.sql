-- The transition table of a job; next_state() looks it up, and the documentation is generated from it. `waiting` is a job whose turn has
-- not come: another job of the same customer has the turn, a cleanup is under way or has failed, or no workflow is connected. A `failed`
-- job may be tried again; `running`, `given_up` and `cancelled` are final.
create or replace function provisioning.transitions() returns table (state_before text, event text, state_after text, meaning text)
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  values
    ('new', 'CREATED', 'waiting', 'the customer confirmed'),
    ('waiting', 'DISPATCHED', 'queued', 'its turn has come: a run was asked for'),
    ('waiting', 'RECORDED_RUNNING', 'running', 'a person recorded that the capacity is there'),
    ('waiting', 'RECORDED_FAILED', 'given_up', 'a person recorded that it failed'),
    ('waiting', 'CANCELLED', 'cancelled', 'the request was cancelled'),
    ('queued', 'CLAIMED', 'provisioning', 'the first callback: a run has taken it on'),
    ('queued', 'FAILED', 'failed', 'no run could be started, or none claimed it in time'),
    ('queued', 'RECORDED_RUNNING', 'running', 'a person recorded that the capacity is there'),
    ('queued', 'RECORDED_FAILED', 'given_up', 'a person recorded that it failed'),
    ('queued', 'CANCELLED', 'cancelled', 'the request was cancelled'),
    ('provisioning', 'SUCCEEDED', 'running', 'the run succeeded'),
    ('provisioning', 'FAILED', 'failed', 'the run failed, fell silent or took too long'),
    ('provisioning', 'RECORDED_RUNNING', 'running', 'a person recorded that the capacity is there'),
    ('provisioning', 'RECORDED_FAILED', 'given_up', 'a person recorded that it failed'),
    ('provisioning', 'CANCELLED', 'cancelled', 'the request was cancelled'),
    ('waiting', 'RETRIED', 'waiting', 'a person let the workflow provide an old request'),
    ('failed', 'RETRIED', 'waiting', 'a person asked for another attempt'),
    ('failed', 'GAVE_UP', 'given_up', 'no attempt is left, or nobody retried in time'),
    ('waiting', 'GAVE_UP', 'given_up', 'what it waited for was not resolved in time'),
    ('failed', 'RECORDED_RUNNING', 'running', 'a person recorded that the capacity is there'),
    ('failed', 'RECORDED_FAILED', 'given_up', 'a person recorded that it failed'),
    ('failed', 'CANCELLED', 'cancelled', 'the request was cancelled'),
    ('waiting', 'CLEANED', 'waiting', 'a person cleaned up, where the cleanup had failed'),
    ('failed', 'CLEANED', 'failed', 'a person cleaned up, where the cleanup had failed'),
    ('running', 'CLEANED', 'running', 'a person cleaned up, where the cleanup had failed'),
    ('given_up', 'CLEANED', 'given_up', 'a person cleaned up, where the cleanup had failed'),
    ('cancelled', 'CLEANED', 'cancelled', 'a person cleaned up, where the cleanup had failed')
$$;
comment on function provisioning.transitions() is 'Every allowed step of a job.';
