-- The answer to a repeated enqueue: the existing row, or a refusal when the key now comes with another payload, destination, time or other
-- term. The number is unknown once the row's payload has been collected.
--
-- p_terms is the array of outbox.add_row(), in the order of the fields here; null compares only the payload. A date in the past is treated
-- as equal to none, and to the one that was given.
--
-- The hashes that are kept are salted. Once the payload was erased its salt is gone, and whether the content is the same can no longer
-- be known: the key alone then decides, and the answer is the row that is there.
create or replace function outbox.existing_row(
  p_stream_id smallint, p_instruction_id text, p_idempotency_key text, p_body text, p_terms jsonb,
  out outbox_id uuid, out seq bigint
)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_known outbox.dedupe;
  v_row outbox.payloads;
  v_changed text;
begin
  select * into v_known from outbox.dedupe d
   where d.stream_id = p_stream_id and d.instruction_id = p_instruction_id and d.idempotency_key = p_idempotency_key;
  select * into v_row from outbox.payloads m where m.outbox_id = v_known.outbox_id;
  outbox_id := v_known.outbox_id;
  seq := v_row.seq;
  if v_known.salt is null then
    return;
  elsif v_known.payload_hash <> sha256(uuid_send(v_known.salt) || convert_to(p_body, 'UTF8')) then
    v_changed := 'payload';
  elsif p_terms is not null and v_known.terms is distinct from hashtextextended(v_known.salt::text || p_terms::text, 0)
        and not coalesce((p_terms ->> 8)::numeric <= extract(epoch from clock_timestamp())
                         and v_known.terms = hashtextextended(v_known.salt::text || jsonb_set(p_terms, '{8}', 'null')::text, 0),
                         false) then
    select string_agg(f.field, ', ' order by f.place) into v_changed
      from jsonb_array_elements(p_terms) with ordinality t(value, place)
      join (values ('rail', 1, to_jsonb((select r.name from outbox.rails r where r.rail_id = v_row.rail_id))),
                   ('key', 2, to_jsonb(coalesce((select l.key from outbox.lanes l where l.lane_id = v_row.lane_id), v_row.key))),
                   ('priority', 3, to_jsonb(v_row.priority)),
                   ('coalesce_key', 4, to_jsonb(v_row.coalesce_key)),
                   ('destination', 5,
                    to_jsonb((select d.name from outbox.destinations d where d.destination_id = v_row.destination_id))),
                   ('expires_at', 6, to_jsonb(extract(epoch from v_row.expires_at))),
                   ('captures', 7, v_row.captures),
                   ('binds', 8, v_row.binds)) f(field, place, value) using (place)
     where v_row.outbox_id is not null and t.value <> coalesce(f.value, 'null');
    if v_known.terms is not null then
      -- The row does not keep its original not_before, and only the hash is left of a collected row.
      v_changed := coalesce(v_changed, case when v_row.outbox_id is null then 'rail, key, destination, date or another term'
                                            else 'not_before' end);
    end if;
  end if;
  if v_changed is not null then
    perform headroom.fail('idempotency_conflict',
      format('Idempotency key "%s" of instruction "%s" was used before. What differs: %s.',
             left(p_idempotency_key, 80), left(p_instruction_id, 80), v_changed),
      format('the first row is %s', outbox_id),
      'Send the same row again, or use a new idempotency key for a new intent. Nothing was changed.');
  end if;
end
$$;
comment on function outbox.existing_row(smallint, text, text, text, jsonb)
  is 'The row that an idempotency key already stands for. Nullable: outbox_id, seq.';
