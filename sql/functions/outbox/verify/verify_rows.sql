-- One batch of rows in the order of their ids: the archive's lines and what the row carries (I4), and the one place of each row (I6). The
-- next batch begins after last_id; the last one has last_id null.
--
-- Stable on purpose: one call, one snapshot, and nothing held between two.
create or replace function outbox.verify_rows(
  p_after uuid, p_limit integer, out last_id uuid, out deliveries bigint, out lines bigint, out findings jsonb
)
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan set enable_seqscan = off
as $$
declare
  v_to uuid;
begin
  if p_limit is null or p_limit not between 1 and 100000 then
    perform headroom.fail('invalid_input', 'A batch has 1 to 100000 rows.');
  end if;
  select count(*), (array_agg(q.outbox_id order by q.outbox_id desc))[1] into deliveries, v_to
    from (select m.outbox_id from outbox.payloads m where m.outbox_id > p_after order by m.outbox_id limit p_limit) q;
  last_id := case when deliveries = p_limit then v_to end;
  v_to := coalesce(last_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');

  select count(*) into lines from outbox.attempts a where a.outbox_id > p_after and a.outbox_id <= v_to;
  select coalesce(jsonb_agg(to_jsonb(f) order by f.invariant, f.subject), '[]') into findings
    from (select * from outbox.verify_lines(p_after, v_to)
          union all
          select * from outbox.verify_payloads(p_after, v_to)
          union all
          select * from outbox.verify_places(p_after, v_to)) f;
end
$$;
comment on function outbox.verify_rows(uuid, integer) is 'Verifies a batch of rows: lines, payload, place. Nullable: last_id.';
