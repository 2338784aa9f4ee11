-- What makes lists and metrics fast when there are a million requests and ten million events.

-- The newest requests of a workspace. Ids do not sort by age: they grow a digit one day.
create index requests_recent on capacity.requests (workspace_id, created_at desc, id desc);

-- The events of a span of time, with all that the metrics want to know of them, so that they need not look at the log itself; live
-- updates find what happened lately by it too. One index of all events for both, because each further one is paid for by every
-- decision. On the time as it is and not on the day as an expression: under row-level security only comparisons that cannot leak may
-- use an index, and these are among them.
create index events_by_time on capacity.events (created_at, request_id, seq, state_before, state_after, event_type);
-- The approvals among them, because what the latency of approvals leaves out stands in the payload.
create index events_approved on capacity.events (created_at, request_id, event_type, state_after, actor_type)
  where event_type in ('COMMERCIAL_APPROVED', 'TECH_REVIEW_APPROVED') and payload -> 'counts' is distinct from 'false';
