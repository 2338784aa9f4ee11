-- All templates: the recipient of each, and when it is used. capacity.tells names those of the workflow.
create or replace function capacity.known_templates() returns table (name text, audience text, meaning text)
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  values
    ('step', 'member', 'what happened to their request'),
    ('asked', 'member', 'they are asked for a decision'),
    ('escalated', 'member', 'a request was endorsed, and their approval is needed as well'),
    ('no_longer_asked', 'member', 'their decision is no longer needed'),
    ('digest', 'member', 'a reminder of the reviews that wait for them'),
    ('notice', 'member', 'news about a request that did not change its state, such as a failed job'),
    ('dead_letters', 'member', 'messages of the workspace were given up'),
    ('circuit_open', 'member', 'a receiver does not answer'),
    ('circuit_closed', 'member', 'a receiver answers again'),
    ('offer', 'customer', 'the offer, with the link to answer it'),
    ('warning', 'customer', 'the offer expires soon, and there is no answer yet'),
    ('payment_failed', 'customer', 'a payment did not go through, and the offer is still open'),
    ('confirmed', 'customer', 'they answered or paid, and provisioning begins'),
    ('completed', 'customer', 'the capacity is ready'),
    ('failed', 'customer', 'the capacity could not be provisioned'),
    ('declined', 'customer', 'they declined'),
    ('expired', 'customer', 'no answer came in time'),
    ('cancelled', 'customer', 'the request was cancelled'),
    ('refunded', 'customer', 'they got a refund')
  union all
  select k.name, k.audience, k.meaning from notify.known_templates() k
$$;
comment on function capacity.known_templates() is 'All templates.';
