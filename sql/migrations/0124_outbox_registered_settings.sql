-- What the registrations of this release say, beside what is set: a registration that changes is applied where nobody has set another
-- value. Until now it was applied to new databases alone.
create table outbox.registered_settings (
  kind text not null check (kind in ('stream', 'rail', 'limit')),
  name text not null,
  settings jsonb not null check (jsonb_typeof(settings) = 'object'),
  primary key (kind, name)
);
comment on table outbox.registered_settings
  is 'The settings of streams, rails and limits as the last migration registered them. What differs from them was set by somebody.';

-- The release before this one registered these, so a value that differs from them was set by an operator. In a new database there is
-- nothing yet but the limit "*", which 0005 made. Whether a stream is followed, no operator can set; the registrations say it next.
with streams(name, settings) as (values
  ('notifications', '{"resend_blind": true, "dedupe_days": 180, "writers": null}'::jsonb),
  ('alerts', '{"resend_blind": true, "max_tries": 12, "backoff_factor": 3, "dedupe_days": 180}'),
  ('payments', '{"on_dead": "block", "carries_money": true, "max_tries": 8, "writers": null}'),
  ('transfers', '{"resend_blind": true, "dedupe_days": 90}'),
  ('ledger', '{"on_dead": "block", "resend_blind": true, "dedupe_days": 90}'),
  ('people', '{"resend_blind": true, "max_tries": 5, "backoff_base_ms": 30000, "backoff_factor": 8, "backoff_cap_ms": 28800000}'),
  ('capacity', '{"resend_blind": true, "max_tries": 12, "backoff_factor": 3, "backoff_cap_ms": 28800000}'),
  ('interactions', '{"max_tries": 4, "backoff_base_ms": 250, "backoff_cap_ms": 5000, "dedupe_days": 14, "forget_minutes": 30}'),
  ('provisioning', '{"max_tries": 20, "backoff_cap_ms": 900000}'),
  ('billing', '{"max_tries": 12, "backoff_base_ms": 500, "backoff_cap_ms": 600000, "forget_minutes": 1440}'),
  ('subscriptions', '{"max_tries": 20}'),
  ('refunds', '{"on_dead": "block", "carries_money": true, "max_tries": 8}'),
  ('self-service', '{"resend_blind": true, "max_tries": 8, "backoff_factor": 3, "backoff_cap_ms": 1800000, "dedupe_days": 90}'))
insert into outbox.registered_settings (kind, name, settings)
select 'stream', r.name,
       '{"on_dead": "skip", "carries_money": false, "resend_blind": false, "max_tries": 5, "backoff_base_ms": 2000, "backoff_factor": 2,
         "backoff_cap_ms": 3600000, "lease_seconds": 90, "run_length": 20, "max_payload_bytes": 262144, "dedupe_days": null,
         "forget_minutes": null, "writers": []}'::jsonb || r.settings
  from streams r join outbox.streams s on s.name = r.name and s.built_in
union all
select 'rail', r.name, jsonb_build_object('timeout_ms', r.timeout_ms)
  from (values ('webhook', 15000), ('slack', 15000), ('linear', 15000), ('email', 30000), ('slack-interaction', 5000),
               ('slack-webhook', 15000), ('github-actions', 20000), ('stripe', 20000)) r(name, timeout_ms)
  join outbox.rails using (name)
union all
select 'limit', r.name,
       jsonb_build_object('min_interval_ms', r.gap, 'failure_threshold', r.failures, 'open_base_ms', r.open_ms)
  from (values ('*', 0, 5, 15000), ('slack:', 1000, null, null)) r(name, gap, failures, open_ms)
  join outbox.limits using (name);

-- Grants of rails that registrations make are replaced by each migration; those of operators stay.
alter table outbox.stream_rails add column registered boolean not null default false;
comment on column outbox.stream_rails.registered is 'Made by a registration; otherwise by an operator (outbox.grant_rail).';
update outbox.stream_rails g set registered = true
  from outbox.streams s, outbox.rails r,
       (values ('slack', 'capacity'), ('slack', 'people'), ('slack', 'interactions'), ('linear', 'capacity'), ('email', 'people'),
               ('email', 'self-service'), ('slack-interaction', 'interactions'), ('slack-webhook', 'people'),
               ('github-actions', 'provisioning'), ('stripe', 'billing'), ('stripe', 'refunds'), ('stripe', 'subscriptions'),
               ('stripe', 'payments')) o(rail, stream)
 where s.stream_id = g.stream_id and r.rail_id = g.rail_id and s.name = o.stream and r.name = o.rail
   and g.leftover = (o.stream = 'payments');

-- What they did is part of ensure_stream() and ensure_rails() now; grants have ensure_grants().
drop function if exists outbox.ensure_followed(text);
drop function if exists outbox.declare_credentials(jsonb);
drop function if exists outbox.guard_rails(jsonb, jsonb);
