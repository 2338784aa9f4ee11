-- Writes changed settings of a stream, whoever changes them. The caller has locked its row.
--
-- Claims and settles read a stream each time. Relays read its lease when they start, and rely on it before each call: while one
-- runs, a shorter lease would end during a call that it believes safe, and another relay would send the same row.
create or replace function outbox.write_stream(p_stream outbox.streams, p_changes jsonb) returns outbox.streams
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_new outbox.streams;
begin
  v_new := jsonb_populate_record(p_stream, p_changes);
  if v_new.lease_seconds < p_stream.lease_seconds and outbox.relays_run() then
    perform headroom.fail('conflict', format('The lease of stream "%s" cannot be shortened while relays run.', p_stream.name),
      'they rely on the lease that they read when they started, and would send what another relay may take',
      'Stop the relays, change it, and start them again. Nothing was changed.');
  end if;
  update outbox.streams s
     set on_dead = v_new.on_dead, carries_money = v_new.carries_money, resend_blind = v_new.resend_blind, max_tries = v_new.max_tries,
         backoff_base_ms = v_new.backoff_base_ms, backoff_factor = v_new.backoff_factor, backoff_cap_ms = v_new.backoff_cap_ms,
         lease_seconds = v_new.lease_seconds, run_length = v_new.run_length, max_payload_bytes = v_new.max_payload_bytes,
         dedupe_days = v_new.dedupe_days, forget_minutes = v_new.forget_minutes, writers = v_new.writers, followed = v_new.followed
   where s.stream_id = p_stream.stream_id
  returning s.* into v_new;
  perform outbox.check_stream(v_new);
  return v_new;
exception
  when check_violation or not_null_violation or data_exception then
    perform headroom.fail('invalid_input', format('Stream "%s" was not changed.', p_stream.name), sqlerrm,
      'Each setting has its range. A stream without order cannot block, and one that carries money cannot resend blindly.'
      || case when p_stream.built_in
              then format(' To go back to what is registered: headroom outbox stream %s --reset-all', p_stream.name) else '' end);
end
$$;
comment on function outbox.write_stream(outbox.streams, jsonb) is 'Writes changed settings of a stream.';
