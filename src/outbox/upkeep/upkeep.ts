/**
 * What every relay does beside sending: takes back what dead relays held, repairs lanes, makes partitions ahead, collects what is past
 * its time, and sees to the tasks that it was given. Several relays doing it at once only share the work.
 */
import type { Pool } from "pg";
import { z } from "zod";
import { call, type Queryable } from "../../db/call.ts";
import { toHeadroomError } from "../../db/errors.ts";
import { type RelayMetrics, renderDatabaseGauges } from "../observe/metrics.ts";
import type { LimitedLog } from "../observe/limited-log.ts";
import type { Log } from "../observe/log.ts";
import { Obstacles } from "../observe/obstacles.ts";
import type { RelayStep } from "../observe/steps.ts";
import type { Settings } from "../relay/options.ts";
import { pause } from "../../db/wait/pause.ts";
import { HeldConnection } from "../../db/held-connection.ts";

const noteEveryMs = 60_000;
const maxRestMs = 300_000;

/** What outbox.gc says that it did. */
const collectedSchema = z.object({
  payloads: z.number(),
  keys: z.number(),
  dropped: z.array(z.string()),
  more: z.boolean(),
});

/** Something that a layer above the engine has relays do beside sending. */
export interface UpkeepTask {
  /** Named in the log when it fails. */
  readonly name: string;
  /** Does what is due. Several relays may do it at the same moment. */
  readonly run: (db: Queryable, log: Log) => Promise<void>;
}

/** What a layer above the engine knows for the metrics: Prometheus text. */
export type GaugeSource = (db: Queryable) => Promise<string>;

export interface UpkeepOptions {
  readonly pool: Pool;
  readonly relayId: number;
  readonly settings: Settings;
  readonly metrics: RelayMetrics;
  readonly tasks: readonly UpkeepTask[];
  readonly gauges: readonly GaugeSource[];
  readonly log: Log;
  readonly limitedLog: LimitedLog;
  readonly onStep: ((step: RelayStep) => void) | undefined;
  readonly stopping: AbortSignal;
  readonly noteAlive: () => Promise<void>;
  readonly onRequeued: () => void;
}

export class Upkeep {
  readonly #options: UpkeepOptions;
  readonly #connection: HeldConnection;
  readonly #obstacles: Obstacles;
  #loops: Promise<unknown> = Promise.resolve();

  constructor(options: UpkeepOptions) {
    this.#options = options;
    this.#connection = new HeldConnection(options.pool);
    this.#obstacles = new Obstacles((entry) => options.limitedLog.tell(entry));
  }

  start(): void {
    const { settings, tasks, noteAlive } = this.#options;
    this.#loops = Promise.all([
      this.#every(settings.reapMs, "reap", () => this.#reap()),
      // While an old transaction keeps dead entries in the indexes a sweep is dear; then it is rarer.
      this.#every(settings.reapMs, "sweep", () => this.#sweep(), 100),
      this.#every(settings.reapMs, "obstacles", () => this.#nameObstacles(), 100),
      ...tasks.map((task) => this.#every(settings.reapMs, task.name, () => this.#do(task))),
      this.#every(settings.upkeepMs, "upkeep", () => this.#tidy()),
      this.#every(noteEveryMs, "note", noteAlive),
    ]);
  }

  async stop(): Promise<void> {
    await this.#loops;
  }

  close(): void {
    this.#connection.close();
  }

  /** What the database knows, for the metrics. What layers above cannot say, because they are not installed, is left out. */
  gauges(): Promise<string> {
    return this.#connection.use(async (db) => {
      const parts = [await renderDatabaseGauges(db)];
      for (const read of this.#options.gauges) parts.push(await read(db).catch(() => ""));
      return parts.join("");
    });
  }

  /** Takes back what dead relays held, for a relay that has no loop of its own. */
  async reapOnce(): Promise<void> {
    await this.#attempt("reap", () => this.#reap());
  }

  /** The rest of the upkeep, likewise. */
  async tidyOnce(): Promise<void> {
    await this.#attempt("sweep", () => this.#sweep());
    await this.#attempt("obstacles", () => this.#nameObstacles());
    for (const task of this.#options.tasks) await this.#attempt(task.name, () => this.#do(task));
    await this.#attempt("upkeep", () => this.#tidy());
  }

  /** Also called when a claim found that a partition was missing. */
  async makePartitions(): Promise<void> {
    await this.#attempt("partitions", async () => {
      const made = await this.#connection.use((db) => call(db, "outbox.ensure_partitions", {}));
      if (made > 0) this.#options.log({ level: "info", event: "partitions_made", count: made });
    });
  }

  /** `restFactor`: how many times as long as the work took there is rest afterwards, at least, but no more than five minutes: it may have waited. */
  async #every(ms: number, name: string, work: () => Promise<void>, restFactor = 0): Promise<void> {
    const { stopping } = this.#options;
    while (!stopping.aborted) {
      const startedAtMs = performance.now();
      await this.#attempt(name, work);
      const restMs = Math.max(ms, Math.min(maxRestMs, restFactor * (performance.now() - startedAtMs)));
      // Spread, so that relays started together do not come together.
      await pause(restMs * (0.9 + Math.random() * 0.2), stopping);
    }
  }

  async #attempt(name: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (this.#options.stopping.aborted) return;
      this.#options.log({ level: "warn", event: "upkeep_failed", what: name, code: toHeadroomError(error).code });
    }
  }

  /** In batches until nothing is left: a relay that died with many small claims must not keep its rows for minutes. */
  async #reap(): Promise<void> {
    const { metrics, log, onStep, onRequeued, stopping } = this.#options;
    while (!stopping.aborted) {
      onStep?.("reap.before");
      const rows = await this.#connection.use((db) => call(db, "outbox.reap", {}));
      onStep?.("reap.after");
      if (rows === 0) return;
      metrics.reaperRequeues += rows;
      metrics.countAttempts("ZOMBIE_REQUEUE", rows);
      log({ level: "warn", event: "reaped", rows });
      onRequeued();
    }
  }

  async #sweep(): Promise<void> {
    const { metrics, log, onRequeued } = this.#options;
    const repaired = await this.#connection.use((db) => call(db, "outbox.sweep", {}));
    if (repaired === 0) return;
    metrics.sweptLanes += repaired;
    log({ level: "error", event: "lanes_repaired", lanes: repaired });
    onRequeued();
  }

  async #nameObstacles(): Promise<void> {
    await this.#connection.use((db) => this.#obstacles.look(db));
    this.#options.limitedLog.flush();
  }

  #do(task: UpkeepTask): Promise<void> {
    return this.#connection.use((db) => task.run(db, this.#options.log));
  }

  async #tidy(): Promise<void> {
    await this.makePartitions();
    await this.#collect();
  }

  /** Batch by batch, so that others get their turn on the connection in between; one batch an hour would never keep up. */
  async #collect(): Promise<void> {
    const { stopping, log } = this.#options;
    let [payloads, keys, dropped] = [0, 0, 0];
    for (let more = true; more && !stopping.aborted;) {
      const done = collectedSchema.parse(await this.#connection.use((db) => call(db, "outbox.gc", {})));
      payloads += done.payloads;
      keys += done.keys;
      dropped += done.dropped.length;
      // A batch that collected nothing will not collect more by being repeated at once.
      more = done.more && done.payloads + done.keys + done.dropped.length > 0;
    }
    if (payloads + keys + dropped > 0)
      log({ level: "info", event: "collected", rows: payloads, keys, partitions: dropped });
  }
}
