-- When a row was made, read from its id.
create or replace function outbox.id_time(p_outbox_id uuid) returns timestamptz
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp
as $$
begin
  return to_timestamp(('x' || lpad(encode(substring(uuid_send(p_outbox_id) from 1 for 6), 'hex'), 16, '0'))::bit(64)::bigint / 1000.0);
end
$$;
comment on function outbox.id_time(uuid) is 'The time that an outbox id carries.';
