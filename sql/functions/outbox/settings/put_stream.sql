-- Makes a stream, or changes the settings of one that exists: {"max_tries": 8, "retention": "week"}. Settings that are not given keep their
-- value; order and retention class are fixed at creation, because rows already carry them. Its writers are a list of roles; the streams
-- that our own functions write cannot be opened to others.
create or replace function outbox.put_stream(p_name text, p_settings jsonb) returns outbox.streams
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_wanted outbox.streams;
  v_stream outbox.streams;
begin
  perform outbox.check_stream_settings(p_settings, '{ordered,on_dead,carries_money,resend_blind,max_tries,backoff_base_ms,backoff_factor,
    backoff_cap_ms,lease_seconds,run_length,max_payload_bytes,retention,dedupe_days,writers}');
  v_wanted := outbox.stream_of(p_name, p_settings);
  if v_wanted.writers = '{}' then
    perform headroom.fail('invalid_input', format('The writers of stream "%s" are not roles of this server.', left(p_name, 80)), null,
      'Name roles that exist, or leave writers out: then everybody who may call outbox.enqueue() may write it. Nothing was changed.');
  end if;
  v_stream := outbox.add_stream(v_wanted);
  if v_stream is null then
    v_stream := outbox.change_stream(p_name, p_settings - '{ordered,retention}'::text[]);
    if p_settings ? 'ordered' and v_stream.ordered <> v_wanted.ordered
       or p_settings ? 'retention' and v_stream.class_id <> v_wanted.class_id then
      perform headroom.fail('conflict', format('Stream "%s" exists with another order or retention class.', p_name), null,
        'Both are fixed when a stream is made. Make another stream.');
    end if;
  end if;
  return v_stream;
exception
  when check_violation or not_null_violation or data_exception then
    perform headroom.fail('invalid_input', format('Stream "%s" was not made.', left(p_name, 80)), sqlerrm,
      'Names are lower-case letters, digits, "-" and "_", up to 63. A stream without order cannot block; one that carries money cannot '
      'resend blindly.');
end
$$;
comment on function outbox.put_stream(text, jsonb) is 'Makes a stream, or changes the settings of one that exists.';
