/**
 * Sending what is due, as processes do it: a look at what is due, as soon as it is and every few seconds, in those that run for long; and
 * before a turn in relays on demand. Now and then what is old is forgotten.
 *
 * Owns: when it looks, and saying what came of it. Does not own: what is due, what belongs together, and that several may look at once; all
 * of that is the database's. So every relay does it, and none waits for another.
 */
import { call, type Queryable } from "../db/call.ts";
import { createPool, surviveLostConnections } from "../db/connect.ts";
import { toHeadroomError } from "../db/errors.ts";
import { HeldConnection } from "../db/held-connection.ts";
import { isEngineAlone, readInstalledParts } from "../db/installed.ts";
import { withSettings } from "../db/transaction.ts";
import { pause } from "../db/wait/pause.ts";
import { withTimeout } from "../db/wait/with-timeout.ts";
import type { Log } from "../outbox/observe/log.ts";
import type { TurnStart } from "../outbox/relay/drain.ts";

/** What one look sent. */
export interface Release {
  /** Messages that were handed to the outbox. */
  readonly released: number;
  /** There was as much as one look takes on, and something came of it: another one at once is worth it. */
  readonly more: boolean;
  /** When the next is due that is known of; now, where something is left that others were at. */
  readonly nextDue: Date | null;
}

async function release(db: Queryable, most: number): Promise<Release> {
  const { released, more, next_due: nextDue } = await call(db, "notify.release", { p_most: most });
  return { released, more, nextDue };
}

/** Lends a connection for as long as the work takes. */
type Lend = <T>(work: (db: Queryable) => Promise<T>) => Promise<T>;

export interface DispatcherOptions {
  /** Where the database is, as a member of headroom_executor. */
  readonly connectionString: string;
  /** The shortest time between two looks, 10 to 60,000. Default: 2,000. */
  readonly everyMs?: number | undefined;
  /** The longest: what somebody is told meanwhile is not known of. Default: 10,000. */
  readonly atLeastEveryMs?: number | undefined;
  /** How often what is old is forgotten. Default: 600,000. */
  readonly forgetEveryMs?: number | undefined;
  /** How long `stop()` lets a look that is under way finish; one that is cut off is rolled back whole. Default: 5,000. */
  readonly stopMs?: number | undefined;
  /** Receives log entries. Default: nothing is logged. */
  readonly log?: Log | undefined;
}

export interface Dispatcher {
  /** Lets a look that is under way finish for up to `stopMs`, and closes. */
  stop(): Promise<void>;
}

const defaults = {
  everyMs: 2_000,
  atLeastEveryMs: 10_000,
  forgetEveryMs: 600_000,
  stopMs: 5_000,
} as const satisfies Partial<DispatcherOptions>;

const maxAtOnce = 500;
/** After a long outage there is much to do; beyond this the next look goes on with it. */
const maxLooks = 100;

/** Begins at once. Failures are logged and never thrown: the next look does what this one could not. */
export function startDispatcher(options: DispatcherOptions): Dispatcher {
  const { everyMs = defaults.everyMs, atLeastEveryMs = defaults.atLeastEveryMs } = options;
  const { forgetEveryMs = defaults.forgetEveryMs, stopMs = defaults.stopMs } = options;
  const log = options.log ?? ignore;
  const stopping = new AbortController();
  const { signal } = stopping;
  const pool = createPool(options.connectionString, { applicationName: "headroom dispatcher", maxConnections: 1 });
  surviveLostConnections(pool);
  const connection = new HeldConnection(pool);
  const lend: Lend = (work) => connection.use(work);
  let forgetAtMs = performance.now();
  const loop = (async () => {
    while (!signal.aborted) {
      const nextDue = await releaseAll({ lend, most: maxAtOnce, log, signal });
      if (performance.now() >= forgetAtMs) {
        forgetAtMs = performance.now() + forgetEveryMs;
        await forgetAll(lend, log, signal);
      }
      // By this machine's clock, which may be another than the database's: hence only within bounds.
      const untilDueMs = nextDue === null ? Infinity : nextDue.getTime() - Date.now();
      const waitMs = Math.max(everyMs, Math.min(untilDueMs, atLeastEveryMs));
      // Spread, so that processes started together do not come together.
      await pause(waitMs * (0.9 + Math.random() * 0.2), signal);
    }
  })();
  const end = async (): Promise<void> => {
    stopping.abort();
    await withTimeout(loop, stopMs);
    // A database that does not answer must not keep a stopping worker: the connection is cut, whatever runs on it.
    connection.close();
    await pool.end();
  };
  let ended: Promise<void> | undefined;
  return { stop: () => (ended ??= end()) };
}

/** How often turns look, however often they come. */
const turnsLookEveryMs = 2_000;
/** Turns have little time, and a look that is cut off is lost whole: so small ones. */
const maxInTurn = 100;
/** What is left of a turn's time is for sending. */
const longestInTurnMs = 3_000;

/**
 * For relays on demand: `createDrainer({ …, beforeTurn: releaseBeforeTurns() })`. Looks before the turn, so that it sends what is due, for a
 * quarter of the turn's time at most, and not at all when this process did so just before. Never throws.
 */
export function releaseBeforeTurns(options: Pick<DispatcherOptions, "log"> = {}): (turn: TurnStart) => Promise<void> {
  const log = options.log ?? ignore;
  let lookedAtMs = -Infinity;
  let forgotAtMs = -Infinity;
  return async ({ use, budgetMs, signal }) => {
    const nowMs = performance.now();
    if (budgetMs <= 0 || nowMs - lookedAtMs < turnsLookEveryMs) return;
    lookedAtMs = nowMs;
    const untilMs = nowMs + Math.min(budgetMs / 4, longestInTurnMs);
    // By the server: a look that waits for somebody ends, and lets the turn begin.
    const lend: Lend = (work) =>
      use((db) => {
        const timeout = String(Math.max(1, Math.ceil(untilMs - performance.now())));
        return withSettings(db, { statement_timeout: timeout }, () => work(db));
      });
    await releaseAll({ lend, most: maxInTurn, untilMs, log, signal });
    if (performance.now() >= untilMs || nowMs - forgotAtMs < defaults.forgetEveryMs) return;
    forgotAtMs = nowMs;
    await forgetAll(lend, log, signal, untilMs);
  };
}

interface Releasing {
  readonly lend: Lend;
  readonly most: number;
  /** No look begins later, by performance.now(). */
  readonly untilMs?: number;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Until nothing more is due, or others are at it. Answers when the next is. */
async function releaseAll({ lend, most, untilMs = Infinity, log, signal }: Releasing): Promise<Date | null> {
  let total = 0;
  let nextDue: Date | null = null;
  try {
    for (let look = 0; look < maxLooks && !signal.aborted && performance.now() < untilMs; look += 1) {
      const done: Release = await lend((db) => release(db, most));
      total += done.released;
      ({ nextDue } = done);
      if (!done.more) break;
    }
  } catch (error) {
    await explain(error, "notifications_not_released", lend, log, signal);
  }
  if (total > 0) log({ level: "info", event: "notifications_released", messages: total });
  return nextDue;
}

/** Small batches: each of them is a transaction that others may wait for. */
const forgottenAtOnce = 1_000;
const maxForgetting = 20;

async function forgetAll(lend: Lend, log: Log, signal: AbortSignal, untilMs = Infinity): Promise<void> {
  let total = 0;
  try {
    for (let turn = 0; turn < maxForgetting && !signal.aborted && performance.now() < untilMs; turn += 1) {
      const forgotten = await lend((db) => call(db, "notify.forget_old", { p_most: forgottenAtOnce }));
      total += forgotten;
      if (forgotten < forgottenAtOnce) break;
    }
  } catch (error) {
    await explain(error, "notifications_not_forgotten", lend, log, signal);
  }
  if (total > 0) log({ level: "info", event: "notifications_forgotten", notifications: total });
}

async function explain(failure: unknown, event: string, lend: Lend, log: Log, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { code, sqlState } = toHeadroomError(failure);
  if (code === "schema_missing" && (await lacksNotifications(lend))) return;
  log({ level: "warn", event, code, sqlState });
}

/** A relay also runs where nothing but the engine is installed: then nobody is told anything, until somebody adds the rest. */
async function lacksNotifications(lend: Lend): Promise<boolean> {
  return isEngineAlone(await lend(readInstalledParts).catch(() => []));
}

function ignore(): void {}
