/**
 * Makes pg_cron run the timers and send notifications, and Realtime notify open pages, where the platform has them. This runs after the
 * functions that they call are committed, and as the migrating role, because that role has the rights to pg_cron and Realtime.
 *
 * pg_cron's launcher reads its jobs again when the server reports that their table changed. After a transaction as large as a migration the
 * server reports that anything may have changed, which the launcher ignores: the job exists and never runs. So jobs are scheduled in
 * separate small transactions. The launcher reads these reports once a second, and a small one that is still unread is lost among those of
 * the large transaction; so we schedule a second time, and a third for a slow launcher.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { ClientBase } from "pg";
import { HeadroomError, toHeadroomError } from "../errors.ts";

const rounds = 3;
const launcherRoundMs = 1_500;

/** Each statement is a transaction. `repeat`: the transaction before this was a large one. */
export async function scheduleTimers(
  client: ClientBase,
  repeat: boolean,
  signal: AbortSignal | undefined,
): Promise<void> {
  const found = await client.query("select from pg_proc where oid = to_regprocedure('capacity.schedule_timers()')");
  if (found.rows.length === 0) return;
  await client.query("select notify.connect_realtime()").catch(refuse);
  for (let round = 1; ; round += 1) {
    await client.query("select notify.schedule_dispatcher()").catch(refuse);
    const answer = await client.query<{ by: string }>("select capacity.schedule_timers() as by").catch(refuse);
    if (!repeat || round === rounds || answer.rows[0]?.by !== "pg_cron") return;
    await delay(launcherRoundMs, undefined, { signal });
  }
}

function refuse(error: unknown): never {
  const failure = toHeadroomError(error);
  throw new HeadroomError("timers_not_scheduled", `The schema is in place, but not its timers: ${failure.message}`, {
    detail: failure.detail,
    hint: "Repair pg_cron and migrate again, or run a relay: it runs the timers too.",
    sqlState: failure.sqlState,
    cause: error,
  });
}
