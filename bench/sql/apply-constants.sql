-- The values that the references write instead of looking them up, rendering or hashing them: those of a real approval of the model, so
-- that they always have the real size. Each is a function that the planner replaces by its value.
create function bench.keep_constants(p_model text) returns void language plpgsql as $$
declare
  v_name text;
  v_type text;
  v_value text;
begin
  for v_name, v_type, v_value in
    select c.* from capacity.events e
     cross join lateral (values ('via', 'text', e.via), ('effects', 'text[]', e.effects::text), ('hash', 'bytea', e.hash::text)) c
     where e.request_id = p_model and e.seq = 2
    union all
    select c.* from outbox.payloads m
     cross join lateral (select case when m.coalesce_key is null then 'reply' else 'root' end as message) k
     cross join lateral (values
       (message || '_effect', 'text', m.idempotency_key), (message || '_payload', 'jsonb', m.payload::text),
       (message || '_binds', 'jsonb', m.binds::text), (message || '_bytes', 'integer', m.bytes::text)) c
     where m.instruction_id = p_model || '#2'
    union all
    select c.* from outbox.payloads m
      join outbox.streams s on s.stream_id = m.stream_id
     cross join lateral (values
       ('stream_id', 'smallint', m.stream_id::text), ('rail_id', 'smallint', m.rail_id::text),
       ('way_id', 'integer', m.way_id::text), ('destination_id', 'integer', m.destination_id::text), ('class_id', 'integer', s.class_id::text),
       ('first_lane', 'bigint', m.lane_id::text)) c
     where m.instruction_id = p_model || '#2' and m.coalesce_key = 'root'
    union all
    select c.* from notify.notifications n
     cross join lateral (values
       ('told_key', 'text', substr(n.idempotency_key, length(p_model) + 1)), ('title', 'text', n.title), ('body', 'text', n.body)) c
     where n.about = p_model and n.recipient = 'ann'
  loop
    execute format('create function bench.%I() returns %s language sql immutable return %L::%2$s', v_name, v_type, v_value);
  end loop;
end
$$;
