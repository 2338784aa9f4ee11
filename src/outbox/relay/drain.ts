/**
 * A relay on demand: delivers what is due when it is asked to, within bounds, and is silent otherwise. For a route that a
 * database webhook or a timer calls, where no process runs for long.
 *
 * Owns: one turn at a time, its bounds, and its report. Does not own: any part of the engine; it claims, sends and settles with
 * the relay's own parts, so that any number of both may run at the same time. A turn that is cut short leaves leases behind, which the
 * next turn, or any relay, takes back.
 */
import { hostname } from "node:os";
import type { Queryable } from "../../db/call.ts";
import { toHeadroomError } from "../../db/errors.ts";
import { withTimeout } from "../../db/wait/with-timeout.ts";
import { RelayMetrics } from "../observe/metrics.ts";
import type { Ticker } from "../upkeep/ticker.ts";
import { DrainTurn, type TurnReport } from "./drain-turn.ts";
import { type RelayOptions, type Settings, settingsOf } from "./options.ts";
import { RelayResources } from "./resources.ts";
import { explainStart } from "./start-checks.ts";

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
  | "side"
  | "taskMetrics"
  | "log"
  | "onStep"
> & {
  /** Runs before a turn claims anything, e.g. `sweepBeforeTurns()`. Errors are logged, and the turn continues. Default: nothing. */
  readonly beforeTurn?: ((turn: TurnStart) => Promise<void>) | undefined;
};

export interface TurnStart {
  /** Lends one of the turn's connections. */
  readonly use: <T>(work: (db: Queryable) => Promise<T>) => Promise<T>;
  /** How long the whole turn may take, including this. */
  readonly budgetMs: number;
  readonly signal: AbortSignal;
}

export interface DrainOptions {
  /**
   * No send begins after this many milliseconds; calls under way then end by their own time-outs. What falls due before that, by a rate
   * limit or a pause between tries, is waited for. Default: 10,000.
   */
  readonly budgetMs?: number | undefined;
  /** No claim begins once this many rows were claimed. Default: 1,000. */
  readonly maxRows?: number | undefined;
  /** Ends the turn early; what was not sent is handed back. */
  readonly signal?: AbortSignal | undefined;
}

export interface DrainReport {
  /** Rows that this turn claimed. */
  readonly claimed: number;
  readonly delivered: number;
  /** Not delivered, to be tried again. */
  readonly retried: number;
  /** Given up. */
  readonly failed: number;
  /** Handed back unsent. */
  readonly released: number;
  /** Whether something that this turn left can be sent within a minute. */
  readonly more: boolean;
  /** When that is, or later than a minute: milliseconds from the end of the turn. Null: nothing is dated, or another turn is under way. */
  readonly nextInMs: number | null;
  /** True when another turn of this process is under way; that one claims again before it ends, and this one did nothing. */
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
/** How long a closed turn lets its calls continue. */
const closeMs = 5_000;

class OnDemandRelay implements Drainer {
  readonly #options: DrainerOptions;
  readonly #resources: RelayResources;
  readonly #closing = new AbortController();
  readonly #ticker: Ticker;
  #turn: Promise<DrainReport> | undefined;
  #current: DrainTurn | undefined;
  #asked = false;

  constructor(options: DrainerOptions, settings: Settings) {
    this.#options = options;
    this.#resources = new RelayResources(options, settings, { applicationName: "headroom drain", held: 2 });
    // A turn's report counts what it sent; rows that were taken back before are not in it.
    this.#ticker = this.#resources.ticker(new RelayMetrics());
  }

  async drain(options: DrainOptions = {}): Promise<DrainReport> {
    if (this.#turn !== undefined) {
      this.#asked = true;
      this.#current?.lookAgain();
      return { claimed: 0, delivered: 0, retried: 0, failed: 0, released: 0, more: true, nextInMs: null, busy: true };
    }
    const turn = this.#drain(options);
    this.#turn = turn;
    try {
      const report = await turn;
      // A caller who asked after the last claim was told that there is more; so is the caller of this turn.
      return this.#takeAsked() ? { ...report, more: true, nextInMs: 0 } : report;
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
  }: DrainOptions): Promise<TurnReport> {
    const deadlineMs = performance.now() + budgetMs;
    const ending = AbortSignal.any([this.#closing.signal, ...(signal === undefined ? [] : [signal])]);
    await this.#before(budgetMs, ending);
    // In the archive, each turn is a separate relay.
    const announced = await this.#resources.announce(this.#options.name ?? `${hostname()}:${process.pid} on demand`, {
      onDemand: true,
    });
    const turn = new DrainTurn({
      resources: this.#resources,
      announced,
      deadlineMs,
      maxRows,
      signal: ending,
      ticker: this.#ticker,
      askedAgain: () => this.#takeAsked(),
    });
    this.#current = turn;
    try {
      const report = await turn.run();
      await this.#ticker.afterTurn(deadlineMs);
      return report;
    } finally {
      this.#current = undefined;
      await this.#resources.signOff(announced.relayId);
    }
  }

  async #before(budgetMs: number, signal: AbortSignal): Promise<void> {
    const { claiming, log } = this.#resources;
    await this.#ticker.beforeTurn({ budgetMs, signal });
    try {
      await this.#options.beforeTurn?.({ use: (work) => claiming.use(work), budgetMs, signal });
    } catch (error) {
      log({ level: "warn", event: "before_turn_failed", code: toHeadroomError(error).code });
    }
  }

  #takeAsked(): boolean {
    const asked = this.#asked;
    this.#asked = false;
    return asked;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#ticker.stop();
    const turn = this.#turn?.catch(() => undefined);
    const ended = await withTimeout(turn, closeMs);
    if (ended.kind === "late") this.#resources.calls.abandonAll();
    await turn;
    await this.#resources.close();
  }
}
