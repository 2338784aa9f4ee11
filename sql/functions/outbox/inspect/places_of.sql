-- Where each of some rows is and what it waits for, by id, for the layers above; see outbox.place_of_row(). A waiting row shows where it is
-- without the archive; the archive is asked once, for all others.
--
-- One after the other: usually there are few, and setting up a query for all of them takes longer than running those.
create or replace function outbox.places_of(p_outbox_ids uuid[]) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
declare
  v_id uuid;
  v_row outbox.payloads;
  v_place jsonb;
  v_places jsonb := '{}';
  v_unknown uuid[] := '{}';
  v_lines outbox.attempts[];
  v_line outbox.attempts;
  v_at integer := 1;
begin
  foreach v_id in array array(select distinct i from unnest(p_outbox_ids) i where i is not null order by i) loop
    select m.* into v_row from outbox.payloads m where m.outbox_id = v_id;
    v_place := case when found then outbox.place_of_row(v_row, null, false) else '{"place": "collected"}' end;
    if v_place is null then
      v_unknown := v_unknown || v_id;
    else
      v_places := v_places || jsonb_build_object(v_id, v_place);
    end if;
  end loop;
  if v_unknown = '{}' then
    return v_places;
  end if;

  -- Both are in the order of the ids; some rows no longer have lines.
  v_lines := outbox.last_lines(v_unknown);
  foreach v_id in array v_unknown loop
    select m.* into v_row from outbox.payloads m where m.outbox_id = v_id;
    v_line := null;
    if v_lines[v_at].outbox_id = v_id then
      v_line := v_lines[v_at];
      v_at := v_at + 1;
    end if;
    v_places := v_places || jsonb_build_object(v_id, outbox.place_of_row(v_row, v_line, true));
  end loop;
  return v_places;
end
$$;
comment on function outbox.places_of(uuid[]) is 'Places of rows by their ids, and what each waits for.';
