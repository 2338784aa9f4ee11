-- A page of a comparison came back: each of its objects is read separately, like any answer, and the next page is requested, of the same
-- kind of objects or of the next kind. An object that cannot be read is recorded as a finding and stops nothing.
create or replace function billing.read_page(p_sighting billing.sightings) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_kinds constant text[] := '{sessions,invoices,refunds,disputes,changes}';
  v_reconciliation billing.reconciliations;
  v_kind text;
begin
  select r.* into v_reconciliation from billing.reconciliations r
   where r.id = split_part(p_sighting.outbox_key, ':', 2)::uuid and r.finished_at is null for update;
  if v_reconciliation.id is null then
    return;
  end if;
  insert into billing.sightings (outbox_key, object, seen_at)
  select 'found:' || v_reconciliation.id, o, p_sighting.seen_at from jsonb_array_elements(p_sighting.object -> 'objects') o
   where jsonb_typeof(o) = 'object' order by o ->> 'status' in ('failed', 'canceled') is not true;
  v_kind := split_part(v_reconciliation.cursor, ':', 1);
  perform billing.record_unreadable(u.id, left(v_kind, -1), null, 'list:' || v_reconciliation.id)
     from jsonb_array_elements_text(case jsonb_typeof(p_sighting.object -> 'unread') when 'array' then p_sighting.object -> 'unread'
                                      else '[]' end) u(id);
  update billing.reconciliations r
     set pages = r.pages + 1, moved_at = clock_timestamp(), seen = r.seen + jsonb_array_length(p_sighting.object -> 'objects'),
         cursor = coalesce(v_kind || ':' || (p_sighting.object ->> 'cursor'), v_kinds[array_position(v_kinds, v_kind) + 1] || ':'),
         finished_at = case when p_sighting.object ->> 'cursor' is null and v_kind = v_kinds[cardinality(v_kinds)]
                            then clock_timestamp() end
   where r.id = v_reconciliation.id
  returning r.* into v_reconciliation;
  if v_reconciliation.finished_at is null then
    perform billing.ask_page(v_reconciliation);
  end if;
end
$$;
comment on function billing.read_page(billing.sightings) is 'Reads a page of a comparison and requests the next.';
