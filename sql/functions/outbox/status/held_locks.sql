-- Sessions that have locked what relays and timers pass by while it is locked (turns, gates, heads, claims, rows without order), or that
-- block a session working on our tables. Each lock is normal for a moment, so callers ask twice: a transaction that is in both answers has
-- been open all that time.
--
-- A login that may not see other logins' statistics gets pid, login and application of a session, but not its state, nor since when its
-- transaction has been open.
create or replace function outbox.held_locks()
returns table (pid integer, transaction text, login text, application text, state text, since timestamptz, turns text[],
               destinations text[], tables text[], waiting integer, waiting_since timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with lock as materialized (
    select l.* from pg_locks l where l.pid <> pg_backend_pid()
  ), ours as materialized (
    select l.pid, l.mode, l.granted, l.relation
      from lock l join pg_class c on c.oid = l.relation
     where l.locktype = 'relation' and l.database = (select d.oid from pg_database d where d.datname = current_database())
       and c.relowner = 'headroom_owner'::regrole
  ), waited as (
    select b.pid, count(*)::integer as waiting, min(w.waitstart) as waiting_since
      from (select l.pid, min(l.waitstart) as waitstart from lock l
             where not l.granted and l.pid in (select o.pid from ours o) group by l.pid) w
     cross join lateral (select distinct b from unnest(pg_blocking_pids(w.pid)) b) b(pid)
     group by b.pid
  ), holder as (
    select o.pid, array_agg(distinct o.relation::regclass::text order by o.relation::regclass::text) as tables
      from ours o
     where o.granted and o.mode in ('RowShareLock', 'RowExclusiveLock')
       and o.relation = any ('{headroom.turns,outbox.gates,outbox.heads,outbox.claims,outbox.pending_unordered}'::regclass[])
     group by o.pid
    having bool_or(o.mode = 'RowShareLock')
  )
  select a.pid, v.virtualtransaction, a.usename::text, nullif(a.application_name, ''), a.state, a.xact_start,
         array(select t.name from headroom.turns t join lock l on l.transactionid = t.xmax
                where l.pid = a.pid and l.locktype = 'transactionid' and l.granted order by 1),
         array(select g.name from outbox.gates g join lock l on l.transactionid = g.xmax
                where l.pid = a.pid and l.locktype = 'transactionid' and l.granted order by 1),
         coalesce(h.tables, '{}'), coalesce(w.waiting, 0), w.waiting_since
    from holder h
    full join waited w on w.pid = h.pid
    join pg_stat_activity a on a.pid = coalesce(h.pid, w.pid)
    join lock v on v.pid = a.pid and v.locktype = 'virtualxid' and v.granted and v.mode = 'ExclusiveLock'
   order by a.pid;
$$;
comment on function outbox.held_locks()
  is 'Sessions that hold turns, gates or rows of the engine, or that block others. Nullable: login, application, state, since, '
     'waiting_since.';
