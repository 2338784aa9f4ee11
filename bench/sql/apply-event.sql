-- An approval through the workflow's own function: it identifies the actor, checks their rights, and renders the notifications.
select id from public.apply_capacity_event(bench.request_id(nextval('bench.requests')), 'COMMERCIAL_APPROVED', 'user', 'bob');
