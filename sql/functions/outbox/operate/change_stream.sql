-- Changes the settings of a stream that are named, and leaves the others. Null lifts dedupe_days (keys are remembered for ever) and
-- writers (everybody who may call outbox.enqueue() may write it). Order and retention class are fixed when a stream is made, because rows
-- already carry them.
--
-- Claims and settles read a stream anew each time. Relays read its lease when they start, and count on it before each call: while one
-- runs, a shorter lease would end during a call that it believes safe, and another relay would send the same row.
create or replace function outbox.change_stream(p_name text, p_changes jsonb) returns outbox.streams
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_known constant text[] := '{on_dead,carries_money,resend_blind,max_tries,backoff_base_ms,backoff_factor,backoff_cap_ms,lease_seconds,
                              run_length,max_payload_bytes,dedupe_days,writers}';
  v_unknown text;
  v_old outbox.streams;
  v_new outbox.streams;
begin
  perform outbox.check_stream_name(coalesce(p_name, ''));
  select * into v_old from outbox.streams s where s.name = p_name for no key update;
  if jsonb_typeof(p_changes) is distinct from 'object' then
    perform headroom.fail('invalid_input', 'Changes of a stream are an object of settings and their new values.', null,
      'Such as {"max_tries": 8}. Nothing was changed.');
  end if;
  select string_agg(k, ', ' order by k) into v_unknown from jsonb_object_keys(p_changes) k where k <> all (v_known);
  if v_unknown is not null then
    perform headroom.fail('invalid_input', format('A stream has no such setting, or it is fixed: %s.', left(v_unknown, 200)),
      'these can be changed: ' || array_to_string(v_known, ', '), 'Nothing was changed.');
  end if;

  v_new := jsonb_populate_record(v_old, p_changes);
  if v_old.writers = '{}' and v_new.writers is distinct from v_old.writers then
    perform headroom.fail('conflict', format('Only Headroom''s own functions write stream "%s".', p_name), null,
      'Make a stream of your own.');
  elsif v_new.writers = '{}' and v_old.writers is distinct from v_new.writers then
    perform headroom.fail('invalid_input', format('The writers of stream "%s" are not roles of this server.', p_name), null,
      'Name roles that exist, or give null: then everybody who may call outbox.enqueue() may write it. Nothing was changed.');
  elsif v_new.lease_seconds < v_old.lease_seconds
        and exists (select from outbox.relays r where r.seen_at > now() - interval '3 minutes' and r.ended_at is null) then
    perform headroom.fail('conflict', format('The lease of stream "%s" cannot be shortened while relays run.', p_name),
      'they count on the lease that they read when they started, and would send what another relay may take',
      'Stop the relays, change it, and start them again. Nothing was changed.');
  end if;
  update outbox.streams s
     set on_dead = v_new.on_dead, carries_money = v_new.carries_money, resend_blind = v_new.resend_blind, max_tries = v_new.max_tries,
         backoff_base_ms = v_new.backoff_base_ms, backoff_factor = v_new.backoff_factor, backoff_cap_ms = v_new.backoff_cap_ms,
         lease_seconds = v_new.lease_seconds, run_length = v_new.run_length, max_payload_bytes = v_new.max_payload_bytes,
         dedupe_days = v_new.dedupe_days, writers = v_new.writers
   where s.stream_id = v_old.stream_id
  returning s.* into v_new;
  perform outbox.check_stream(v_new);
  return v_new;
exception
  when check_violation or not_null_violation or data_exception then
    perform headroom.fail('invalid_input', format('Stream "%s" was not changed.', left(p_name, 80)), sqlerrm,
      'Each setting has its range. A stream without order cannot block, and one that carries money cannot resend blindly.');
end
$$;
comment on function outbox.change_stream(text, jsonb) is 'Changes the settings of a stream that are named.';
