-- Makes a stream, or changes the settings of one that exists. Settings that are not given keep their value; order and
-- retention class are fixed at creation, because rows already carry them. Who may write it is a list of roles; nobody opens the streams
-- that our own functions write.
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
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_class outbox.retention_classes;
  v_stream outbox.streams;
begin
  select * into v_class from outbox.retention_classes where name = coalesce(p_retention, 'forever');
  if not found then
    perform headroom.fail('invalid_input', format('There is no retention class "%s".', left(p_retention, 80)),
      'known are ' || (select string_agg(name, ', ' order by class_id) from outbox.retention_classes), 'Nothing was changed.');
  end if;

  if p_writers = '{}' then
    perform headroom.fail('invalid_input', format('The writers of stream "%s" are not roles of this server.', left(p_name, 80)), null,
      'Name roles that exist, or leave writers out: then everybody who may call outbox.enqueue() may write it. Nothing was changed.');
  end if;

  insert into outbox.streams
    (name, ordered, on_dead, carries_money, resend_blind, max_tries, backoff_base_ms, backoff_factor, backoff_cap_ms,
     lease_seconds, run_length, max_payload_bytes, class_id, dedupe_days, writers)
  values
    (p_name, p_ordered, coalesce(p_on_dead, 'skip'), coalesce(p_carries_money, false), coalesce(p_resend_blind, false),
     coalesce(p_max_tries, 5), coalesce(p_backoff_base_ms, 2000), coalesce(p_backoff_factor, 2), coalesce(p_backoff_cap_ms, 3600000),
     coalesce(p_lease_seconds, 90), coalesce(p_run_length, 20), coalesce(p_max_payload_bytes, 262144), v_class.class_id, p_dedupe_days,
     p_writers)
  on conflict (name) do nothing
  returning * into v_stream;
  if found then
    perform outbox.check_stream(v_stream);
    return v_stream;
  end if;

  v_stream := outbox.change_stream(p_name, jsonb_strip_nulls(jsonb_build_object(
    'on_dead', p_on_dead, 'carries_money', p_carries_money, 'resend_blind', p_resend_blind, 'max_tries', p_max_tries,
    'backoff_base_ms', p_backoff_base_ms, 'backoff_factor', p_backoff_factor, 'backoff_cap_ms', p_backoff_cap_ms, 'lease_seconds',
    p_lease_seconds,
    'run_length', p_run_length, 'max_payload_bytes', p_max_payload_bytes, 'dedupe_days', p_dedupe_days, 'writers', p_writers)));
  if v_stream.ordered <> p_ordered or (p_retention is not null and v_stream.class_id <> v_class.class_id) then
    perform headroom.fail('conflict', format('Stream "%s" exists with another order or retention class.', p_name), null,
      'Both are fixed when a stream is made. Make another stream.');
  end if;
  return v_stream;
exception
  when check_violation or not_null_violation then
    perform headroom.fail('invalid_input', format('Stream "%s" was not made.', left(p_name, 80)), sqlerrm,
      'Names are lower-case letters, digits, "-" and "_", up to 63. A stream without order cannot block; one that carries money cannot '
      'resend blindly.');
end
$$;
comment on function outbox.create_stream(text, boolean, text, boolean, boolean, integer, integer, real, integer, integer, integer, integer,
                                         text, integer, name[])
  is 'Makes a stream, or changes the settings of one that exists.';
