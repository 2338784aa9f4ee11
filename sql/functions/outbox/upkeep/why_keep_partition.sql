-- Why an old archive partition must stay, or null when it may go. The answer stays true until it is dropped: a row
-- that is finished never comes back, and new rows have new ids.
--
-- The archive is written front to back, so a recent line is nearly always found on the last pages; only a partition that is about to be
-- dropped is read as a whole.
create or replace function outbox.why_keep_partition(
  p_class_id smallint, p_partition regclass, p_from uuid, p_to uuid, p_retain_days integer
) returns text
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_since timestamptz := now() - make_interval(days => p_retain_days);
  v_last_pages text := format('(%s,0)', greatest(0, pg_relation_size(p_partition) / current_setting('block_size')::bigint - 500));
  v_recent boolean;
begin
  if exists (select from outbox.dead d where d.outbox_id >= p_from and d.outbox_id < p_to
                and get_byte(uuid_send(d.outbox_id), 7) = p_class_id) then
    return 'dead_letters';
  elsif exists (select from outbox.pending p
                 where p.outbox_id >= p_from and p.outbox_id < p_to and get_byte(uuid_send(p.outbox_id), 7) = p_class_id)
     or exists (select from outbox.pending_unordered u
                 where u.outbox_id >= p_from and u.outbox_id < p_to and get_byte(uuid_send(u.outbox_id), 7) = p_class_id) then
    return 'pending_rows';
  elsif exists (select from outbox.claims c, unnest(c.outbox_ids) i(id)
                 where i.id >= p_from and i.id < p_to and get_byte(uuid_send(i.id), 7) = p_class_id) then
    return 'rows_in_flight';
  end if;
  execute format('select exists (select from %s a where a.ctid >= %L::tid and a.recorded_at >= $1)', p_partition, v_last_pages)
    into v_recent using v_since;
  if not v_recent then
    execute format('select exists (select from %s a where a.recorded_at >= $1)', p_partition) into v_recent using v_since;
  end if;
  return case when v_recent then 'recent_lines' end;
end
$$;
comment on function outbox.why_keep_partition(smallint, regclass, uuid, uuid, integer)
  is 'The reason why an archive partition past its retention is kept, if there is one. Nullable: result.';
