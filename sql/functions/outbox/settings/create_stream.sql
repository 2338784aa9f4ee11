-- The same as put_stream(), with a parameter for each setting, for people who write SQL by hand. Null: not given.
create or replace function outbox.create_stream(
  p_name text,
  p_ordered boolean default true,
  p_on_dead text default null,
  p_carries_money boolean default null,
  p_resend_blind boolean default null,
  p_max_tries integer default null,
  p_backoff_base_ms integer default null,
  p_backoff_factor real default null,
  p_backoff_cap_ms integer default null,
  p_lease_seconds integer default null,
  p_run_length integer default null,
  p_max_payload_bytes integer default null,
  p_retention text default null,
  p_dedupe_days integer default null,
  p_writers name[] default null
) returns outbox.streams
language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
  select outbox.put_stream(p_name, jsonb_strip_nulls(jsonb_build_object(
    'ordered', p_ordered, 'on_dead', p_on_dead, 'carries_money', p_carries_money, 'resend_blind', p_resend_blind,
    'max_tries', p_max_tries, 'backoff_base_ms', p_backoff_base_ms, 'backoff_factor', p_backoff_factor,
    'backoff_cap_ms', p_backoff_cap_ms, 'lease_seconds', p_lease_seconds, 'run_length', p_run_length,
    'max_payload_bytes', p_max_payload_bytes, 'retention', p_retention, 'dedupe_days', p_dedupe_days, 'writers', p_writers)));
$$;
comment on function outbox.create_stream(text, boolean, text, boolean, boolean, integer, integer, real, integer, integer, integer, integer,
                                         text, integer, name[])
  is 'Makes a stream, or changes the settings of one that exists.';
