-- An approval through the workflow's own function: who acts is established, may they is asked, one message is rendered.
select id from public.apply_capacity_event('CR-2026-' || lpad(nextval('bench.requests')::text, 6, '0'), 'COMMERCIAL_APPROVED', 'user', 'bob');
