/**
 * Has pg_cron run the timers and send what people are told, and Realtime tell open pages that something came, where the platform has them:
 * once what they call is committed, and as who migrates, because that is who holds the rights to them.
 *
 * pg_cron's launcher reads its jobs anew when it hears that their table changed, and a transaction as large as a migration makes the server
 * tell it instead that anything may have changed, which it does not take for that: the job exists and is never run. So jobs are
 * scheduled in small transactions of their own. The launcher listens once a second, and what it has not heard by then goes down with
 * the large one's; hence once more, and once more for a launcher that is slow.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { ClientBase } from "pg";
import { HeadroomError, toHeadroomError } from "../errors.ts";

const rounds = 3;
const launcherRoundMs = 1_500;

/** Each statement is a transaction. `repeat` says that the transaction before was a large one. */
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
    hint: "See to pg_cron and migrate again, or run a relay: it runs the timers too.",
    sqlState: failure.sqlState,
    cause: error,
  });
}
