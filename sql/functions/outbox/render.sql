-- What the renderers that these rows name make of them now. Stable, so a renderer can read everything and write nothing. One that
-- fails is told with its row, and the others go out.
create or replace function outbox.render(p_outbox_ids uuid[]) returns table (outbox_id uuid, renderer text, payload jsonb, problem text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_row record;
begin
  for v_row in
    select p.outbox_id, p.payload, r.name, r.function_name
      from outbox.payloads p
     cross join jsonb_path_query(p.binds, '$[*].renderer') b
      join outbox.renderers r on r.name = b #>> '{}'
     where p.outbox_id = any (p_outbox_ids)
  loop
    outbox_id := v_row.outbox_id;
    renderer := v_row.name;
    problem := null;
    begin
      execute format('select %s($1)', v_row.function_name) into payload using v_row.payload;
      if payload is null then
        problem := 'it answered null';
      end if;
    exception when others then
      payload := null;
      problem := sqlerrm;
    end;
    return next;
  end loop;
end
$$;
comment on function outbox.render(uuid[]) is 'What renderers make of rows at the moment of sending. Nullable: payload, problem.';
