/**
 * An upgrade changes tables that others are using. A session that holds one of them may wait for another that the upgrade has locked:
 * a deadlock, and the server may abort either. So the upgrade takes all its locks before it changes anything, in less time than the server
 * waits before it checks for deadlocks (a second), and releases all of them before it tries again.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { ClientBase } from "pg";
import { HeadroomError, sqlStateOf } from "../errors.ts";
import { ownerRole } from "./history.ts";

const patienceMs = { oneLock: 200, allLocks: 800 } as const;

/** The SQLSTATEs of the two time limits: one lock was not granted in time, or all of them together were not. */
const tooSlow = ["55P03", "57014"];

/** Our tables. Locking one takes its partitions with it. */
const ourTables = `
select array_agg(format('%I.%I', n.nspname, c.relname) order by n.nspname, c.relname) as names
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where c.relkind in ('r', 'p') and not c.relispartition and c.relowner = '${ownerRole}'::regrole`;

const users = `
select distinct concat_ws(' ', 'session ' || l.pid, 'of ' || a.usename, '(' || nullif(a.application_name, '') || ')') as who
  from pg_locks l join pg_class c on c.oid = l.relation left join pg_stat_activity a on a.pid = l.pid
 where l.granted and l.pid <> pg_backend_pid() and c.relowner = '${ownerRole}'::regrole
   and l.database = (select oid from pg_database where datname = current_database())
 order by 1 limit 5`;

/** Resolves once nobody else uses our tables; nobody can until the end of the transaction. */
export async function stopWriters(client: ClientBase, lockTimeoutMs: number, signal?: AbortSignal): Promise<void> {
  const found = await client.query<{ names: string[] | null }>(ourTables);
  const names = found.rows[0]?.names ?? [];
  if (names.length === 0) return;
  const deadline = performance.now() + lockTimeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    await client.query(
      `savepoint stopping; set local role ${ownerRole}; set local lock_timeout = ${Math.min(patienceMs.oneLock, lockTimeoutMs)};
       set local statement_timeout = ${patienceMs.allLocks}`,
    );
    try {
      await client.query(`lock table ${names.join(", ")} in access exclusive mode`);
      break;
    } catch (error) {
      if (!tooSlow.includes(sqlStateOf(error) ?? "")) throw error;
      await client.query("rollback to savepoint stopping; release savepoint stopping");
      if (performance.now() > deadline) throw await inUse(client, error);
      await delay(20 + Math.random() * 80, undefined, { signal });
    }
  }
  await client.query(
    `release savepoint stopping; set local lock_timeout = ${lockTimeoutMs}; set local statement_timeout = 0; reset role`,
  );
}

/**
 * A session that was inside a function when the locks were taken continues in its old body once they are released, and writes rows that
 * nobody claims. Most come within this second and are repaired here; relays repair the rest, and what fails here.
 */
export async function repairLateRows(client: ClientBase): Promise<void> {
  await delay(1_000);
  const repair = `begin; set local role ${ownerRole}; do $$ begin
    if to_regprocedure('outbox.repair_ways()') is not null then perform outbox.repair_ways(); end if;
  end $$; commit`;
  await client.query(repair).catch(() => client.query("rollback"));
}

async function inUse(client: ClientBase, cause: unknown): Promise<HeadroomError> {
  const { rows } = await client.query<{ who: string }>(users);
  return new HeadroomError("try_again", "Other sessions have been using Headroom's tables for too long.", {
    sqlState: "55P03",
    detail: rows.map(({ who }) => who).join(", "),
    hint: "Let these sessions end, or end them, and migrate again. Nothing was changed.",
    cause,
  });
}
