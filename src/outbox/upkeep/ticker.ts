/**
 * Runs tasks: each at its intervals, in processes that run for long; or before and after the turns of a relay on demand.
 *
 * Owns: when each runs, that no task keeps the others from their turn, that failures are logged and never thrown, and the end. Does not
 * own: what is due, and that several processes may do it at the same time; each task and the database handle that. So every process runs
 * all tasks, and none waits for another.
 *
 * Fairness: a step borrows a connection and gives it back, and waiting steps get the next one in order. So a task with much to do takes
 * turns with the others, and one that hangs holds one connection, until the server ends its statement.
 */
import { createPool } from "../../db/connect.ts";
import { HeadroomError, toHeadroomError } from "../../db/errors.ts";
import { isEngineAlone, readInstalledParts } from "../../db/installed.ts";
import { bounded, type Lend, SidePool, type Use } from "../../db/side-pool.ts";
import { deferred } from "../../db/wait/deferred.ts";
import { pause } from "../../db/wait/pause.ts";
import { withTimeout } from "../../db/wait/with-timeout.ts";
import type { Log } from "../observe/log.ts";
import { TaskMetrics } from "../observe/task-metrics.ts";
import type { Progress, Task, TaskRun } from "./task.ts";

export interface TickerOptions {
  readonly tasks: readonly Task[];
  readonly lend: Lend;
  /** The interval of tasks that name none. Default: 15,000. */
  readonly everyMs?: number | undefined;
  /** How long `stop()` lets steps under way finish. Default: 5,000. */
  readonly stopMs?: number | undefined;
  readonly log?: Log | undefined;
  /** Default: not exposed. */
  readonly metrics?: TaskMetrics | undefined;
}

const defaults = { everyMs: 15_000, stopMs: 5_000, share: 0.5, timeoutMs: 60_000 } as const;
const maxRestMs = 300_000;
/** After a long outage there is much to do; beyond this the next run continues with it. */
const maxSteps = 100;
/** For recording that a run failed, and for checking what is installed. */
const noteMs = 5_000;
/** How long a turn waits for a connection while other tasks have all of them. */
const maxWaitMs = 1_000;
const noConnection = "connections_busy";
/** How often a relay on demand runs tasks that do not run before its turns. */
const afterTurnsEveryMs = 600_000;

interface Bounds extends TaskRun {
  readonly lend: Lend;
  /** No step begins after this time, by performance.now(). */
  readonly untilMs: number;
  readonly signal: AbortSignal;
}

export interface TurnBounds {
  /** How long the whole turn may take. */
  readonly budgetMs: number;
  readonly signal: AbortSignal;
  /** Lends one of the turn's connections. Default: the ticker's own. */
  readonly use?: Use | undefined;
}

interface Known {
  readonly task: Task;
  /** When its last run for a turn began. */
  turnedAtMs: number;
  /** Its last failure; undefined once it succeeded. */
  failure: string | undefined;
}

export class Ticker {
  readonly #options: TickerOptions;
  readonly #known: readonly Known[];
  readonly #stopping = new AbortController();
  readonly #log: Log;
  readonly #metrics: TaskMetrics;
  #loops: Promise<unknown> = Promise.resolve();
  #stopped: Promise<void> | undefined;

  constructor(options: TickerOptions) {
    this.#options = options;
    this.#log = options.log ?? (() => undefined);
    this.#metrics = options.metrics ?? new TaskMetrics();
    this.#known = options.tasks.map((task) => ({ task, turnedAtMs: -Infinity, failure: undefined }));
    for (const { name } of options.tasks) this.#metrics.expect(name);
  }

  /** Begins immediately, and continues until it is stopped. */
  start(): void {
    this.#loops = Promise.all(this.#known.map((known) => this.#repeat(known)));
  }

  /** Lets steps under way finish for a while. Steps that are cut off later, when the connections close, are rolled back as a whole. */
  stop(): Promise<void> {
    this.#stopping.abort();
    this.#stopped ??= withTimeout(this.#loops, this.#options.stopMs ?? defaults.stopMs).then(() => undefined);
    return this.#stopped;
  }

  /** One run of this task, now. Never throws. */
  async run(name: string, given: Partial<TaskRun> = {}): Promise<void> {
    for (const known of this.#known) if (known.task.name === name) await this.#run(known, this.#bounds(given));
  }

  /** Runs the tasks that come before a turn, within their share of the turn's time. Never throws. */
  async beforeTurn({ budgetMs, signal, use }: TurnBounds): Promise<void> {
    const lend: Lend | undefined = use && ((work, timeoutMs) => use((db) => bounded(db, timeoutMs, () => work(db))));
    for (const known of this.#known) {
      const { beforeTurns: bounds } = known.task;
      if (bounds === undefined || budgetMs <= 0 || !this.#isDue(known, bounds.everyMs)) continue;
      const untilMs = performance.now() + Math.min(budgetMs * bounds.share, bounds.maxMs);
      await this.#run(known, this.#bounds({ onDemand: true, untilMs, signal, ...(lend && { lend }) }));
    }
  }

  /** Runs the others, at their intervals. None begins after `untilMs`, by performance.now(). */
  async afterTurn(untilMs: number): Promise<void> {
    for (const known of this.#known) {
      if (known.task.beforeTurns !== undefined || performance.now() > untilMs) continue;
      if (this.#isDue(known, afterTurnsEveryMs)) await this.#run(known, this.#bounds({ onDemand: true }));
    }
  }

  #isDue(known: Known, everyMs: number): boolean {
    const nowMs = performance.now();
    if (nowMs - known.turnedAtMs < everyMs) return false;
    known.turnedAtMs = nowMs;
    return true;
  }

  #bounds(given: Partial<Bounds>): Bounds {
    const { lend } = this.#options;
    return { onDemand: false, lend, untilMs: Infinity, signal: this.#stopping.signal, ...given };
  }

  async #repeat(known: Known): Promise<void> {
    const { task } = known;
    const { everyMs = this.#options.everyMs ?? defaults.everyMs, share = defaults.share } = task;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const { workedMs, last } = await this.#run(known, this.#bounds({}));
      const dueMs = Math.max(everyMs, Math.min(last.nextInMs ?? Infinity, task.maxEveryMs ?? everyMs));
      const restMs = Math.max(last.more === true ? 0 : dueMs, Math.min(maxRestMs, workedMs * (1 / share - 1)));
      // Spread out, so that processes that started together do not run them together.
      await pause(restMs * (0.9 + Math.random() * 0.2), signal);
    }
  }

  /** Step after step until nothing is left to do, or the bounds are reached. */
  async #run(known: Known, bounds: Bounds): Promise<{ readonly workedMs: number; readonly last: Progress }> {
    const { task } = known;
    const sums: Record<string, number> = {};
    let workedMs = 0;
    let last: Progress = {};
    let steps = 0;
    try {
      for (; steps < maxSteps; steps += 1) {
        if (bounds.signal.aborted || performance.now() >= bounds.untilMs) break;
        last = await this.#step(task, bounds, (ms) => (workedMs += ms));
        const { counts = {} } = last;
        for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
        task.done?.(counts);
        if (last.more !== true) break;
      }
      if (steps > 0 || workedMs > 0) this.#succeeded(known, workedMs);
    } catch (error) {
      last = {};
      if (!bounds.signal.aborted) await this.#failed(known, error, workedMs, bounds);
    }
    if (task.event !== undefined && Object.values(sums).some((count) => count > 0))
      this.#log({ ...task.event, ...sums });
    return { workedMs, last };
  }

  async #step(task: Task, { onDemand, lend, untilMs }: Bounds, worked: (ms: number) => void): Promise<Progress> {
    const timeoutMs = Math.min(task.timeoutMs ?? defaults.timeoutMs, untilMs - performance.now());
    const { promise: begun, resolve: begin } = deferred<void>();
    let isLate = false;
    const step = lend(async (db) => {
      begin();
      if (isLate) return {};
      const startedAtMs = performance.now();
      try {
        return (await task.run(db, this.#log, { onDemand })) ?? {};
      } finally {
        worked(performance.now() - startedAtMs);
      }
    }, timeoutMs);
    if (!onDemand) return step;
    // Whoever asked for the turn waits for it, and tasks that hang may have the connections for minutes.
    const { kind } = await withTimeout(Promise.race([begun, step]), maxWaitMs);
    if (kind === "done") return step;
    isLate = true;
    throw new HeadroomError(noConnection, "Other tasks have all connections.");
  }

  #succeeded(known: Known, workedMs: number): void {
    this.#metrics.count(known.task.name, workedMs, true);
    if (known.failure !== undefined)
      this.#log({ level: "info", event: "upkeep_recovered", what: known.task.name, code: known.failure });
    known.failure = undefined;
  }

  /** Logs a failure one time, until a different one occurs. */
  async #failed(known: Known, error: unknown, workedMs: number, { lend, onDemand }: Bounds): Promise<void> {
    const { task } = known;
    const { code, sqlState } = toHeadroomError(error);
    if (code === "schema_missing" && task.part === "product" && (await isAlone(lend))) return;
    this.#metrics.count(task.name, workedMs, false);
    const failure = sqlState ?? code;
    if (known.failure !== failure) {
      const event = task.failedEvent ?? "upkeep_failed";
      this.#log({ level: "warn", event, ...(task.failedEvent === undefined && { what: task.name }), code, sqlState });
    }
    known.failure = failure;
    const { noteFailure } = task;
    // What makes runs fail may also make this fail; the log has it.
    if (noteFailure !== undefined && code !== noConnection) {
      const noted = lend((db) => noteFailure(db, failure, { onDemand }), noteMs);
      await withTimeout(noted, noteMs).catch(() => undefined);
    }
  }
}

/** A relay also runs where only the engine is installed: then the tasks of the product wait until it is added. */
async function isAlone(lend: Lend): Promise<boolean> {
  return isEngineAlone(await lend(readInstalledParts, noteMs).catch(() => []));
}

export interface StandaloneOptions extends Omit<TickerOptions, "lend"> {
  /** Where the database is, as a member of headroom_executor. */
  readonly connectionString: string;
  readonly applicationName: string;
}

/** Runs tasks over their own connection, until they are stopped. */
export function startTicker({ connectionString, applicationName, ...options }: StandaloneOptions): {
  stop(): Promise<void>;
} {
  const pool = createPool(connectionString, { applicationName, maxConnections: 1 });
  const side = new SidePool(pool, { tasks: 1, reads: 0 });
  const ticker = new Ticker({ ...options, lend: side.lend });
  ticker.start();
  const end = async (): Promise<void> => {
    await ticker.stop();
    // A database that does not answer must not hold up a process that stops: the connection is cut, whatever runs on it.
    await side.end();
  };
  let ended: Promise<void> | undefined;
  return { stop: () => (ended ??= end()) };
}

/** Runs tasks before turns, for `createDrainer({ …, beforeTurn })`. */
export function beforeTurns(
  tasks: readonly Task[],
  log: Log | undefined,
): (turn: TurnBounds & { readonly use: Use }) => Promise<void> {
  const ticker = new Ticker({
    tasks,
    log,
    lend: () => Promise.reject(new Error("Turns lend their own connections.")),
  });
  return (turn) => ticker.beforeTurn(turn);
}
