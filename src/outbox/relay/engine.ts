/**
 * The parts of a relay, put together in one place: what claims, what sends, what settles.
 *
 * Owns: how rows go from one part to the next, whose turn it is, and what is under way. Does not own: when anything is done; the relay of
 * a process (relay.ts) and the turn on demand (drain-turn.ts) each decide that themselves.
 */
import { call } from "../../db/call.ts";
import type { HeldConnection } from "../../db/held-connection.ts";
import { Claimer, type Told } from "../claim/claimer.ts";
import type { Moment } from "../claim/elapsed.ts";
import type { ClaimedRow } from "../claim/message.ts";
import type { InFlight } from "../claim/places.ts";
import type { Stream } from "../claim/streams.ts";
import { Dispatcher } from "../dispatch/dispatcher.ts";
import type { RelayMetrics } from "../observe/metrics.ts";
import { Settler } from "../settle/settler.ts";
import type { Announced, RelayResources } from "./resources.ts";

export interface EngineOptions {
  readonly resources: RelayResources;
  readonly announced: Announced;
  readonly metrics: RelayMetrics;
  readonly maxClaimRows: number;
  /** Whether claims and settles are prepared statements. */
  readonly prepare: boolean;
  /** True once rows are handed back instead of sent. */
  readonly mayNotSend: () => boolean;
  /** Aborted when settling can wait no longer: outcomes that are not written by then are left to their lease. */
  readonly giveUp: AbortSignal;
  /** Called after rows of a stream have been settled. */
  readonly onSettled: (claimer: Claimer) => void;
}

/** When something of a stream is due; streams with nothing to send have no wait. */
export interface Wait {
  readonly claimer: Claimer;
  readonly waitMs: number;
}

export class Engine {
  /** In the order in which they take their turns, so that a backlog on one stream does not starve the others. */
  readonly claimers: readonly Claimer[];
  readonly #options: EngineOptions;
  readonly #turns: Claimer[];
  readonly #settler: Settler;
  readonly #dispatcher: Dispatcher;
  readonly #dispatches = new Set<Promise<void>>();

  constructor(options: EngineOptions) {
    const { resources, announced, metrics, prepare, mayNotSend, giveUp } = options;
    const { settings, log, places, calls } = resources;
    const { onStep } = resources.options;
    this.#options = options;
    // Without a rail nothing can be sent.
    const served = resources.rails.length === 0 ? [] : announced.streams;
    this.#turns = served.map((stream) => new Claimer(stream, options.maxClaimRows, settings.concurrency));
    this.claimers = this.#turns;
    this.#settler = new Settler({
      connection: resources.settling,
      metrics,
      prepare,
      log,
      limitedLog: resources.limitedLog,
      onStep,
      giveUp,
      onSettled: (stream, rows) => this.#settled(stream, rows),
    });
    this.#dispatcher = new Dispatcher({
      rails: announced.rails,
      places,
      calls,
      leaseMarginMs: settings.leaseMarginMs,
      connection: resources.claiming,
      onStep,
      onOutcome: (stream, outcome) => this.#settler.add(stream, outcome),
      stopping: mayNotSend,
    });
  }

  /** The next stream in turn, of those that may have something due and room for it; it goes to the back. */
  nextClaimer(): Claimer | undefined {
    const index = this.#turns.findIndex((claimer) => claimer.hot && claimer.hasRoom);
    const claimer = this.#turns[index];
    if (claimer !== undefined) this.#turns.push(...this.#turns.splice(index, 1));
    return claimer;
  }

  /** Claims one time for a stream, and begins to send the rows; returns how many there are. */
  async claim(claimer: Claimer, connection: HeldConnection, inFlight: InFlight): Promise<number> {
    const { resources, announced, metrics, prepare } = this.#options;
    const { onStep } = resources.options;
    onStep?.("claim.before");
    const { rows, claimedAt } = await claimer.claim(connection, announced.relayId, prepare, this.#told(inFlight));
    onStep?.("claim.after");
    if (rows.length === 0) return 0;
    metrics.claimBatches += 1;
    metrics.countAttempts("DISPATCHING", rows.length);
    const dispatch = this.#dispatch(claimer, rows, claimedAt).finally(() => this.#dispatches.delete(dispatch));
    this.#dispatches.add(dispatch);
    return rows.length;
  }

  async #dispatch(claimer: Claimer, rows: readonly ClaimedRow[], claimedAt: Moment): Promise<void> {
    const startedAtMs = performance.now();
    await this.#dispatcher.dispatch(claimer.stream, rows, claimedAt);
    claimer.learn(rows.length, performance.now() - startedAtMs);
  }

  #settled(stream: Stream, rows: number): void {
    const claimer = this.#turns.find((candidate) => candidate.stream === stream);
    if (claimer === undefined) return;
    claimer.settled(rows);
    this.#options.onSettled(claimer);
  }

  /** When the next row of each stream is due, as the database knows it. */
  async waits(): Promise<Wait[]> {
    const { claiming, places } = this.#options.resources;
    const due = await claiming.use((db) =>
      call(db, "outbox.next_due", {
        p_stream_ids: this.#turns.map((claimer) => claimer.stream.id),
        p_in_flight: this.#told(places.inFlight),
      }),
    );
    return due.flatMap(({ stream_id: id, wait_ms: waitMs }) => {
      const claimer = this.#turns.find((candidate) => candidate.stream.id === id);
      return claimer === undefined ? [] : [{ claimer, waitMs }];
    });
  }

  #told(inFlight: InFlight): Told {
    return { ...inFlight, rails: [...this.#options.announced.rails.keys()] };
  }

  /** Whether claimed rows are being sent. */
  get isSending(): boolean {
    return this.#dispatches.size > 0;
  }

  /** Resolves when every row that was claimed has an outcome. */
  async sent(): Promise<void> {
    await Promise.all(this.#dispatches);
  }

  /** Resolves when every outcome has been written or given up. */
  async written(): Promise<void> {
    await this.#settler.idle();
  }
}
