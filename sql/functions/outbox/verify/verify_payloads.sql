-- I4, for a range of outbox ids: the payload of a row matches its hash, with the salt that is stored with its idempotency key; and the
-- lines of the archive have the same hash. A payload that was erased took its salt with it, and one whose key was forgotten cannot be
-- checked any more.
create or replace function outbox.verify_payloads(p_after uuid, p_to uuid)
returns table (invariant text, code text, subject text, detail text)
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan set enable_seqscan = off
as $$
#variable_conflict use_column
begin
  return query
  select 'I4', 'payload_differs', m.outbox_id::text, v.detail
    from outbox.payloads m
    left join lateral (select k.salt from outbox.dedupe k
                        where k.stream_id = m.stream_id and k.instruction_id = m.instruction_id and k.idempotency_key = m.idempotency_key
                          and k.outbox_id = m.outbox_id offset 0) k on true
   cross join lateral (
         select 'the payload is not the one that the hash was made of' as detail
          where sha256(uuid_send(k.salt) || convert_to(m.payload::text, 'UTF8')) <> m.payload_hash
         union all
         select 'the payload was erased, and the salt of its hash was not' where m.payload is null and k.salt is not null
         union all
         select format('line %s has the hash of another payload', min(a.attempt_no))
           from outbox.attempts a
          where a.outbox_id = m.outbox_id and a.class_id = get_byte(uuid_send(m.outbox_id), 7) and a.payload_hash <> m.payload_hash
         having count(*) > 0) v
   where m.outbox_id > p_after and m.outbox_id <= p_to;
end
$$;
comment on function outbox.verify_payloads(uuid, uuid) is 'Rows of a range whose payload or archive does not fit the hash.';
