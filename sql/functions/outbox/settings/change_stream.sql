-- Changes the named settings of a stream, and leaves the others. Null lifts dedupe_days (keys are remembered forever) and writers
-- (everybody who may call outbox.enqueue() may write it). Order and retention class are fixed when a stream is made, because rows already
-- carry them.
create or replace function outbox.change_stream(p_name text, p_changes jsonb) returns outbox.streams
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_old outbox.streams;
  v_new outbox.streams;
begin
  perform outbox.check_stream_name(coalesce(p_name, ''));
  perform outbox.check_stream_settings(p_changes, '{on_dead,carries_money,resend_blind,max_tries,backoff_base_ms,backoff_factor,
    backoff_cap_ms,lease_seconds,run_length,max_payload_bytes,dedupe_days,writers}');
  select * into v_old from outbox.streams s where s.name = p_name for no key update;
  v_new := outbox.write_stream(v_old, p_changes);
  if v_old.writers = '{}' and v_new.writers is distinct from '{}' then
    perform headroom.fail('conflict', format('Only Headroom''s own functions write stream "%s".', p_name), null,
      'Make a stream of your own.');
  elsif v_new.writers = '{}' and v_old.writers is distinct from '{}' then
    perform headroom.fail('invalid_input', format('The writers of stream "%s" are not roles of this server.', p_name), null,
      'Name roles that exist, or give null: then everybody who may call outbox.enqueue() may write it. Nothing was changed.');
  end if;
  return v_new;
end
$$;
comment on function outbox.change_stream(text, jsonb) is 'Changes the named settings of a stream.';
