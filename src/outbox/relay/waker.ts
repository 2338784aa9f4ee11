/**
 * How an idle relay finds out about work: by NOTIFY where it can, and always by polling.
 *
 * NOTIFY makes commits wait for one another, so a busy relay says that it needs none (it claims again anyway). A producer that
 * read the old answer may then commit without a notification while the relay falls asleep; so after a busy period the first
 * polls follow quickly. Polling alone is enough: nothing here is needed for correctness.
 *
 * Owns: sleeping and waking. Does not own: claiming.
 */
import type { Pool } from "pg";
import { call, type Queryable } from "../../db/call.ts";
import { toHeadroomError } from "../../db/errors.ts";
import type { Engine } from "./engine.ts";
import type { RelayMetrics } from "../observe/metrics.ts";
import type { Log } from "../observe/log.ts";
import { pause } from "../../db/wait/pause.ts";
import { HeldConnection } from "../../db/held-connection.ts";
import type { Use } from "../../db/side-pool.ts";

/** Work without a pause for this long makes a relay busy. */
const busyAfterMs = 100;
const firstQuickPollMs = 25;

export interface WakerOptions {
  readonly pool: Pool;
  readonly engine: Engine;
  readonly relayId: number;
  readonly name: string;
  readonly listen: boolean;
  readonly pollMs: number;
  readonly metrics: RelayMetrics;
  readonly log: Log;
  readonly stopping: AbortSignal;
}

export class Waker {
  readonly #options: WakerOptions;
  readonly #listening: HeldConnection;
  #wantsNotify = true;
  #awakeSinceMs: number | undefined;
  #quickPollMs = Infinity;
  #rouse: (() => void) | undefined;
  #nudged = false;
  #relistening = false;

  constructor(options: WakerOptions) {
    this.#options = options;
    this.#listening = new HeldConnection(options.pool, () => void this.#listenAgain());
  }

  async start(): Promise<void> {
    if (this.#options.listen) await this.#listen();
  }

  async #listen(): Promise<void> {
    await this.#listening.listen("outbox_pending", (stream) => this.#notified(stream));
  }

  /** The poll finds what was notified while nobody listened. */
  async #listenAgain(): Promise<void> {
    const { stopping, log, listen } = this.#options;
    // A connection that is lost again while it is being set up calls here too; one loop is enough.
    if (!listen || this.#relistening) return;
    this.#relistening = true;
    for (let failures = 0; !stopping.aborted; failures += 1) {
      await pause(Math.min(100 * 2 ** failures, 10_000), stopping);
      if (stopping.aborted) return;
      try {
        await this.#listen();
        this.#relistening = false;
        this.wake();
        return;
      } catch (error) {
        log({ level: "warn", event: "listen_failed", code: toHeadroomError(error).code });
      }
    }
  }

  #notified(streamName: string): void {
    this.#options.metrics.notifyWakeups += 1;
    for (const claimer of this.#options.engine.claimers) if (claimer.stream.name === streamName) claimer.hot = true;
    this.nudge();
  }

  /** Every stream may have work. */
  wake(): void {
    for (const claimer of this.#options.engine.claimers) claimer.hot = true;
    this.nudge();
  }

  /** Something changed: a sleeping relay checks again what it can do. */
  nudge(): void {
    this.#nudged = true;
    this.#rouse?.();
  }

  /** Called when a claim returned rows. */
  noteWork(): void {
    const nowMs = performance.now();
    this.#awakeSinceMs ??= nowMs;
    if (this.#wantsNotify && nowMs - this.#awakeSinceMs > busyAfterMs) this.#setWantsNotify(false);
  }

  #setWantsNotify(wanted: boolean): void {
    this.#wantsNotify = wanted;
    this.noteAlive().catch((error: unknown) =>
      this.#options.log({ level: "debug", event: "note_failed", code: toHeadroomError(error).code }),
    );
  }

  noteAlive(): Promise<void> {
    return this.use((db) => this.note(db));
  }

  /** The relay's sign of life. */
  async note(db: Queryable): Promise<void> {
    const { relayId, name, listen } = this.#options;
    await call(db, "outbox.note_relay", {
      p_relay_id: relayId,
      p_name: name,
      p_wants_notify: listen && this.#wantsNotify,
    });
  }

  /** Lends the connection that it listens on. */
  readonly use: Use = (work) => this.#listening.use(work);

  /** Returns when there may be something to do. */
  async sleep(): Promise<void> {
    const { engine, pollMs } = this.#options;
    const { claimers } = engine;
    this.#nudged = false;
    if (claimers.some((claimer) => claimer.hot)) return this.#wait(pollMs);
    this.#awakeSinceMs = undefined;
    if (!this.#wantsNotify) {
      this.#setWantsNotify(true);
      this.#quickPollMs = firstQuickPollMs;
    }
    const untilDueMs = await this.#untilDue();
    if (claimers.some((claimer) => claimer.hot)) return;
    await this.#wait(Math.min(pollMs, this.#quickPollMs, untilDueMs));
    this.#quickPollMs *= 2;
  }

  /** Asks what is due, marks those streams, and returns when the next one is. */
  async #untilDue(): Promise<number> {
    let soonest = Infinity;
    for (const { claimer, waitMs } of await this.#options.engine.waits()) {
      const { restMs } = claimer;
      soonest = Math.min(soonest, Math.max(waitMs, restMs));
      if (waitMs === 0 && restMs === 0) claimer.hot = true;
    }
    return soonest;
  }

  async #wait(ms: number): Promise<void> {
    if (this.#nudged || this.#options.stopping.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#rouse = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#rouse = undefined;
  }

  close(): void {
    this.#listening.close();
  }
}
