/**
 * One turn of a relay on demand: claims what is due, sends it, settles it, waits for what falls due within its time, and stops at its bounds.
 *
 * Owns: when to claim next and when to stop. Does not own: claiming, sending and settling (engine.ts).
 */
import { toHeadroomError } from "../../db/errors.ts";
import { pause } from "../../db/wait/pause.ts";
import type { Claimer } from "../claim/claimer.ts";
import { RelayMetrics } from "../observe/metrics.ts";
import { makingPartitions, reaping } from "../upkeep/engine-tasks.ts";
import type { Ticker } from "../upkeep/ticker.ts";
import { Engine } from "./engine.ts";
import type { Announced, RelayResources } from "./resources.ts";

export interface DrainTurnOptions {
  readonly resources: RelayResources;
  readonly announced: Announced;
  /** By this process's monotonic clock. */
  readonly deadlineMs: number;
  readonly maxRows: number;
  /** Ends the turn early; what was not sent is handed back. */
  readonly signal: AbortSignal;
  readonly ticker: Ticker;
  /** Whether another request came in since this was last asked. */
  readonly askedAgain: () => boolean;
}

export interface TurnReport {
  readonly claimed: number;
  readonly delivered: number;
  readonly retried: number;
  readonly failed: number;
  readonly released: number;
  readonly more: boolean;
  readonly nextInMs: number | null;
  readonly busy: false;
}

/** One claim returns no more, so that the bound on rows is effective. */
const maxClaimRows = 100;
/** Calls under way end by their time-outs, of at most 30 s; this also bounds the wait for a database that does not answer. */
const settleAfterDeadlineMs = 45_000;
/** A timer that calls for turns does so once a minute: what is due before that needs a separate call. */
const soonMs = 60_000;
/** The pause before it asks again for a slot that has just been missed. */
const minWaitMs = 10;

export class DrainTurn {
  readonly #options: DrainTurnOptions;
  readonly #engine: Engine;
  /** Only of this turn: the report is read from it. */
  readonly #metrics = new RelayMetrics();
  /** Streams whose last claim found nothing to take, until something of theirs is settled. */
  readonly #empty = new Set<Claimer>();
  #onSettled: (() => void) | undefined;
  #waiting: AbortController | undefined;

  constructor(options: DrainTurnOptions) {
    const { resources, announced, deadlineMs, maxRows } = options;
    this.#options = options;
    const remainingMs = Math.ceil(Math.max(0, deadlineMs - performance.now()));
    this.#engine = new Engine({
      resources,
      announced,
      metrics: this.#metrics,
      maxClaimRows: Math.min(maxClaimRows, maxRows),
      // The turn may be short; preparing statements would cost more than it saves.
      prepare: false,
      mayNotSend: () => this.#mayNotSend(),
      giveUp: AbortSignal.timeout(remainingMs + settleAfterDeadlineMs),
      onSettled: (claimer) => {
        // The lanes are at their next rows now.
        this.#empty.delete(claimer);
        this.#onSettled?.();
      },
    });
  }

  /** Takes back what dead relays held, then delivers what is due. */
  async run(): Promise<TurnReport> {
    await this.#options.ticker.run(reaping, { onDemand: true });
    try {
      do await this.#work();
      while (!this.#isOver() && this.#options.askedAgain());
    } finally {
      await this.#engine.sent();
      await this.#engine.written();
    }
    const nextInMs = await this.#nextInMs();
    return {
      claimed: this.#metrics.attempts("DISPATCHING"),
      delivered: this.#metrics.attempts("DISPATCHED"),
      retried: this.#metrics.attempts("RETRYABLE"),
      failed: this.#metrics.attempts("FAILED"),
      released: this.#metrics.attempts("RELEASED"),
      more: nextInMs !== null && nextInMs <= soonMs,
      nextInMs,
      busy: false,
    };
  }

  #mayNotSend(): boolean {
    return this.#options.signal.aborted || performance.now() >= this.#options.deadlineMs;
  }

  #isOver(): boolean {
    return this.#mayNotSend() || this.#metrics.attempts("DISPATCHING") >= this.#options.maxRows;
  }

  /** Ends a wait for what is due later: something may be due now. */
  lookAgain(): void {
    this.#waiting?.abort();
  }

  /** Until nothing falls due within the turn's time that can be claimed, or the bounds are reached. */
  async #work(): Promise<void> {
    this.#empty.clear();
    for (const claimer of this.#engine.claimers) claimer.hot = true;
    while (!this.#isOver()) {
      const claimer = this.#engine.nextClaimer();
      if (claimer !== undefined) await this.#claim(claimer);
      else if (this.#engine.claimers.some(({ unsettled }) => unsettled > 0)) await this.#oneSettled();
      else if (!(await this.#findDue())) return;
    }
  }

  async #claim(claimer: Claimer): Promise<void> {
    const { claiming, places } = this.#options.resources;
    const take = (): Promise<number> => this.#engine.claim(claimer, claiming, places.inFlight);
    const rows = await take().catch(async (error: unknown) => {
      if (toHeadroomError(error).code !== "partition_missing") throw error;
      await this.#options.ticker.run(makingPartitions, { onDemand: true });
      return take();
    });
    if (rows === 0) this.#empty.add(claimer);
  }

  #oneSettled(): Promise<void> {
    return new Promise((resolve) => (this.#onSettled = resolve));
  }

  /**
   * Marks the streams that have something due and were not found empty since; without one, waits for the next slot or try if
   * that comes within the turn's time. Returns whether to claim again.
   */
  async #findDue(): Promise<boolean> {
    const { deadlineMs, signal, askedAgain } = this.#options;
    // Made before the database is asked: any request from here on ends the wait.
    const waiting = (this.#waiting = new AbortController());
    if (askedAgain()) this.#empty.clear();
    const waits = await this.#engine.waits();
    const due = waits.filter(({ claimer, waitMs }) => waitMs === 0 && !this.#empty.has(claimer));
    for (const { claimer } of due) claimer.hot = true;
    if (due.length > 0) return true;
    // Rows that are due but could not be claimed are held by another relay at the moment.
    const waitMs = Math.min(...waits.flatMap((wait) => (wait.waitMs === 0 ? [] : [Math.max(wait.waitMs, minWaitMs)])));
    if (performance.now() + waitMs >= deadlineMs) return false;
    await pause(waitMs, AbortSignal.any([signal, waiting.signal]));
    this.#empty.clear();
    return true;
  }

  /** When something that this turn left can be sent; null when nothing is dated. */
  async #nextInMs(): Promise<number | null> {
    const waits = await this.#engine.waits();
    const nextMs = Math.min(...waits.map(({ claimer, waitMs }) => Math.max(waitMs, claimer.restMs)));
    return Number.isFinite(nextMs) ? Math.ceil(nextMs) : null;
  }
}
