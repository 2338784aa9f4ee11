-- Everything that a job may wait for, what ends the wait, how long it may last, and who is notified: every wait is bounded, and somebody is
-- notified of each. `states` are those of a job that can wait this way. waits_of() names what one job waits for, the documentation is
-- generated from this table, and a test plays each wait to its end.
create or replace function provisioning.wait_rules()
returns table (wait text, states text[], ends_with text, bound text, told text, at_bound text)
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  values
    ('turn', '{waiting}'::text[], 'the next sweep', 'a minute', 'operators, by `headroom doctor`, when the sweep of the job fails',
     'the sweep tries again, each time later'),
    ('customer', '{waiting}', 'the end of the runs for another request of the customer', 'the bounds of that request''s waits',
     'the thread, when it begins to wait', 'that request''s turn passes'),
    ('cleanup', '{waiting}', 'the cleanup after its last attempt', 'the bounds of `dispatch`, `claim` and `report`, for each cleanup',
     'the thread, when it begins to wait', 'the cleanup has failed: `cleanup_failed`'),
    ('cleanup_failed', '{waiting,failed,running,given_up,cancelled}', 'an operator who cleans up: `headroom jobs cleaned`',
     '`--give-up-hours`, while the request is open',
     'operators and the requester, immediately, as reminders, and as late after `--retry-sla-hours`',
     'the request fails, what was paid goes back; reminders go on until somebody cleans up'),
    ('run', '{waiting,failed,running,given_up,cancelled}', 'the run''s report, or GitHub that shows it ended',
     '`--limit-minutes` and ten minutes more after it was told to stop', 'operators, at the bound', 'the turn passes'),
    ('person', '{waiting}', 'somebody who retries it or records its outcome', '`--give-up-hours` where it was paid for',
     'operators and the requester, immediately, as reminders, and as late after `--retry-sla-hours`',
     'the request fails, what was paid goes back; unpaid, reminders go on'),
    ('not_connected', '{waiting}', 'an operator who connects a workflow, or records the outcome', '`--give-up-hours` where it was paid for',
     'operators and the requester, immediately, as reminders, and as late after `--retry-sla-hours`',
     'the request fails, what was paid goes back; unpaid, reminders go on'),
    ('no_address', '{waiting}', 'an operator who sets an address', '`--give-up-hours`',
     'operators and the requester, immediately, as reminders, and as late after `--retry-sla-hours`',
     'the request fails, what was paid goes back'),
    ('dispatch', '{queued,waiting,failed,running,given_up,cancelled}', 'a relay that sends it, and GitHub that takes it',
     '`--give-up-hours`',
     'operators and the requester, after `--stale-minutes`, and as reminders',
     'the request fails, what was paid goes back; a cleanup has failed: `cleanup_failed`'),
    ('claim', '{queued,waiting,failed,running,given_up,cancelled}', 'the first callback of the run', '`--stale-minutes`',
     'operators and the requester, at the bound', 'the attempt fails: `retry`; a cleanup is tried again, and fails: `cleanup_failed`'),
    ('report', '{provisioning,waiting,failed,running,given_up,cancelled}', 'the run''s result, or GitHub that shows it ended',
     '`--stale-minutes` of silence, `--limit-minutes` as a whole', 'operators and the requester, at the bound',
     'the attempt fails: `retry`; a cleanup is tried again, and fails: `cleanup_failed`'),
    ('retry', '{failed}', 'somebody who asks for another attempt, or records the outcome', '`--give-up-hours`',
     'operators and the requester, immediately, as reminders, and as late after `--retry-sla-hours`',
     'the request fails, what was paid goes back')
$$;
comment on function provisioning.wait_rules() is 'What jobs wait for, for how long, and who is told.';
