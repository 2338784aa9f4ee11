-- The log as the API shows it, to those who may read the request. The id of the customer's link stays inside: half of a token is
-- nobody's business but the mail's.
create or replace view public.capacity_request_events with (security_invoker = true) as
select e.id, e.request_id as capacity_request_id, e.event_type, e.actor_type, e.actor_id,
       e.payload - 'confirmation_token_id' as payload, e.created_at,
       e.seq, e.via, e.state_before, e.state_after, encode(e.hash, 'hex') as hash
  from capacity.events e;
comment on view public.capacity_request_events is 'What happened to capacity requests, event by event.';
