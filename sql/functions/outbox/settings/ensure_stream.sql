-- Makes one of our streams with these settings if it does not exist; an existing one gets what its registration changed, except settings
-- that an operator has set (note_registered). For the migrator's registrations: unlike put_stream() it may close a stream to everybody but
-- our own functions (writers: []). If an application already uses the name, the migration stops: otherwise its rows would go out under our
-- grants, and ours would wait behind them.
--
-- A lease is not shortened while relays run, because they rely on it; then the longer one stays, and `headroom doctor` names it.
create or replace function outbox.ensure_stream(p_name text, p_settings jsonb) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_wanted outbox.streams := outbox.stream_of(p_name, p_settings || '{"built_in": true}');
  v_old outbox.streams;
  v_changes jsonb;
begin
  -- Looked up first: an insert that conflicts would use up a number at each migration.
  select * into v_old from outbox.streams s where s.name = p_name for no key update;
  if not found then
    perform outbox.add_stream(v_wanted);
  elsif v_wanted.writers = '{}' and v_old.writers is distinct from '{}' then
    perform headroom.fail('conflict',
      format('Stream "%s" is written by others, and Headroom now needs one of that name for itself.', p_name), null,
      format('Rename it, and have its producers and relays use the new name: update outbox.streams set name = %L where name = %L, '
             'as headroom_owner. Then migrate again. Nothing was changed.', 'app-' || p_name, p_name));
  elsif (v_wanted.ordered, v_wanted.class_id) <> (v_old.ordered, v_old.class_id) then
    perform headroom.fail('conflict', format('Stream "%s" exists with another order or retention class than registered.', p_name),
      'both are fixed when a stream is made, because rows already carry them',
      'Register a stream of another name, and let the rows of this one finish. Nothing was changed.');
  end if;
  v_changes := outbox.note_registered('stream', p_name, outbox.stream_settings(v_wanted));
  if v_old.stream_id is null or v_changes = '{}' then
    return;
  end if;
  if (v_changes ->> 'lease_seconds')::integer < v_old.lease_seconds and outbox.relays_run() then
    v_changes := v_changes - 'lease_seconds';
  end if;
  if jsonb_populate_record(v_old, v_changes) is distinct from v_old then
    perform outbox.write_stream(v_old, v_changes);
  end if;
end
$$;
comment on function outbox.ensure_stream(text, jsonb) is 'Makes a stream, or applies what its registration changed.';
