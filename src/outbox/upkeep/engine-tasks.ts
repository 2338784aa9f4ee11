/**
 * The engine's own tasks: taking back what dead relays held, repairing lanes, naming what holds rows up, making partitions ahead, and
 * collecting what is past its time.
 */
import { z } from "zod";
import { call } from "../../db/call.ts";
import type { LimitedLog } from "../observe/limited-log.ts";
import { type RelayMetrics, renderDatabaseGauges } from "../observe/metrics.ts";
import { Obstacles } from "../observe/obstacles.ts";
import type { RelayStep } from "../observe/steps.ts";
import type { Lend } from "../../db/side-pool.ts";
import type { Queryable } from "../../db/call.ts";
import type { Settings } from "../relay/options.ts";
import type { Task } from "./task.ts";

/** Names by which a task can be run. */
export const reaping = "reap";
export const makingPartitions = "partitions";

/** What outbox.gc reports. */
const collectedSchema = z.object({
  payloads: z.number(),
  keys: z.number(),
  dropped: z.array(z.string()),
  more: z.boolean(),
});

export interface EngineTasksOptions {
  readonly settings: Settings;
  readonly metrics: RelayMetrics;
  readonly limitedLog: LimitedLog;
  readonly onStep: ((step: RelayStep) => void) | undefined;
  /** Called when rows may be due that were not before. */
  readonly onRequeued?: () => void;
}

export function engineTasks({ settings, metrics, limitedLog, onStep, onRequeued }: EngineTasksOptions): Task[] {
  const obstacles = new Obstacles((entry) => limitedLog.tell(entry));
  const everyMs = settings.upkeepMs;
  return [
    {
      name: reaping,
      timeoutMs: longMs,
      event: { level: "warn", event: "reaped" },
      // In batches until nothing is left: a relay that died with many small claims must not hold its rows for minutes.
      async run(db) {
        onStep?.("reap.before");
        const rows = await call(db, "outbox.reap", {});
        return { counts: { rows }, more: rows > 0 };
      },
      done({ rows = 0 }) {
        onStep?.("reap.after");
        metrics.reaperRequeues += rows;
        metrics.countAttempts("ZOMBIE_REQUEUE", rows);
        if (rows > 0) onRequeued?.();
      },
    },
    {
      name: "sweep",
      event: { level: "error", event: "lanes_repaired" },
      ...slowAtTimes,
      run: async (db) => ({ counts: { lanes: await call(db, "outbox.sweep", {}) } }),
      done({ lanes = 0 }) {
        metrics.sweptLanes += lanes;
        if (lanes > 0) onRequeued?.();
      },
    },
    {
      name: "obstacles",
      ...slowAtTimes,
      async run(db) {
        await obstacles.look(db);
        limitedLog.flush();
      },
    },
    {
      name: makingPartitions,
      everyMs,
      event: { level: "info", event: "partitions_made" },
      run: async (db) => ({ counts: { count: await call(db, "outbox.ensure_partitions", {}) } }),
    },
    {
      name: "collect",
      everyMs,
      timeoutMs: longMs,
      event: { level: "info", event: "collected" },
      async run(db) {
        const { payloads: rows, keys, dropped, more } = collectedSchema.parse(await call(db, "outbox.gc", {}));
        const counts = { rows, keys, partitions: dropped.length };
        // After a batch that collected nothing, an immediate repeat would collect nothing either.
        return { counts, more: more && rows + keys + dropped.length > 0 };
      },
    },
  ];
}

/** A batch waits for locks of others for a while. Cut off, it is lost whole, and the next one would be cut off too. */
const longMs = 300_000;

/** While an old transaction keeps dead entries in the indexes, a sweep is expensive; then it is done less often. */
const slowAtTimes = { share: 0.01, timeoutMs: longMs } as const;

/** Metrics of a layer above the engine, as Prometheus text. */
export type GaugeSource = (db: Queryable) => Promise<string>;

const gaugesMs = 30_000;

/** Metrics from the database. Those of layers above are left out where these layers are not installed. */
export async function readGauges(lend: Lend, sources: readonly GaugeSource[]): Promise<string> {
  const parts = [await lend(renderDatabaseGauges, gaugesMs)];
  for (const read of sources) parts.push(await lend(read, gaugesMs).catch(() => ""));
  return parts.join("");
}
