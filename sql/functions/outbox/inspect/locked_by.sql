-- Who has locked what a waiting row needs in order to be claimed: its head, the row itself, or the gate of its destination. Relays pass by
-- what is locked, so nothing else would show it. Null when it is not locked; a relay locks it for a few milliseconds.
--
-- The row says which transaction locked it last, and the server knows which session runs that. Only those who may see the other session's
-- statistics are told since when it has been open.
create or replace function outbox.locked_by(p_row outbox.payloads, p_destination text) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_strip_nulls(jsonb_build_object(
           'reason', 'locked', 'what', k.what, 'pid', l.pid, 'login', a.usename, 'application', nullif(a.application_name, ''),
           'since', a.xact_start))
    from (select 'key' as what, h.xmax as holder from outbox.heads h where h.lane_id = p_row.lane_id
          union all
          select 'row', u.xmax from outbox.pending_unordered u where u.outbox_id = p_row.outbox_id
          union all
          select 'destination', g.xmax from outbox.gates g where g.name = p_destination) k
    join pg_locks l on l.locktype = 'transactionid' and l.granted and l.mode = 'ExclusiveLock' and l.transactionid = k.holder
    left join pg_stat_activity a on a.pid = l.pid
   where l.pid <> pg_backend_pid()
   limit 1
$$;
comment on function outbox.locked_by(outbox.payloads, text)
  is 'Who has locked what a row needs in order to be claimed. Nullable: p_destination, result.';
