-- When a row that failed for the n-th time is due again: full jitter below an exponential ceiling, so that rows that
-- failed together do not come back together. A longer pause that the receiver asks for wins, up to a day.
create or replace function outbox.backoff(p_stream outbox.streams, p_tries integer, p_after_ms bigint) returns interval
language sql volatile set search_path = pg_catalog, pg_temp
as $$
  select greatest(
    random() * least(p_stream.backoff_cap_ms,
                     p_stream.backoff_base_ms * power(p_stream.backoff_factor::double precision, least(p_tries, 60) - 1)),
    least(coalesce(p_after_ms, 0), 86400000)) * interval '1 ms';
$$;
comment on function outbox.backoff(outbox.streams, integer, bigint) is 'How long a row waits after its n-th failed try.';
