/**
 * Sending what is due: in processes that run for long, as soon as it is due and every few seconds; in relays on demand, before a turn. It
 * also forgets what is old at longer intervals.
 *
 * Owns: how often, and reporting the result. Does not own: what is due, what belongs together, and that several may send at the same time;
 * the database decides all of that. So every relay does it, and none waits for another.
 */
import { call, type Queryable } from "../db/call.ts";
import type { Log } from "../outbox/observe/log.ts";
import type { TurnStart } from "../outbox/relay/drain.ts";
import type { Progress, Task } from "../outbox/upkeep/task.ts";
import { beforeTurns, startTicker } from "../outbox/upkeep/ticker.ts";

export interface ReleaseOptions {
  /** The shortest time between two checks, 10 to 60,000. Default: 2,000. */
  readonly everyMs?: number | undefined;
  /** The longest: what is told meanwhile is not noticed until then. Default: 10,000. */
  readonly atLeastEveryMs?: number | undefined;
  /** How often what is old is forgotten. Default: 600,000. */
  readonly forgetEveryMs?: number | undefined;
}

export interface DispatcherOptions extends ReleaseOptions {
  /** Where the database is, as a member of headroom_executor. */
  readonly connectionString: string;
  /** How long `stop()` lets a check that is under way finish; one that is cut off is rolled back as a whole. Default: 5,000. */
  readonly stopMs?: number | undefined;
  /** Receives log entries. Default: nothing is logged. */
  readonly log?: Log | undefined;
}

export interface Dispatcher {
  /** Lets a check that is under way finish for up to `stopMs`, and closes. */
  stop(): Promise<void>;
}

const maxAtOnce = 500;
/** Turns have little time, and a check that is cut off loses all its work: so small batches. */
const maxInTurn = 100;
/** Small batches: each of them is a transaction that others may wait for. */
const forgottenAtOnce = 1_000;

/** For relays: `createRelay({ …, upkeepTasks: releaseTasks() })`. */
export function releaseTasks({
  everyMs = 2_000,
  atLeastEveryMs = 10_000,
  forgetEveryMs = 600_000,
}: ReleaseOptions = {}): Task[] {
  return [
    {
      name: "release",
      part: "product",
      everyMs,
      maxEveryMs: atLeastEveryMs,
      event: { level: "info", event: "notifications_released" },
      failedEvent: "notifications_not_released",
      beforeTurns: { everyMs: 2_000, share: 0.25, maxMs: 3_000 },
      run: (db, _log, { onDemand }) => release(db, onDemand ? maxInTurn : maxAtOnce),
    },
    {
      name: "forget",
      part: "product",
      everyMs: forgetEveryMs,
      event: { level: "info", event: "notifications_forgotten" },
      failedEvent: "notifications_not_forgotten",
      beforeTurns: { everyMs: 600_000, share: 0.125, maxMs: 1_500 },
      async run(db) {
        const notifications = await call(db, "notify.forget_old", { p_most: forgottenAtOnce });
        return { counts: { notifications }, more: notifications >= forgottenAtOnce };
      },
    },
  ];
}

async function release(db: Queryable, most: number): Promise<Progress> {
  const { released: messages, more, next_due: nextDue } = await call(db, "notify.release", { p_most: most });
  // By this machine's clock, which may differ from the database's, so only within bounds.
  return { counts: { messages }, more, nextInMs: nextDue === null ? undefined : nextDue.getTime() - Date.now() };
}

/** Begins immediately. Failures are logged and never thrown: the next check does what this one could not. */
export function startDispatcher({ connectionString, stopMs, log, ...options }: DispatcherOptions): Dispatcher {
  const tasks = releaseTasks(options);
  return startTicker({ tasks, connectionString, applicationName: "headroom dispatcher", stopMs, log });
}

/**
 * For relays on demand: `createDrainer({ …, beforeTurn: releaseBeforeTurns() })`. Checks before the turn, so that the turn sends what is
 * due. It takes at most a quarter of the turn's time, and is skipped when this process did so just before. Never throws.
 */
export function releaseBeforeTurns(options: Pick<DispatcherOptions, "log"> = {}): (turn: TurnStart) => Promise<void> {
  return beforeTurns(releaseTasks(), options.log);
}
