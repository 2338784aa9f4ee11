-- Where each of some rows is and what it waits for, by their ids, for the layers above; see outbox.place_of_row().
create or replace function outbox.places_of(p_outbox_ids uuid[]) returns table (outbox_id uuid, place jsonb)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select i.id, case when m.outbox_id is null then '{"place": "collected"}' else outbox.place_of_row(m, a) end
    from unnest(p_outbox_ids) i(id)
    left join outbox.payloads m on m.outbox_id = i.id
    left join outbox.last_lines(p_outbox_ids) a on a.outbox_id = i.id;
end
$$;
comment on function outbox.places_of(uuid[]) is 'Places of rows, and what each waits for.';
