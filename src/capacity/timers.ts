/**
 * The clock of the workflow, as the worker has it: runs the sweep of public.run_capacity_request_timers() once a minute.
 *
 * Owns: when it runs, and saying what came of it. Does not own: what is due, and that several sweeps at once are safe; both are
 * the database's. So every worker sweeps, whether pg_cron does so too or not, and none waits for another.
 */
import { z } from "zod";
import { call, type Queryable } from "../db/call.ts";
import { createPool, surviveLostConnections } from "../db/connect.ts";
import { toHeadroomError } from "../db/errors.ts";
import type { RelayLogEntry } from "../outbox/options.ts";
import { pause } from "../outbox/pause.ts";
import { Session } from "../outbox/session.ts";

const failureSchema = z.object({
  request_id: z.string(),
  timer: z.string(),
  code: z.string(),
  message: z.string(),
  failures: z.number(),
  retry_at: z.string(),
});

const sweepSchema = z.object({
  expired: z.number(),
  warned: z.number(),
  unasked: z.number(),
  reminded: z.number(),
  late: z.number(),
  erased: z.number(),
  failed: z.array(failureSchema),
  more: z.boolean(),
});

/** A request on which a timer failed; the others were not kept from theirs. */
export type TimerFailure = z.infer<typeof failureSchema>;

/** What one sweep did. `more`: it took on as many as it may, so another one at once is worth it. */
export type Sweep = z.infer<typeof sweepSchema>;

export async function runTimers(db: Queryable): Promise<Sweep> {
  return sweepSchema.parse(await call(db, "public.run_capacity_request_timers", {}));
}

export interface TimersOptions {
  readonly connectionString: string;
  /** How often to sweep, 100 to 3,600,000. Default: 60,000. */
  readonly everyMs?: number | undefined;
  /** How long `stop()` lets a sweep that is under way finish; one that is cut off is rolled back whole. Default: 5,000. */
  readonly stopMs?: number | undefined;
  /** Receives log entries. Default: nothing is logged. */
  readonly log?: ((entry: RelayLogEntry) => void) | undefined;
}

export interface Timers {
  /** Lets a sweep that is under way finish for up to `stopMs`, and closes. */
  stop(): Promise<void>;
}

const defaults = { everyMs: 60_000, stopMs: 5_000 } as const satisfies Partial<TimersOptions>;

/** After a long outage there is much to do; beyond this the next minute goes on with it. */
const mostSweepsAtOnce = 100;

/** Begins at once. Failures are logged and never thrown: the next sweep does what this one could not. */
export function startTimers(options: TimersOptions): Timers {
  const { everyMs = defaults.everyMs, stopMs = defaults.stopMs, log = () => undefined } = options;
  const stopping = new AbortController();
  const pool = createPool(options.connectionString, { applicationName: "headroom timers", maxConnections: 1 });
  surviveLostConnections(pool);
  const session = new Session(pool);
  const loop = (async () => {
    while (!stopping.signal.aborted) {
      await sweepAll(session, log, stopping.signal);
      // Spread, so that workers started together do not come together.
      await pause(everyMs * (0.9 + Math.random() * 0.2), stopping.signal);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      const enough = new AbortController();
      await Promise.race([loop.finally(() => enough.abort()), pause(stopMs, enough.signal)]);
      // A database that does not answer must not keep a stopping worker: the connection is cut, whatever runs on it.
      session.close();
      await pool.end();
    },
  };
}

async function sweepAll(session: Session, log: (entry: RelayLogEntry) => void, signal: AbortSignal): Promise<void> {
  try {
    for (let turn = 0; turn < mostSweepsAtOnce && !signal.aborted; turn += 1) {
      const sweep = await session.use((db) => runTimers(db));
      report(sweep, log);
      if (!sweep.more) return;
    }
  } catch (error) {
    if (signal.aborted) return;
    const { code, sqlState } = toHeadroomError(error);
    log({ level: "warn", event: "timers_failed", code, sqlState });
  }
}

function report(sweep: Sweep, log: (entry: RelayLogEntry) => void): void {
  const { expired, warned, unasked, reminded, late, erased, failed } = sweep;
  if (expired + warned + unasked + reminded + late + erased > 0)
    log({ level: "info", event: "timers_ran", expired, warned, unasked, reminded, late, erased });
  for (const { request_id, timer, code, failures } of failed) {
    log({ level: "error", event: "timer_failed", request: request_id, what: timer, code, failures });
  }
}
