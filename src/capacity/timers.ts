/**
 * The clock of the workflow, as processes run it: the sweep of public.run_capacity_request_timers(), once a minute in long-running
 * processes, and before a turn in relays on demand.
 *
 * Owns: how often it runs, and reporting the outcome. Does not own: what is due, and that concurrent sweeps are safe; both are
 * the database's. So every process sweeps, whether pg_cron does or not, and none waits for another.
 */
import { z } from "zod";
import { call, type Queryable } from "../db/call.ts";
import type { Use } from "../db/side-pool.ts";
import type { TurnStart } from "../outbox/relay/drain.ts";
import type { Log, RelayLogEntry } from "../outbox/observe/log.ts";
import type { TaskMetrics } from "../outbox/observe/task-metrics.ts";
import type { Task } from "../outbox/upkeep/task.ts";
import { beforeTurns, startTicker, Ticker } from "../outbox/upkeep/ticker.ts";

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
  /** What layers above did, by name: how many things each of them handled. */
  above: z.record(z.string(), z.number()),
  failed: z.array(failureSchema),
  more: z.boolean(),
});

/** A request on which a timer failed; the others were not affected. */
export type TimerFailure = z.infer<typeof failureSchema>;

/** What one sweep did. `more`: it reached its limit, so call again immediately. */
export type Sweep = z.infer<typeof sweepSchema>;

/** Who sweeps, for the record of who swept last (capacity.timer_runs): a worker, a server, or a turn on demand. */
export type TimerRunner = "worker" | "server" | "turn";

export interface SweepOptions {
  readonly runner?: TimerRunner | undefined;
  /** The maximum of requests of each kind in this sweep. Default: 200. */
  readonly most?: number | undefined;
}

export async function runTimers(db: Queryable, { runner, most }: SweepOptions = {}): Promise<Sweep> {
  return sweepSchema.parse(await call(db, "public.run_capacity_request_timers", { p_most: most, p_runner: runner }));
}

interface TimersTaskOptions extends SweepOptions {
  readonly everyMs?: number | undefined;
}

/** Turns have little time, and a sweep that is cut off loses all its work: so small ones. */
const maxInTurn = 50;

/** For relays and servers: `createRelay({ …, upkeepTasks: [timersTask()] })`. */
export function timersTask({ runner = "worker", most, everyMs = 60_000 }: TimersTaskOptions = {}): Task {
  const runnerOf = (onDemand: boolean): TimerRunner => (onDemand ? "turn" : runner);
  return {
    name: "timers",
    part: "product",
    everyMs,
    // A sweep is one transaction over hundreds of requests: one that is cut off would be cut off again.
    timeoutMs: 300_000,
    event: { level: "info", event: "timers_ran" },
    failedEvent: "timers_failed",
    // A webhook per row would make each turn check everything that is due. The rest of a turn's time is for sending.
    beforeTurns: { everyMs: 30_000, share: 0.5, maxMs: 5_000 },
    async run(db, log, { onDemand }) {
      const sweep = await runTimers(db, { runner: runnerOf(onDemand), most: onDemand ? maxInTurn : most });
      const { above, failed, more, ...own } = sweep;
      for (const { request_id: request, timer: what, code, failures } of failed)
        log({ level: "error", event: "timer_failed", request, what, code, failures });
      return { counts: { ...own, ...above }, more };
    },
    async noteFailure(db, code, { onDemand }) {
      await call(db, "capacity.note_timers_failed", { p_runner: runnerOf(onDemand), p_code: code });
    },
  };
}

export interface TimersOptions extends SweepOptions {
  /** The database, as a member of headroom_executor. Either this or `use`. */
  readonly connectionString?: string | undefined;
  /** Lends the caller's connection for one sweep, as a role that may sweep, and limits its time. */
  readonly use?: Use | undefined;
  /** How often to sweep, 100 to 3,600,000. Default: 60,000. */
  readonly everyMs?: number | undefined;
  /** How long `stop()` lets a running sweep finish; one that is cut off is rolled back whole. Default: 5,000. */
  readonly stopMs?: number | undefined;
  /** Receives log entries. Default: nothing is logged. */
  readonly log?: ((entry: RelayLogEntry) => void) | undefined;
  /** Counts the sweeps. Default: they are not counted. */
  readonly metrics?: TaskMetrics | undefined;
}

export interface Timers {
  /** Lets a running sweep finish for up to `stopMs`, and closes. */
  stop(): Promise<void>;
}

/** Begins immediately. Failures are logged and never thrown: the next sweep does the rest. */
export function startTimers({ connectionString = "", use, stopMs, log, metrics, ...sweeping }: TimersOptions): Timers {
  const task = timersTask(sweeping);
  const options = { stopMs, log, metrics };
  if (use === undefined)
    return startTicker({ ...options, tasks: [task], connectionString, applicationName: "headroom timers" });
  // A lent connection may lack the permission to record that a sweep failed.
  const ticker = new Ticker({ ...options, tasks: [{ ...task, noteFailure: undefined }], lend: (work) => use(work) });
  ticker.start();
  return ticker;
}

/**
 * For relays on demand: `createDrainer({ …, beforeTurn: sweepBeforeTurns() })`. Sweeps before the turn, so that it sends the sweep's
 * messages, for half of the turn's time at most, and not at all if this process swept just before. Never throws.
 */
export function sweepBeforeTurns(options: { readonly log?: Log | undefined } = {}): (turn: TurnStart) => Promise<void> {
  return beforeTurns([timersTask()], options.log);
}
