/**
 * The relay behind a server's route: a drainer with its own rails and connections, and what it does before and after its turns.
 *
 * Owns: the order in which they are closed, and the turns that nobody asked for. Does not own: delivering (src/outbox/relay/drain.ts),
 * tasks (tasks.ts), nor which rails there are (rails.ts).
 */
import { toHeadroomError } from "../../db/errors.ts";
import { openSidePool, type SidePool } from "../../db/side-pool.ts";
import type { TaskMetrics } from "../../outbox/observe/task-metrics.ts";
import { Obstacles } from "../../outbox/observe/obstacles.ts";
import { createDrainer, type Drainer, type DrainOptions, type DrainReport } from "../../outbox/relay/drain.ts";
import { pause } from "../../db/wait/pause.ts";
import type { Rail } from "../../contract/rail.ts";
import { closeRails } from "./close-rails.ts";
import type { Log } from "./log.ts";
import { servedStreams } from "./options.ts";
import { relayTasks } from "./tasks.ts";

export interface OnDemandRelay extends Drainer {
  readonly rails: readonly Rail[];
  /**
   * Takes a turn every minute until it is closed, because rows that fall due by the clock, such as for a further try, call no webhook; and when rows that
   * an earlier turn left fall due, whoever asked for that turn.
   */
  keepTurning(everyMs?: number): void;
}

const turnEveryMs = 60_000;
/** When there is more to do, or another turn is under way. */
const betweenTurnsMs = 1_000;

export interface OnDemandRelayOptions {
  readonly streams?: readonly string[] | undefined;
  /** Closed with the relay. Default: its own. */
  readonly side?: SidePool | undefined;
  /** Counts what tasks do. Default: not counted. */
  readonly taskMetrics?: TaskMetrics | undefined;
}

export function createOnDemandRelay(
  url: string,
  rails: readonly Rail[],
  log: Log,
  options: OnDemandRelayOptions = {},
): OnDemandRelay {
  return new TurningRelay(url, rails, log, options);
}

class TurningRelay implements OnDemandRelay {
  readonly #drainer: Drainer;
  readonly rails: readonly Rail[];
  readonly #log: Log;
  readonly #side: SidePool;
  readonly #closing = new AbortController();
  #turning: Promise<void> | undefined;
  /** When the next turn of our own begins, by this process' monotonic clock. */
  #nextAtMs = Infinity;
  #waiting = new AbortController();

  constructor(url: string, rails: readonly Rail[], log: Log, { streams, side, taskMetrics }: OnDemandRelayOptions) {
    this.#side = side ?? openSidePool(url);
    this.rails = rails;
    this.#log = log;
    this.#drainer = createDrainer({
      connectionString: url,
      rails,
      streams: servedStreams(streams),
      log,
      side: this.#side,
      taskMetrics,
      upkeepTasks: relayTasks,
    });
  }

  async drain(limits?: DrainOptions): Promise<DrainReport> {
    const report = await this.#drainer.drain(limits);
    if (report.more) this.#turnIn(Math.max(report.nextInMs ?? 0, betweenTurnsMs));
    return report;
  }

  keepTurning(everyMs = turnEveryMs): void {
    this.#turning ??= this.#keepTurning(everyMs);
  }

  #turnIn(ms: number): void {
    const atMs = performance.now() + ms;
    if (atMs >= this.#nextAtMs) return;
    this.#nextAtMs = atMs;
    this.#waiting.abort();
  }

  async #keepTurning(everyMs: number): Promise<void> {
    const { signal } = this.#closing;
    await this.#nameObstacles();
    while (!signal.aborted) {
      // Spread, so that servers that start together do not take their turns together.
      this.#nextAtMs = Math.min(this.#nextAtMs, performance.now() + everyMs * (0.9 + Math.random() * 0.2));
      await this.#untilNext();
      if (signal.aborted) return;
      this.#nextAtMs = Infinity;
      try {
        await this.drain({ signal });
      } catch (error) {
        if (!signal.aborted) this.#log({ level: "warn", event: "turn_failed", code: toHeadroomError(error).code });
      }
    }
  }

  /** At the start, because the first turn may be a minute away. */
  async #nameObstacles(): Promise<void> {
    try {
      await this.#side.read((db) => new Obstacles(this.#log).look(db));
    } catch (error) {
      this.#log({ level: "warn", event: "upkeep_failed", what: "obstacles", code: toHeadroomError(error).code });
    }
  }

  /** The time of the next turn may have been moved forward meanwhile. */
  async #untilNext(): Promise<void> {
    const { signal } = this.#closing;
    for (let waitMs; (waitMs = this.#nextAtMs - performance.now()) > 0 && !signal.aborted;) {
      this.#waiting = new AbortController();
      await pause(waitMs, AbortSignal.any([signal, this.#waiting.signal]));
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    try {
      await this.#drainer.close();
      await this.#turning;
    } finally {
      closeRails(this.rails);
      await this.#side.end();
    }
  }
}
