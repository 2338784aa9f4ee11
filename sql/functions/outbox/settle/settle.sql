-- Records the outcomes of claimed rows of one stream, and moves their lanes on. Outcomes of a lane are in sending order and begin with the
-- first of its rows that is not settled yet.
--
-- The lease is the fence: a claim that has been reaped is gone, and a lane that has moved on has another claim, so a late outcome changes
-- nothing. The unique line number is its backstop.
--
-- It waits for no row lock: outcomes of a lane or a claim that an operator or the reaper holds at the moment come back as busy, and are to
-- be settled again; the others are settled. Two seconds bound every other wait.
--
-- Returns how many lines of each kind were written, including those that the call did not name, and which rows came too late, were given up
-- or are busy.
create or replace function outbox.settle(
  p_stream_id smallint,
  p_outcomes outbox.row_outcome[],
  out delivered integer, out retried integer, out released integer, out failed integer,
  out late uuid[], out given_up uuid[], out busy uuid[]
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
as $$
declare
  v_stream outbox.streams;
  v_live bigint[];
  v_late uuid[];
  v_busy uuid[];
  v_kept outbox.row_outcome[];
  v_lanes outbox.fenced_lane[];
  v_undelivered integer;
  v_stray text;
  v_bound boolean;
  v_captured boolean;
begin
  select count(*) filter (where o.kind <> 'delivered'),
         max(o.kind) filter (where o.kind not in ('delivered', 'retry', 'unknown', 'rejected', 'released')),
         bool_or(o.destination_id is not null), bool_or(o.captured is not null)
    into v_undelivered, v_stray, v_bound, v_captured
    from unnest(p_outcomes) o;
  if v_stray is not null then
    perform headroom.fail('invalid_input', format('There is no outcome "%s".', left(v_stray, 80)), null,
      'Known: delivered, retry, unknown, rejected, released. Nothing was changed.');
  end if;
  select * into v_stream from outbox.streams where stream_id = p_stream_id;
  if not found then
    perform headroom.fail('unknown_stream', format('There is no stream with the number %s.', p_stream_id));
  end if;
  select array_agg(c.claim_id) into v_live
    from (select c.claim_id from outbox.claims c
           where c.claim_id in (select distinct o.claim_id from unnest(p_outcomes) o) order by c.claim_id for update skip locked) c;

  if v_stream.ordered then
    v_lanes := outbox.fence_lanes(v_live, p_outcomes);
    if v_lanes is null then
      select l.late, l.busy into v_late, v_busy from outbox.late_in_lanes(v_live, p_outcomes) l;
      if v_late is null and v_busy is null then
        -- The session that held a lane has let go of it meanwhile, and now we hold it.
        v_lanes := outbox.fence_lanes(v_live, p_outcomes);
      end if;
    end if;
  else
    select l.late, l.busy into v_late, v_busy from outbox.late_rows(v_stream, v_live, p_outcomes) l;
  end if;
  if v_late is not null or v_busy is not null then
    select array_agg(o) into v_kept from unnest(p_outcomes) o where o.outbox_id <> all (coalesce(v_late, '{}') || coalesce(v_busy, '{}'));
    if v_kept is null then
      select 0, 0, 0, 0, v_late, v_busy into delivered, retried, released, failed, late, busy;
    else
      select s.delivered, s.retried, s.released, s.failed, v_late || s.late, s.given_up, v_busy || s.busy
        into delivered, retried, released, failed, late, given_up, busy
        from outbox.settle(p_stream_id, v_kept) s;
    end if;
    return;
  end if;

  delivered := cardinality(p_outcomes) - v_undelivered;
  retried := 0;
  released := 0;
  failed := 0;
  if v_stream.ordered then
    perform outbox.settle_lanes(v_stream, v_lanes, p_outcomes);
    if v_captured then
      perform outbox.store_captures(p_outcomes);
    end if;
    if v_undelivered > 0 then
      select e.retried, e.released, e.failed, e.given_up into retried, released, failed, given_up
        from outbox.settle_lane_exceptions(v_stream, p_outcomes) e;
    end if;
  else
    perform outbox.settle_rows(v_stream, p_outcomes);
    if v_undelivered > 0 then
      select e.retried, e.released, e.failed, e.given_up into retried, released, failed, given_up
        from outbox.settle_row_exceptions(v_stream, p_outcomes) e;
    end if;
  end if;
  if v_bound then
    perform outbox.note_destinations(p_outcomes);
  end if;
end
$$;
comment on function outbox.settle(smallint, outbox.row_outcome[])
  is 'Records outcomes of claimed rows and moves their lanes on; counts its lines, names rows that were late, given up, or must wait. '
     'Nullable: late, given_up, busy.';
