-- A time-ordered id (UUID version 7) that carries its retention class in the eighth byte.
--
-- Setting up an expression costs more than running it when a statement handles one row, so the built-in generator of
-- PostgreSQL 18 is used where it exists. Older servers get the same layout from a random id and the clock. A server that
-- is upgraded keeps the older body until the next migration; both make the same ids.
do $do$
begin
  if current_setting('server_version_num')::integer >= 180000 then
    create or replace function outbox.new_id(p_class_id smallint) returns uuid
    language sql volatile parallel safe
    as $$ select encode(set_byte(uuid_send(uuidv7()), 7, p_class_id), 'hex')::uuid $$;
  else
    create or replace function outbox.new_id(p_class_id smallint) returns uuid
    language sql volatile parallel safe
    as $$
      select encode(
        set_byte(set_byte(
          overlay(uuid_send(gen_random_uuid())
                  placing substring(int8send((date_part('epoch', clock_timestamp()) * 1000)::bigint) from 3)
                  from 1 for 6),
          6, 112 + (random() * 15)::integer),
          7, p_class_id),
        'hex')::uuid
    $$;
  end if;
end
$do$;
comment on function outbox.new_id(smallint) is 'A new outbox id of the given retention class.';
