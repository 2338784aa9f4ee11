/**
 * A relay on demand: delivers what is due when it is asked to, within bounds, and is silent otherwise. For a route that a
 * database webhook or a timer calls, where no process runs for long.
 *
 * Owns: one turn at a time, its bounds, and its report. Does not own: any part of the engine; claiming, sending and settling are
 * the relay's own, so that any number of both may run at once. A turn that is cut short leaves leases behind, which the next
 * one, or anybody else's, takes back.
 */
import { hostname } from "node:os";
import type { Pool } from "pg";
import { call, type Queryable } from "../../db/call.ts";
import { createPool, surviveLostConnections } from "../../db/connect.ts";
import { toHeadroomError } from "../../db/errors.ts";
import { createRailRegistry } from "../../contract/registry.ts";
import type { Rail } from "../../contract/rail.ts";
import { Claimer } from "../claim/claimer.ts";
import { DrainTurn } from "./drain-turn.ts";
import { type RelayOptions, type Settings, settingsOf } from "./options.ts";
import { Places } from "../claim/places.ts";
import { HeldConnection } from "../../db/held-connection.ts";
import { explainStart } from "./start-checks.ts";
import { readStreams } from "../claim/streams.ts";
import { registerRails } from "../operate/register-rails.ts";
import { requireSafeLeases } from "./start-checks.ts";
import { Calls } from "../dispatch/calls.ts";
import { RelayMetrics } from "../inspect/metrics.ts";
import { Upkeep } from "../upkeep/upkeep.ts";

export type DrainerOptions = Pick<
  RelayOptions,
  | "connectionString"
  | "pool"
  | "rails"
  | "streams"
  | "name"
  | "concurrency"
  | "leaseMarginMs"
  | "upkeepTasks"
  | "log"
  | "onStep"
> & {
  /** Done before a turn claims anything, e.g. `sweepBeforeTurns()`. What it throws is logged, and the turn goes on. Default: nothing. */
  readonly beforeTurn?: ((turn: TurnStart) => Promise<void>) | undefined;
};

export interface TurnStart {
  /** Lends a connection of the turn's. */
  readonly use: <T>(work: (db: Queryable) => Promise<T>) => Promise<T>;
  /** How long the whole turn may go on, this included. */
  readonly budgetMs: number;
  readonly signal: AbortSignal;
}

export interface DrainOptions {
  /** No send begins after so long; calls under way then end by their own time-outs. Default: 10,000. */
  readonly budgetMs?: number | undefined;
  /** No claim begins once so many rows were claimed. Default: 1,000. */
  readonly maxRows?: number | undefined;
  /** Ends the turn early; what was not sent is handed back. */
  readonly signal?: AbortSignal | undefined;
}

export interface DrainReport {
  /** Rows that this turn took. */
  readonly claimed: number;
  readonly delivered: number;
  /** Not delivered, to be tried again. */
  readonly retried: number;
  /** Given up. */
  readonly failed: number;
  /** Handed back unsent. */
  readonly released: number;
  /** Whether something is due that this turn left. */
  readonly more: boolean;
  /** True when another turn of this process is under way; it looks once more before it ends, and this one did nothing. */
  readonly busy: boolean;
}

export interface Drainer {
  /** Delivers what is due. Throws a HeadroomError when the database cannot be used. */
  drain(options?: DrainOptions): Promise<DrainReport>;
  /** Ends the turn under way, hands back what it can, and closes the connections. */
  close(): Promise<void>;
}

export function createDrainer(options: DrainerOptions): Drainer {
  return new OnDemandRelay(options, settingsOf(options));
}

const defaults = { budgetMs: 10_000, maxRows: 1_000 } as const;
/** One claim brings no more, so that the bound on rows means something. */
const maxClaimRows = 100;
/** How often the sweep, partitions and collecting are seen to; each turn reaps. */
const tidyEveryMs = 600_000;
/** A turn that is closed lets its calls go on for so long. */
const closeMs = 5_000;

class OnDemandRelay implements Drainer {
  readonly #options: DrainerOptions;
  readonly #settings: Settings;
  readonly #rails: readonly Rail[];
  readonly #pool: Pool;
  readonly #claiming: HeldConnection;
  readonly #settling: HeldConnection;
  readonly #places: Places;
  readonly #calls = new Calls();
  readonly #closing = new AbortController();
  #railIds: Promise<ReadonlyMap<number, Rail>> | undefined;
  #turn: Promise<DrainReport> | undefined;
  #asked = false;
  #tidiedAtMs = -Infinity;

  constructor(options: DrainerOptions, settings: Settings) {
    this.#options = options;
    this.#settings = settings;
    this.#rails = createRailRegistry(options.rails).all();
    this.#places = new Places(settings.concurrency);
    this.#pool =
      options.pool ??
      createPool(options.connectionString ?? "", { applicationName: "headroom drain", maxConnections: 4 });
    surviveLostConnections(this.#pool);
    this.#claiming = new HeldConnection(this.#pool);
    this.#settling = new HeldConnection(this.#pool);
  }

  async drain(options: DrainOptions = {}): Promise<DrainReport> {
    if (this.#turn !== undefined) {
      this.#asked = true;
      return { claimed: 0, delivered: 0, retried: 0, failed: 0, released: 0, more: true, busy: true };
    }
    const turn = this.#drain(options);
    this.#turn = turn;
    try {
      const report = await turn;
      // Who asked after the last look was told that there is more; so is whoever this turn belongs to.
      return { ...report, more: report.more || this.#takeAsked() };
    } catch (error) {
      throw explainStart(toHeadroomError(error));
    } finally {
      this.#turn = undefined;
    }
  }

  async #drain({
    budgetMs = defaults.budgetMs,
    maxRows = defaults.maxRows,
    signal,
  }: DrainOptions): Promise<DrainReport> {
    const deadlineMs = performance.now() + budgetMs;
    const ending = AbortSignal.any([this.#closing.signal, ...(signal === undefined ? [] : [signal])]);
    await this.#before(budgetMs, ending);
    const rails = await this.#registered();
    const streams = await this.#claiming.use((db) => readStreams(db, this.#options.streams));
    requireSafeLeases(streams, this.#rails, this.#settings.leaseMarginMs);
    // Without a rail there is nothing to send; what would be claimed would only be handed back.
    const served = this.#rails.length === 0 ? [] : streams;
    const relayId = await this.#announce();
    const metrics = new RelayMetrics();
    const upkeep = this.#upkeep(relayId, metrics);
    try {
      await upkeep.reapOnce();
      const turn = new DrainTurn({
        claimers: served.map(
          (stream) => new Claimer(stream, Math.min(maxClaimRows, maxRows), this.#settings.concurrency),
        ),
        rails,
        places: this.#places,
        calls: this.#calls,
        claiming: this.#claiming,
        settling: this.#settling,
        metrics,
        relayId,
        leaseMarginMs: this.#settings.leaseMarginMs,
        log: this.#options.log ?? ignore,
        onStep: this.#options.onStep,
        deadlineMs,
        maxRows,
        signal: ending,
        askedAgain: () => this.#takeAsked(),
        makePartitions: () => upkeep.makePartitions(),
      });
      const report = await turn.run();
      await this.#tidy(upkeep, deadlineMs);
      return report;
    } finally {
      upkeep.close();
      await this.#claiming.use((db) => call(db, "outbox.stop_relay", { p_relay_id: relayId })).catch(ignore);
    }
  }

  async #before(budgetMs: number, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.beforeTurn?.({ use: (work) => this.#claiming.use(work), budgetMs, signal });
    } catch (error) {
      this.#options.log?.({ level: "warn", event: "before_turn_failed", code: toHeadroomError(error).code });
    }
  }

  #takeAsked(): boolean {
    const asked = this.#asked;
    this.#asked = false;
    return asked;
  }

  /** Once for each process, and again after a failure. */
  #registered(): Promise<ReadonlyMap<number, Rail>> {
    this.#railIds ??= this.#claiming
      .use((db) => registerRails(db, this.#rails))
      .catch((error: unknown) => {
        this.#railIds = undefined;
        throw error;
      });
    return this.#railIds;
  }

  /** Each turn is a relay of its own in the archive, and wants no notifications: nobody would hear them. */
  async #announce(): Promise<number> {
    const name = this.#options.name ?? `${hostname()}:${process.pid} on demand`;
    const announced = { p_name: name, p_rails: this.#rails.map((rail) => rail.name) };
    const relayId = await this.#claiming.use((db) => call(db, "outbox.start_relay", announced));
    const quiet = { p_relay_id: relayId, p_name: name, p_wants_notify: false };
    await this.#claiming.use((db) => call(db, "outbox.note_relay", quiet));
    return relayId;
  }

  #upkeep(relayId: number, metrics: RelayMetrics): Upkeep {
    return new Upkeep({
      pool: this.#pool,
      relayId,
      settings: this.#settings,
      tasks: this.#options.upkeepTasks ?? [],
      metrics,
      log: this.#options.log ?? ignore,
      onStep: this.#options.onStep,
      stopping: this.#closing.signal,
      noteAlive: () => Promise.resolve(),
      onRequeued: ignore,
    });
  }

  async #tidy(upkeep: Upkeep, deadlineMs: number): Promise<void> {
    const nowMs = performance.now();
    if (nowMs > deadlineMs || nowMs - this.#tidiedAtMs < tidyEveryMs) return;
    this.#tidiedAtMs = nowMs;
    await upkeep.tidyOnce();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const patience = setTimeout(() => this.#calls.abandonAll(), closeMs);
    await this.#turn?.catch(ignore);
    clearTimeout(patience);
    this.#claiming.close();
    this.#settling.close();
    if (this.#options.pool === undefined) await this.#pool.end();
  }
}

function ignore(): void {}
