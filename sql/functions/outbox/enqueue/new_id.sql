-- A time-ordered id (UUID version 7) that carries its retention class in the eighth byte.
--
-- Assign its result: an assignment is evaluated in place and costs next to nothing, while in a query a function that is not inlined costs
-- several times as much. PostgreSQL 18's own generator is used where it exists. Older servers get the same layout from a random id and the
-- clock. A server that is upgraded keeps the older body until the next migration; both make the same ids.
do $do$
begin
  if current_setting('server_version_num')::integer >= 180000 then
    create or replace function outbox.new_id(p_class_id smallint) returns uuid
    language plpgsql volatile parallel safe set search_path = pg_catalog, pg_temp
    as $$
    begin
      return encode(set_byte(uuid_send(uuidv7()), 7, p_class_id), 'hex')::uuid;
    end
    $$;
  else
    create or replace function outbox.new_id(p_class_id smallint) returns uuid
    language plpgsql volatile parallel safe set search_path = pg_catalog, pg_temp
    as $$
    begin
      return encode(
        set_byte(set_byte(
          overlay(uuid_send(gen_random_uuid())
                  placing substring(int8send((date_part('epoch', clock_timestamp()) * 1000)::bigint) from 3)
                  from 1 for 6),
          6, 112 + (random() * 15)::integer),
          7, p_class_id),
        'hex')::uuid;
    end
    $$;
  end if;
end
$do$;
comment on function outbox.new_id(smallint) is 'A new outbox id of the given retention class.';
