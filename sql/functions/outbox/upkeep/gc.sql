-- Collects what is past its retention: whole archive partitions, the payloads of their rows, idempotency keys, and what layers above keep
-- of them. It never collects anything of a row that is pending, in flight or dead, however old, and never a partition in which a line was
-- written within the retention (a row delivered late); the payloads of such a partition's finished rows are erased. Lanes and captures
-- stay: numbering must not restart while anything remembers a number.
--
-- Work is bounded by p_batch rows, so that a call is short; "more" means that another one would find work. Payloads go first and the
-- partition last, because dropping it locks out claims of its class until the end of the transaction. A partition that is in use is left
-- for the next time.
create or replace function outbox.gc(p_batch integer default 10000) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '250ms'
as $$
declare
  v_leaf record;
  v_reason text;
  v_left integer := p_batch;
  v_rows integer;
  v_payloads integer := 0;
  v_keys integer;
  v_others jsonb;
  v_ripe text[] := '{}';
  v_name text;
  v_dropped jsonb := '[]';
  v_kept jsonb := '[]';
begin
  if p_batch is null or p_batch not between 1 and 1000000 then
    perform headroom.fail('invalid_input', 'A batch has 1 to 1000000 rows.');
  end if;
  -- One collector at a time; a second one would only wait for the first one's rows.
  if not headroom.try_turn('outbox.gc') then
    return jsonb_build_object('dropped', v_dropped, 'kept', v_kept, 'payloads', 0, 'keys', 0, 'more', false, 'busy', true);
  end if;

  v_keys := outbox.gc_keys(p_batch);
  v_others := headroom.run_hooks('outbox.collected', jsonb_build_object('batch', p_batch));
  for v_leaf in
    select p.*, c.retain_days
      from outbox.archive_partitions() p join outbox.retention_classes c on c.class_id = p.class_id
     where p.to_at < now() - make_interval(days => c.retain_days)
     order by p.from_id
  loop
    v_reason := outbox.why_keep_partition(v_leaf.class_id, v_leaf.partition, v_leaf.from_id, v_leaf.to_id, v_leaf.retain_days);
    if v_reason is null then
      with gone as (
        delete from outbox.payloads m
         where m.outbox_id in (select o.outbox_id from outbox.payloads o
                                where o.outbox_id >= v_leaf.from_id and o.outbox_id < v_leaf.to_id
                                  and get_byte(uuid_send(o.outbox_id), 7) = v_leaf.class_id
                                limit v_left)
        returning m.outbox_id
      ), unsaid as (
        delete from outbox.answers a using gone g where a.outbox_id = g.outbox_id
      )
      select count(*) into v_rows from gone g;
      v_payloads := v_payloads + v_rows;
      v_left := v_left - v_rows;
      if v_left > 0 then
        v_ripe := v_ripe || v_leaf.partition::text;
        continue;
      end if;
      v_reason := 'payloads_left';
    else
      v_rows := outbox.empty_finished(v_leaf.class_id, v_leaf.from_id, v_leaf.to_id, v_leaf.retain_days, v_left);
      v_payloads := v_payloads + v_rows;
      v_left := v_left - v_rows;
    end if;
    v_kept := v_kept || jsonb_build_object('partition', v_leaf.partition::text, 'reason', v_reason);
    exit when v_left = 0;
  end loop;

  foreach v_name in array v_ripe loop
    begin
      -- A name of the catalogue, already quoted where it must be.
      execute 'drop table ' || v_name;
      v_dropped := v_dropped || to_jsonb(v_name);
    exception when lock_not_available then
      v_kept := v_kept || jsonb_build_object('partition', v_name, 'reason', 'in_use');
    end;
  end loop;
  -- Last, because sessions that want one of them wait until this transaction ends.
  perform headroom.forget_turns(p_batch);
  return v_others || jsonb_build_object(
    'dropped', v_dropped, 'kept', v_kept, 'payloads', v_payloads, 'keys', v_keys,
    'more', v_left = 0 or v_keys = p_batch or v_others -> 'more' is not distinct from 'true', 'busy', false);
end
$$;
comment on function outbox.gc(integer)
  is 'Drops archive partitions past their retention, and what belongs to them; returns what it did, what it kept and why.';
