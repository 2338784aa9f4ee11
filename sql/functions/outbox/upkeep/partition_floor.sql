-- The smallest outbox id that a row made at the given time can have: all zeroes after the milliseconds.
create or replace function outbox.partition_floor(p_at timestamptz) returns uuid
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp
as $$
begin
  return (encode(substring(int8send((extract(epoch from p_at) * 1000)::bigint) from 3), 'hex') || repeat('0', 20))::uuid;
end
$$;
comment on function outbox.partition_floor(timestamptz) is 'Lower bound, as an outbox id, of everything made at or after a time.';
