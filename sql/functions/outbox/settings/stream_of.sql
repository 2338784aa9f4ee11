-- The row of a stream with these settings, and with defaults for those that are not given. The table assigns its number.
create or replace function outbox.stream_of(p_name text, p_settings jsonb) returns outbox.streams
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_retention constant text := coalesce(p_settings ->> 'retention', 'forever');
  v_stream outbox.streams := jsonb_populate_record(null::outbox.streams,
    '{"ordered": true, "on_dead": "skip", "carries_money": false, "resend_blind": false, "max_tries": 5, "backoff_base_ms": 2000,
      "backoff_factor": 2, "backoff_cap_ms": 3600000, "lease_seconds": 90, "run_length": 20, "max_payload_bytes": 262144,
      "followed": false, "built_in": false}'::jsonb
    || p_settings);
begin
  v_stream.name := p_name;
  v_stream.class_id := (select c.class_id from outbox.retention_classes c where c.name = v_retention);
  if v_stream.class_id is null then
    perform headroom.fail('invalid_input', format('There is no retention class "%s".', left(v_retention, 80)),
      'known are ' || (select string_agg(c.name, ', ' order by c.class_id) from outbox.retention_classes c), 'Nothing was changed.');
  end if;
  return v_stream;
end
$$;
comment on function outbox.stream_of(text, jsonb) is 'The row of a stream with these settings.';
