-- Adds a stream, unless one of that name exists: then the result is null.
create or replace function outbox.add_stream(p_stream outbox.streams) returns outbox.streams
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_stream outbox.streams;
begin
  insert into outbox.streams
    (name, ordered, on_dead, carries_money, resend_blind, max_tries, backoff_base_ms, backoff_factor, backoff_cap_ms, lease_seconds,
     run_length, max_payload_bytes, class_id, dedupe_days, forget_minutes, writers, followed, built_in)
  values
    (p_stream.name, p_stream.ordered, p_stream.on_dead, p_stream.carries_money, p_stream.resend_blind, p_stream.max_tries,
     p_stream.backoff_base_ms, p_stream.backoff_factor, p_stream.backoff_cap_ms, p_stream.lease_seconds, p_stream.run_length,
     p_stream.max_payload_bytes, p_stream.class_id, p_stream.dedupe_days, p_stream.forget_minutes, p_stream.writers, p_stream.followed,
     p_stream.built_in)
  on conflict (name) do nothing
  returning * into v_stream;
  if found then
    perform outbox.check_stream(v_stream);
  end if;
  return v_stream;
end
$$;
comment on function outbox.add_stream(outbox.streams) is 'Adds a stream unless it exists. Nullable: result.';
