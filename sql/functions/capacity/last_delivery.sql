-- When a message about a request last reached people: whatever an event or a notice of it sent, other than to machines. The keys are
-- written out, so that each costs an index probe; and so is the stream's retention class, which never changes, because the
-- archive is partitioned by it.
create or replace function capacity.last_delivery(p_stream_id smallint, p_request_id text, p_version integer) returns timestamptz
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_at timestamptz;
begin
  select max(a.recorded_at) into v_at
    from outbox.dedupe d
    join outbox.attempts a on a.outbox_id = d.outbox_id and a.class_id = 1 and a.state = 'DISPATCHED'
   where d.stream_id = p_stream_id and not starts_with(d.idempotency_key, 'event:')
     and d.instruction_id = any (array(select p_request_id || '#' || g from generate_series(1, p_version) g)
                                 || array(select p_request_id || '!' || n.id from capacity.notices n where n.request_id = p_request_id));
  return v_at;
end
$$;
comment on function capacity.last_delivery(smallint, text, integer) is 'When a message about a request last reached people. Nullable: result.';
