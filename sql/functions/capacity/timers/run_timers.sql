-- The sweep: expires what is due, warns before deadlines, reports customers whose mail was given up, marks late reviews and reminds people
-- of them, finishes erasures that waited for messages on their way, runs the timers of layers above, and releases due notifications.
-- It also forgets expired messages to one person. It is safe to run from several places at the same time, and as often as
-- you like. A failing row is recorded in capacity.timer_failures, named in the answer, and skipped for a while; it stops nothing else.
--
-- p_most limits how many requests of each kind one call handles, since it is one transaction; `more` says that the limit was
-- reached, so that calling again immediately is useful. p_runner names the caller, for the record of the last sweep (capacity.timer_runs).
--
-- A definer function, because pg_cron runs it as the login that migrated, who may be a superuser: nothing that it calls needs more than the
-- owner's rights.
create or replace function capacity.run_timers(p_most integer, p_runner text) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_max integer := least(greatest(coalesce(p_most, 200), 1), 10000);
  v_expiry record;
  v_warning record;
  v_unasked record;
  v_review record;
  v_erasure record;
  v_past record;
  v_above record;
  v_told record;
  v_failed jsonb;
begin
  v_expiry := capacity.timer_expire(v_max);
  v_warning := capacity.timer_warn(v_max);
  v_unasked := capacity.timer_unasked(v_max);
  v_review := capacity.timer_review(v_max);
  v_erasure := capacity.timer_erase(v_max);
  v_past := capacity.timer_forget();
  v_above := capacity.timer_layers_above(v_max);
  v_told := capacity.timer_release(v_max);
  v_failed := v_expiry.failed || v_warning.failed || v_unasked.failed || v_review.failed || v_erasure.failed || v_past.failed
    || v_above.failed || v_told.failed;
  -- Updates the runner's own row. If another sweep of the same kind holds it, that sweep records the same: nobody waits here for an open
  -- transaction. An unknown runner is recorded as a call.
  update capacity.timer_runs t
     set login = session_user, began_at = now(), ended_at = clock_timestamp(), failures = jsonb_array_length(v_failed)
   where t.runner = (select l.runner from capacity.timer_runs l
                      where l.runner = case when p_runner in ('worker', 'server', 'turn', 'pg_cron') then p_runner else 'call' end
                        for update skip locked);
  return jsonb_build_object(
    'expired', v_expiry.expired, 'warned', v_warning.warned, 'unasked', v_unasked.told, 'reminded', v_review.reminded,
    'late', v_review.late, 'erased', v_erasure.erased, 'above', v_above.moved,
    'failed', v_failed,
    'more', v_expiry.more or v_warning.more or v_unasked.more or v_review.more or v_erasure.more or v_past.more
              or v_above.more or v_told.more);
end
$$;
comment on function capacity.run_timers(integer, text) is 'Runs the timers of capacity requests and says what they did.';
