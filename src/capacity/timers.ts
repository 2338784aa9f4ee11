/**
 * The clock of the workflow, as processes have it: the sweep of public.run_capacity_request_timers(), once a minute in those that run for
 * long, and before a turn in relays on demand.
 *
 * Owns: when it runs, and saying what came of it. Does not own: what is due, and that several sweeps at once are safe; both are
 * the database's. So every process sweeps, whether pg_cron does so too or not, and none waits for another.
 */
import { z } from "zod";
import { call, type Queryable } from "../db/call.ts";
import { createPool, surviveLostConnections } from "../db/connect.ts";
import { toHeadroomError } from "../db/errors.ts";
import { isEngineAlone, readInstalledParts } from "../db/installed.ts";
import { withSettings } from "../db/transaction.ts";
import type { TurnStart } from "../outbox/relay/drain.ts";
import type { RelayLogEntry } from "../outbox/observe/log.ts";
import { HeldConnection } from "../db/held-connection.ts";
import { pause } from "../db/wait/pause.ts";
import { withTimeout } from "../db/wait/with-timeout.ts";

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
  /** What layers above did, by their name: how many things about money were looked at, and how many provisioning jobs were moved. */
  above: z.object({ billing: z.number(), provisioning: z.number() }),
  failed: z.array(failureSchema),
  more: z.boolean(),
});

/** A request on which a timer failed; the others were not kept from theirs. */
export type TimerFailure = z.infer<typeof failureSchema>;

/** What one sweep did. `more`: it took on as many as it may, so another one at once is worth it. */
export type Sweep = z.infer<typeof sweepSchema>;

/** Who sweeps, for the record of who swept last (capacity.timer_runs): a worker, a server, or a turn on demand. */
export type TimerRunner = "worker" | "server" | "turn";

export interface SweepOptions {
  readonly runner?: TimerRunner | undefined;
  /** Most requests of each kind in this sweep. Default: 200. */
  readonly most?: number | undefined;
}

export async function runTimers(db: Queryable, { runner, most }: SweepOptions = {}): Promise<Sweep> {
  return sweepSchema.parse(await call(db, "public.run_capacity_request_timers", { p_most: most, p_runner: runner }));
}

type Log = (entry: RelayLogEntry) => void;

/** Lends a connection for as long as the work takes. */
type Lend = <T>(work: (db: Queryable) => Promise<T>) => Promise<T>;

export interface TimersOptions extends SweepOptions {
  /** Where the database is, as a member of headroom_executor. Either this or `use`. */
  readonly connectionString?: string | undefined;
  /** Lends a connection of the caller's for one sweep, as anybody who may sweep. */
  readonly use?: Lend | undefined;
  /** How often to sweep, 100 to 3,600,000. Default: 60,000. */
  readonly everyMs?: number | undefined;
  /** How long `stop()` lets a sweep that is under way finish; one that is cut off is rolled back whole. Default: 5,000. */
  readonly stopMs?: number | undefined;
  /** Receives log entries. Default: nothing is logged. */
  readonly log?: Log | undefined;
}

export interface Timers {
  /** Lets a sweep that is under way finish for up to `stopMs`, and closes. */
  stop(): Promise<void>;
}

const defaults = { everyMs: 60_000, stopMs: 5_000, runner: "worker" } as const satisfies Partial<TimersOptions>;

/** After a long outage there is much to do; beyond this the next minute goes on with it. */
const maxSweepsAtOnce = 100;

/** Begins at once. Failures are logged and never thrown: the next sweep does what this one could not. */
export function startTimers(options: TimersOptions): Timers {
  const { everyMs = defaults.everyMs, stopMs = defaults.stopMs, runner = defaults.runner, most } = options;
  const log = options.log ?? ignore;
  const stopping = new AbortController();
  const { lend, note, close } = connectionOf(options);
  const loop = (async () => {
    while (!stopping.signal.aborted) {
      await sweepAll({ lend, note, runner, most, log, signal: stopping.signal });
      // Spread, so that processes started together do not come together.
      await pause(everyMs * (0.9 + Math.random() * 0.2), stopping.signal);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await withTimeout(loop, stopMs);
      await close();
    },
  };
}

interface Connection {
  readonly lend: Lend;
  readonly note: Lend | undefined;
  readonly close: () => Promise<void>;
}

function connectionOf({ connectionString = "", use }: TimersOptions): Connection {
  if (use !== undefined) return { lend: use, note: undefined, close: () => Promise.resolve() };
  const pool = createPool(connectionString, { applicationName: "headroom timers", maxConnections: 1 });
  surviveLostConnections(pool);
  const connection = new HeldConnection(pool);
  const lend: Lend = (work) => connection.use(work);
  return {
    lend,
    note: lend,
    async close() {
      // A database that does not answer must not keep a stopping worker: the connection is cut, whatever runs on it.
      connection.close();
      await pool.end();
    },
  };
}

/** How often turns sweep, however often they come: a webhook for each row would have each of them look at all that is due. */
const turnsSweepEveryMs = 30_000;
/** Turns have little time, and a sweep that is cut off is lost whole: so small ones. */
const maxInTurn = 50;
/** What is left of a turn's time is for sending. */
const longestInTurnMs = 5_000;

/**
 * For relays on demand: `createDrainer({ …, beforeTurn: sweepBeforeTurns() })`. Sweeps before the turn, so that it sends what the sweep has
 * to say, for half of the turn's time at most, and not at all when this process did so just before. Never throws.
 */
export function sweepBeforeTurns(options: Pick<TimersOptions, "log"> = {}): (turn: TurnStart) => Promise<void> {
  const log = options.log ?? ignore;
  let sweptAtMs = -Infinity;
  return async ({ use, budgetMs, signal }) => {
    const nowMs = performance.now();
    if (budgetMs <= 0 || nowMs - sweptAtMs < turnsSweepEveryMs) return;
    sweptAtMs = nowMs;
    const untilMs = nowMs + Math.min(budgetMs / 2, longestInTurnMs);
    // By the server: a sweep that waits for somebody ends, and lets the turn begin.
    const lend: Lend = (work) =>
      use((db) => {
        const timeout = String(Math.max(1, Math.ceil(untilMs - performance.now())));
        return withSettings(db, { statement_timeout: timeout }, () => work(db));
      });
    await sweepAll({ lend, note: use, runner: "turn", most: maxInTurn, untilMs, log, signal });
  };
}

interface Sweeping extends SweepOptions {
  readonly lend: Lend;
  /** For writing down that a sweep failed, where the connection may do so. */
  readonly note: Lend | undefined;
  readonly runner: TimerRunner;
  /** No sweep begins later, by performance.now(). */
  readonly untilMs?: number;
  readonly log: Log;
  readonly signal: AbortSignal;
}

async function sweepAll(sweeping: Sweeping): Promise<void> {
  const { lend, note, runner, most, untilMs = Infinity, log, signal } = sweeping;
  try {
    for (let turn = 0; turn < maxSweepsAtOnce && !signal.aborted && performance.now() < untilMs; turn += 1) {
      const sweep = await lend((db) => runTimers(db, { runner, most }));
      report(sweep, log);
      if (!sweep.more) return;
    }
  } catch (error) {
    if (signal.aborted) return;
    const { code, sqlState } = toHeadroomError(error);
    if (code === "schema_missing" && (await lacksTimers(lend))) return;
    log({ level: "warn", event: "timers_failed", code, sqlState });
    const failed = { p_runner: runner, p_code: sqlState ?? code };
    // What keeps sweeps from succeeding may keep this from it too; the log has it.
    await note?.((db) => call(db, "capacity.note_timers_failed", failed)).catch(ignore);
  }
}

/** A relay also runs where nothing but the engine is installed: then there are no timers, until somebody adds the rest. */
async function lacksTimers(lend: Lend): Promise<boolean> {
  return isEngineAlone(await lend(readInstalledParts).catch(() => []));
}

function report(sweep: Sweep, log: Log): void {
  const { expired, warned, unasked, reminded, late, erased, above, failed } = sweep;
  const { billing, provisioning } = above;
  if (expired + warned + unasked + reminded + late + erased + billing + provisioning > 0)
    log({
      level: "info",
      event: "timers_ran",
      expired,
      warned,
      unasked,
      reminded,
      late,
      erased,
      billing,
      provisioning,
    });
  for (const { request_id, timer, code, failures } of failed) {
    log({ level: "error", event: "timer_failed", request: request_id, what: timer, code, failures });
  }
}

function ignore(): void {}
