-- A time-ordered id (UUID version 7) that carries its retention class in the eighth byte. PostgreSQL before 18 has no
-- uuidv7(), and the built-in one leaves no room for the class, so every version makes its ids here.
create or replace function outbox.new_id(p_class_id smallint) returns uuid
language sql volatile parallel safe
as $$
  select encode(
    set_byte(set_byte(
      overlay(uuid_send(gen_random_uuid())
              placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
              from 1 for 6),
      6, 112 + (random() * 15)::integer),
      7, p_class_id),
    'hex')::uuid;
$$;
comment on function outbox.new_id(smallint) is 'A new outbox id of the given retention class.';
