-- Of these rows, those that may be skipped before their payloads are erased: all rows of the named streams, those of a rail (unless the
-- idempotency key begins with p_but), and dead letters.
create or replace function outbox.choose_rows(p_outbox_ids uuid[], p_rail text, p_but text, p_streams text[]) returns uuid[]
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select array(select m.outbox_id
                 from outbox.payloads m
                 join outbox.rails r on r.rail_id = m.rail_id
                 join outbox.streams s on s.stream_id = m.stream_id
                where m.outbox_id = any (p_outbox_ids)
                  and (r.name = p_rail and not starts_with(m.idempotency_key, p_but) or s.name = any (p_streams)
                       or exists (select from outbox.dead d where d.outbox_id = m.outbox_id))
                order by m.outbox_id)
$$;
comment on function outbox.choose_rows(uuid[], text, text, text[]) is 'The rows that may be skipped before they are erased.';
