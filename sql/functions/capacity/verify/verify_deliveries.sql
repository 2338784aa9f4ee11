-- One batch of the verification of outbox rows, in the order of their ids: the event or notice that named each row
-- (I3), the archive's lines and the row's content (I4), and the single place of each row (I6). The next batch begins after last_id; the
-- last one has last_id null.
--
-- Stable, like capacity.verify_requests(): one call, one snapshot, and nothing held between two.
create or replace function capacity.verify_deliveries(
  p_after uuid default '00000000-0000-0000-0000-000000000000', p_limit integer default 10000,
  out last_id uuid, out deliveries bigint, out lines bigint, out findings jsonb
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_custom_plan set enable_seqscan = off
as $$
declare
  v_batch record := outbox.verify_rows(p_after, p_limit);
begin
  last_id := v_batch.last_id;
  deliveries := v_batch.deliveries;
  lines := v_batch.lines;
  select coalesce(jsonb_agg(to_jsonb(f) order by f.invariant, f.subject), '[]') || v_batch.findings into findings
    from capacity.verify_origins(p_after, coalesce(last_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff')) f;
end
$$;
comment on function capacity.verify_deliveries(uuid, integer)
  is 'Verifies a batch of outbox rows: origin, lines, place. Nullable: last_id.';
