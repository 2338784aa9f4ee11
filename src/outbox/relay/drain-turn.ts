/**
 * One turn of a relay on demand: claims what is due, sends it, settles it, and stops at its bounds.
 *
 * Owns: when to claim next and when enough is enough. Does not own: the parts that it works with.
 */
import { call } from "../../db/call.ts";
import { toHeadroomError } from "../../db/errors.ts";
import type { Rail } from "../../contract/rail.ts";
import type { Claimer } from "../claim/claimer.ts";
import { Dispatcher } from "../dispatch/dispatcher.ts";
import type { RelayMetrics } from "../inspect/metrics.ts";
import type { Log } from "../inspect/log.ts";
import type { RelayStep } from "../inspect/steps.ts";
import type { Places } from "../claim/places.ts";
import type { HeldConnection } from "../../db/held-connection.ts";
import { Settler } from "../settle/settler.ts";
import type { Stream } from "../claim/streams.ts";
import type { Calls } from "../dispatch/calls.ts";

export interface DrainTurnOptions {
  readonly claimers: readonly Claimer[];
  readonly rails: ReadonlyMap<number, Rail>;
  readonly places: Places;
  readonly calls: Calls;
  readonly claiming: HeldConnection;
  readonly settling: HeldConnection;
  /** Of this turn alone: the report is read from it. */
  readonly metrics: RelayMetrics;
  readonly relayId: number;
  readonly leaseMarginMs: number;
  readonly log: Log;
  readonly onStep: ((step: RelayStep) => void) | undefined;
  /** By this process' monotonic clock. */
  readonly deadlineMs: number;
  readonly maxRows: number;
  readonly signal: AbortSignal;
  /** Whether somebody asked for another look since this was asked last. */
  readonly askedAgain: () => boolean;
  readonly makePartitions: () => Promise<void>;
}

export interface TurnReport {
  readonly claimed: number;
  readonly delivered: number;
  readonly retried: number;
  readonly failed: number;
  readonly released: number;
  readonly more: boolean;
  readonly busy: false;
}

/** Calls under way end by their time-outs, of at most 30 s; a database that does not answer is waited for no longer than this. */
const settleAfterDeadlineMs = 45_000;

export class DrainTurn {
  readonly #options: DrainTurnOptions;
  readonly #settler: Settler;
  readonly #dispatcher: Dispatcher;
  readonly #dispatches = new Set<Promise<void>>();
  /** In the order in which they take their turns, so that a backlog on one stream does not starve the others. */
  readonly #claimers: Claimer[];
  /** Streams whose last look found nothing to take, until something of theirs is settled. */
  readonly #empty = new Set<Claimer>();
  #unsettled = 0;
  #onSettled: (() => void) | undefined;

  constructor(options: DrainTurnOptions) {
    const { rails, places, calls, claiming, settling, metrics, log, onStep, leaseMarginMs, deadlineMs } = options;
    this.#options = options;
    this.#claimers = [...options.claimers];
    const settler = new Settler({
      connection: settling,
      metrics,
      // The turn may be short; preparing statements would cost more than it saves.
      prepare: false,
      log,
      onStep,
      giveUp: AbortSignal.timeout(Math.ceil(Math.max(0, deadlineMs - performance.now())) + settleAfterDeadlineMs),
      onSettled: (stream, rows) => this.#settled(stream, rows),
    });
    this.#settler = settler;
    this.#dispatcher = new Dispatcher({
      rails,
      places,
      calls,
      leaseMarginMs,
      connection: claiming,
      onStep,
      onOutcome: (stream, outcome) => settler.add(stream, outcome),
      stopping: () => this.#mustNotSend(),
    });
  }

  async run(): Promise<TurnReport> {
    const { metrics } = this.#options;
    try {
      do await this.#work();
      while (!this.#isOver() && this.#options.askedAgain());
    } finally {
      await Promise.all(this.#dispatches);
      await this.#settler.idle();
    }
    return {
      claimed: metrics.attempts("DISPATCHING"),
      delivered: metrics.attempts("DISPATCHED"),
      retried: metrics.attempts("RETRYABLE"),
      failed: metrics.attempts("FAILED"),
      released: metrics.attempts("RELEASED"),
      more: await this.#isMoreDue(),
      busy: false,
    };
  }

  #mustNotSend(): boolean {
    return this.#options.signal.aborted || performance.now() >= this.#options.deadlineMs;
  }

  #isOver(): boolean {
    return this.#mustNotSend() || this.#options.metrics.attempts("DISPATCHING") >= this.#options.maxRows;
  }

  /** Until nothing is due that can be had, or the bounds are reached. */
  async #work(): Promise<void> {
    this.#empty.clear();
    for (const claimer of this.#options.claimers) claimer.hot = true;
    while (!this.#isOver()) {
      const claimer = this.#claimers.find((candidate) => candidate.hot && candidate.hasRoom);
      if (claimer !== undefined) await this.#claim(claimer);
      else if (this.#unsettled > 0) await this.#oneSettled();
      else if (!(await this.#markDue())) return;
    }
  }

  async #claim(claimer: Claimer): Promise<void> {
    const { claiming, places, relayId, metrics, onStep, makePartitions } = this.#options;
    this.#claimers.push(...this.#claimers.splice(this.#claimers.indexOf(claimer), 1));
    onStep?.("claim.before");
    const take = (): ReturnType<Claimer["claim"]> => claimer.claim(claiming, relayId, false, places.inFlight);
    const { rows, claimedAt } = await take().catch(async (error: unknown) => {
      if (toHeadroomError(error).code !== "partition_missing") throw error;
      await makePartitions();
      return take();
    });
    onStep?.("claim.after");
    if (rows.length === 0) {
      this.#empty.add(claimer);
      return;
    }
    metrics.claimBatches += 1;
    metrics.countAttempts("DISPATCHING", rows.length);
    this.#unsettled += rows.length;
    const dispatch = this.#dispatcher
      .dispatch(claimer.stream, rows, claimedAt)
      .finally(() => this.#dispatches.delete(dispatch));
    this.#dispatches.add(dispatch);
  }

  #settled(stream: Stream, rows: number): void {
    this.#unsettled -= rows;
    for (const claimer of this.#options.claimers) {
      if (claimer.stream !== stream) continue;
      claimer.settled(rows);
      // The lanes stand at their next rows now.
      this.#empty.delete(claimer);
    }
    this.#onSettled?.();
  }

  #oneSettled(): Promise<void> {
    return new Promise((resolve) => (this.#onSettled = resolve));
  }

  /** Marks the streams that have something due and were not found empty-handed since; says whether there is one. */
  async #markDue(): Promise<boolean> {
    const due = await this.#due();
    const marked = this.#options.claimers.filter((claimer) => due.has(claimer.stream.id) && !this.#empty.has(claimer));
    for (const claimer of marked) claimer.hot = true;
    return marked.length > 0;
  }

  async #isMoreDue(): Promise<boolean> {
    return (await this.#due()).size > 0;
  }

  async #due(): Promise<ReadonlySet<number>> {
    const ids = this.#options.claimers.map((claimer) => claimer.stream.id);
    const { claiming, places } = this.#options;
    const waits = await claiming.use((db) =>
      call(db, "outbox.next_due", { p_stream_ids: ids, p_in_flight: places.inFlight }),
    );
    return new Set(waits.filter((wait) => wait.wait_ms === 0).map((wait) => wait.stream_id));
  }
}
