-- Takes back what dead relays held. The cost follows the number of leases, never the size of the archive. Each row gets a ZOMBIE_REQUEUE
-- line and is uncertain from then on: its relay may have sent it before it died. A reap counts as a try. Claims that are being settled at
-- the moment are skipped: the settle comes first. If a claim cannot be taken back, it stays as it is (and is counted as stuck) while the
-- others are taken back; so do the lanes that an operator holds.
create or replace function outbox.reap(p_max_claims integer default 100) returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan
  set lock_timeout = '2s'
as $$
declare
  v_claim outbox.claims;
  v_stream outbox.streams;
  v_rows integer;
  v_reaped integer := 0;
  v_table text;
  v_constraint text;
begin
  for v_claim in
    select * from outbox.claims where lease_until < now() order by claim_id limit p_max_claims for update skip locked
  loop
    begin
      select * into v_stream from outbox.streams where stream_id = v_claim.stream_id;
      if v_stream.ordered then
        v_rows := outbox.reap_lanes(v_stream, v_claim);
      else
        v_rows := outbox.reap_rows(v_stream, v_claim);
      end if;
      delete from outbox.claims c
       where c.claim_id = v_claim.claim_id
         and not exists (select from outbox.heads h where h.lane_id = any (v_claim.lane_ids) and h.claim_id = v_claim.claim_id);
      if not found then
        -- What is left is checked again after the others.
        update outbox.claims c set lease_until = now() + interval '5 s', lane_ids = l.lane_ids, open = cardinality(l.lane_ids)
          from (select array_agg(h.lane_id) as lane_ids from outbox.heads h
                 where h.lane_id = any (v_claim.lane_ids) and h.claim_id = v_claim.claim_id) l
         where c.claim_id = v_claim.claim_id;
      end if;
      v_reaped := v_reaped + v_rows;
    exception when others then
      get stacked diagnostics v_table = table_name, v_constraint = constraint_name;
      raise warning 'claim % of stream % was not taken back: %', v_claim.claim_id, v_stream.name, sqlerrm
        using hint = case when sqlstate = '23514' and v_table like 'attempts%' and v_constraint = ''
                          then 'The archive lacks a partition: select outbox.ensure_partitions();' else 'It will be tried again.' end;
    end;
  end loop;
  return v_reaped;
end
$$;
comment on function outbox.reap(integer) is 'Requeues rows whose lease ran out, and returns how many.';
