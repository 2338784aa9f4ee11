-- An approval through the workflow's own function: who acts is established, may they is asked, what people are told is rendered.
select id from public.apply_capacity_event(bench.request_id(nextval('bench.requests')), 'COMMERCIAL_APPROVED', 'user', 'bob');
