-- All templates: the recipient of each, and when it is used. capacity.tells names those of the workflow.
create or replace function capacity.known_templates() returns table (name text, audience text, meaning text)
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  values
    ('step', 'member', 'what happened to a request of theirs'),
    ('asked', 'member', 'a decision is asked of them'),
    ('escalated', 'member', 'a request was endorsed, and their approval is needed as well'),
    ('no_longer_asked', 'member', 'a decision that was asked of them is no longer needed'),
    ('digest', 'member', 'a reminder of the reviews that wait for them'),
    ('notice', 'member', 'what is said about a request without changing it, such as a failed job'),
    ('dead_letters', 'member', 'messages of the workspace were given up'),
    ('circuit_open', 'member', 'a receiver does not answer'),
    ('circuit_closed', 'member', 'a receiver that did not answer does again'),
    ('offer', 'customer', 'the offer, with the link to answer it'),
    ('warning', 'customer', 'the offer ends soon, and no answer came'),
    ('payment_failed', 'customer', 'a payment did not go through, and the offer still stands'),
    ('confirmed', 'customer', 'they answered or paid, and provisioning begins'),
    ('completed', 'customer', 'the capacity is ready'),
    ('failed', 'customer', 'the capacity could not be provisioned'),
    ('declined', 'customer', 'they declined'),
    ('expired', 'customer', 'no answer came in time'),
    ('cancelled', 'customer', 'the request was cancelled'),
    ('refunded', 'customer', 'money went back to them')
  union all
  select k.name, k.audience, k.meaning from notify.known_templates() k
$$;
comment on function capacity.known_templates() is 'All templates.';
