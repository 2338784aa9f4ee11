/**
 * graphile-worker, with the settings it was measured at: its documented preset, the best found for a plain drain,
 * and the best found for named queues.
 */
import { Logger, makeWorkerUtils, run, runMigrations, type Runner } from "graphile-worker";
import { setTimeout as sleep } from "node:timers/promises";
import { createPool } from "../database.ts";
import { DrainClock, pollUntil } from "../measure.ts";
import { asBody, bodySql, keySql, type Body } from "../workload.ts";
import type { Contender, ContenderOptions, DrainOptions, FillOptions, Mode } from "./contender.ts";

const JOBS = "graphile_worker._private_jobs";
const QUEUES = "graphile_worker._private_job_queues";
const TASK = "noop";
/** add_jobs() takes an array; a larger one only costs memory. */
const FILL_STEP = 10_000;

interface Settings {
  readonly concurrentJobs: number;
  readonly maxPoolSize: number;
  readonly localQueue?: { readonly size: number };
  readonly completeJobBatchDelay?: number;
  readonly failJobBatchDelay?: number;
}

const PLAIN: Settings = { concurrentJobs: 10, maxPoolSize: 12 };
const PRESET: Settings = {
  concurrentJobs: 10,
  maxPoolSize: 12,
  localQueue: { size: 11 },
  completeJobBatchDelay: 250,
  failJobBatchDelay: 250,
};
const PUBLISHED: Settings = {
  concurrentJobs: 24,
  maxPoolSize: 25,
  localQueue: { size: 500 },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
};
const BEST: Settings = { ...PUBLISHED, localQueue: { size: 2_000 } };

const SETTINGS: Record<Mode, Settings> = { default: PRESET, best: BEST, ordered: PUBLISHED, backlog: BEST };

const describeSettings = (settings: Settings): string =>
  `concurrency ${settings.concurrentJobs}` +
  (settings.localQueue
    ? `, localQueue ${settings.localQueue.size}, completeJobBatchDelay ${settings.completeJobBatchDelay ?? 0}`
    : ", no batching");

export async function openGraphile({ url, keys }: ContenderOptions): Promise<Contender> {
  const pool = createPool(url, 12);
  pool.on("connect", (client) => client.on("error", () => {}));
  const logger = new Logger(() => () => {});
  await runMigrations({ connectionString: url, logger });
  const utils = await makeWorkerUtils({ pgPool: pool, logger });

  const start = (settings: Settings, onRow: (body: Body) => void): Promise<Runner> =>
    run({
      preset: { worker: { connectionString: url, pollInterval: 2_000, ...settings } },
      taskList: { [TASK]: (payload) => onRow(asBody(payload)) },
      logger,
      noHandleSignals: true,
    });

  async function fillQueue({ rows, from = 0, layout, due = "now", plain = false }: FillOptions): Promise<void> {
    const ordered = layout !== "none";
    // Jobs of one transaction share run_at, and only priority and run_at decide the order: without its own
    // run_at for every job the order within a queue is undefined, and graphile-worker could not take part at all.
    const ownRunAt = "now() - interval '1 hour' + g * interval '1 millisecond'";
    const runAt = due === "tomorrow" ? "now() + interval '1 day'" : ordered && !plain ? ownRunAt : "null";
    for (let done = 0; done < rows; done += FILL_STEP) {
      const first = from + done;
      const last = from + Math.min(rows, done + FILL_STEP) - 1;
      await pool.query(
        `select count(*) from graphile_worker.add_jobs((
           select array_agg(row('${TASK}', (${bodySql("g", layout, keys)})::json,
             ${ordered ? keySql("g", layout, keys) : "null"}, ${runAt}, null, null, null, null
           )::graphile_worker.job_spec order by g)
           from generate_series(${first}, ${last}) g))`,
      );
    }
    await pool.query(`vacuum analyze ${JOBS}`);
  }

  async function drain(mode: Mode, { target, until, boxMs, onRow }: DrainOptions) {
    const clock = new DrainClock(target, boxMs);
    const runner = await start(SETTINGS[mode], (body) => {
      clock.saw();
      onRow?.(body);
    });
    await clock.reached;
    if (clock.complete && until === "empty") {
      const isEmpty = async (): Promise<boolean> => {
        const { rows } = await pool.query<{ some: boolean }>(`select exists(select 1 from ${JOBS}) as some`);
        return rows[0]?.some === false;
      };
      await pollUntil(isEmpty, boxMs);
    }
    const reading = clock.finish(until === "empty" ? "now" : "target");
    await runner.stop();
    return reading;
  }

  return {
    name: "graphile-worker",
    describe: (mode) => describeSettings(SETTINGS[mode]),
    async reset() {
      await pool.query(`truncate ${JOBS}, ${QUEUES}`);
    },
    fillQueue,
    drain,
    async listen(onRow) {
      const runner = await start(PLAIN, onRow);
      await sleep(300);
      return { describe: `LISTEN/NOTIFY, ${describeSettings(PLAIN)}`, stop: () => runner.stop() };
    },
    async enqueueOne(body) {
      await utils.addJob(TASK, body);
    },
    async enqueueMany(bodies) {
      await utils.addJobs(bodies.map((body) => ({ identifier: TASK, payload: body })));
    },
    async close() {
      await utils.release();
      await pool.end();
    },
  };
}
