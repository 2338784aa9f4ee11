-- When a message about a request last reached people: whatever an event or a notice of it sent, other than to machines.
create or replace function capacity.last_delivery(p_request_id text, p_version integer) returns timestamptz
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return greatest(
    outbox.last_delivered_at(
      outbox.stream_id('capacity'),
      array(select p_request_id || '#' || g from generate_series(1, p_version) g)
        || array(select p_request_id || '!' || n.id from capacity.notices n where n.request_id = p_request_id),
      'event:'),
    capacity.last_told(p_request_id));
end
$$;
comment on function capacity.last_delivery(text, integer) is 'When a message about a request last reached people. Nullable: result.';
