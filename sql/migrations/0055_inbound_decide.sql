-- What a member in Slack may decide is judged from the context that decides it.
drop function if exists inbound.may_decide(directory.members, text, public.capacity_request_event_type, boolean);
drop function if exists inbound.decided_already(capacity.requests, public.capacity_request_event_type, text, timestamptz, text);
drop function if exists inbound.review_step(directory.members, capacity.requests);
