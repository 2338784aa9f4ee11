-- Makes a stream of ours with these settings if it is not there; one that is there keeps what operators set. For the migrator's
-- registrations: unlike create_stream() it may close a stream to everybody but our own functions (writers: []). Where an application has
-- taken such a name already, its rows would go out under our grants, and ours would wait behind them: the migration stops before that.
create or replace function outbox.ensure_stream(p_name text, p_settings jsonb) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_old outbox.streams;
  v_new outbox.streams;
begin
  -- Looked up first: an insert that conflicts would use up a number at each migration.
  select * into v_old from outbox.streams s where s.name = p_name;
  if found then
    if p_settings -> 'writers' = '[]' and v_old.writers is distinct from '{}' then
      perform headroom.fail('conflict',
        format('Stream "%s" is written by others, and Headroom now needs one of that name for itself.', p_name), null,
        format('Rename it, and have its producers and relays use the new name: update outbox.streams set name = %L where name = %L, '
               'as headroom_owner. Then migrate again. Nothing was changed.', 'app-' || p_name, p_name));
    end if;
    return;
  end if;
  v_new := jsonb_populate_record(null::outbox.streams,
    '{"ordered": true, "on_dead": "skip", "carries_money": false, "resend_blind": false, "max_tries": 5, "backoff_base_ms": 2000,
      "backoff_factor": 2, "backoff_cap_ms": 3600000, "lease_seconds": 90, "run_length": 20, "max_payload_bytes": 262144}'::jsonb
    || (p_settings - 'retention'));
  insert into outbox.streams
    (name, ordered, on_dead, carries_money, resend_blind, max_tries, backoff_base_ms, backoff_factor, backoff_cap_ms, lease_seconds,
     run_length, max_payload_bytes, class_id, dedupe_days, writers, forget_minutes, built_in)
  select p_name, v_new.ordered, v_new.on_dead, v_new.carries_money, v_new.resend_blind, v_new.max_tries, v_new.backoff_base_ms,
         v_new.backoff_factor, v_new.backoff_cap_ms, v_new.lease_seconds, v_new.run_length, v_new.max_payload_bytes, c.class_id,
         v_new.dedupe_days, v_new.writers, v_new.forget_minutes, true
    from outbox.retention_classes c where c.name = coalesce(p_settings ->> 'retention', 'forever');
end
$$;
comment on function outbox.ensure_stream(text, jsonb) is 'Makes a stream unless it exists.';
