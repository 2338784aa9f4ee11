/**
 * pg-boss, with the settings it was measured at: `work()` as documented, two hand-written fetch loops of a thousand
 * as the best found, and strict FIFO queues by key for order.
 */
import { PgBoss } from "pg-boss";
import { setTimeout as sleep } from "node:timers/promises";
import { createPool } from "../database.ts";
import { DrainClock, pollUntil, type DrainReading } from "../measure.ts";
import { BURST, bodySql, makeBody, type Body } from "../workload.ts";
import type { Contender, ContenderOptions, DrainOptions, FillOptions, Mode } from "./contender.ts";

const PLAIN_QUEUE = "q";
const NOTIFY_QUEUE = "qn";
const FIFO_QUEUE = "qf";
const INSERT_STEP = 1_000;
/** Backlogs above this are written by SQL, as pg-boss's own index benchmark does. */
const RAW_FILL_ABOVE = 20_000;

/** Either `work()` or hand-written loops of `fetch()` and `complete()`. */
type Settings =
  | { readonly kind: "work"; readonly localConcurrency: number; readonly batchSize: number }
  | { readonly kind: "loops"; readonly loops: number; readonly batchSize: number };

const SETTINGS: Record<Mode, Settings> = {
  default: { kind: "work", localConcurrency: 10, batchSize: 1 },
  best: { kind: "loops", loops: 2, batchSize: 1_000 },
  ordered: { kind: "loops", loops: 1, batchSize: 1_000 },
  backlog: { kind: "work", localConcurrency: 2, batchSize: 1_000 },
};

const describeSettings = (settings: Settings): string =>
  settings.kind === "loops"
    ? `${settings.loops} fetch/complete loop(s), batchSize ${settings.batchSize}`
    : `work(), localConcurrency ${settings.localConcurrency}, batchSize ${settings.batchSize}` +
      (settings.batchSize > 1 ? ", burstWhenBatchFull" : ", polling every 0.5 s");

export async function openPgBoss({ url, keys }: ContenderOptions): Promise<Contender> {
  const pool = createPool(url, 4);
  const boss = new PgBoss({ connectionString: url, max: 12, schedule: false, supervise: false, useListenNotify: true });
  boss.on("error", (error) => process.stderr.write(`pg-boss: ${error.message}\n`));
  boss.on("warning", () => {});
  await boss.start();
  await boss.createQueue(PLAIN_QUEUE);
  await boss.createQueue(NOTIFY_QUEUE, { notify: true });
  await boss.createQueue(FIFO_QUEUE, { policy: "key_strict_fifo" });
  const { rows: found } = await pool.query<{ name: string }>(
    `select table_name as name from pgboss.queue where name = '${PLAIN_QUEUE}'`,
  );
  // Only the wake test sends a notification with every job.
  let sendQueue = PLAIN_QUEUE;
  const table = `pgboss.${found[0]?.name ?? "job"}`;

  async function fillBySql({ rows, from = 0, layout, due = "now" }: FillOptions): Promise<void> {
    const startAfter = due === "tomorrow" ? "now() + interval '1 day'" : "now()";
    await pool.query(
      `insert into ${table} (name, data, start_after, created_on)
       select '${PLAIN_QUEUE}', ${bodySql("g", layout, keys)}, ${startAfter},
         now() + g * interval '1 microsecond' - interval '1 hour'
       from generate_series(${from}, ${from + rows - 1}) g`,
    );
  }

  async function fillByInsert({ rows, from = 0, layout }: FillOptions): Promise<void> {
    const ordered = layout !== "none";
    // In the bursts layout one insert, so one transaction, contains only events of one key.
    const step = layout === "bursts" ? BURST : INSERT_STEP;
    for (let done = 0; done < rows; done += step) {
      const bodies = Array.from({ length: Math.min(step, rows - done) }, (_, j) =>
        makeBody(from + done + j, layout, keys),
      );
      await boss.insert(
        ordered ? FIFO_QUEUE : PLAIN_QUEUE,
        bodies.map((body) => (ordered ? { data: body, singletonKey: body.key } : { data: body })),
      );
    }
  }

  async function fillQueue(options: FillOptions): Promise<void> {
    const bySql = options.layout === "none" && (options.rows > RAW_FILL_ABOVE || options.due === "tomorrow");
    await (bySql ? fillBySql(options) : fillByInsert(options));
    await pool.query(`vacuum analyze ${table}`);
  }

  async function drainByLoops(
    settings: Settings & { kind: "loops" },
    clock: DrainClock,
    queue: string,
    onRows: OnRows,
  ) {
    const stopping = new AbortController();
    const loop = async (): Promise<void> => {
      while (!stopping.signal.aborted) {
        const jobs = await boss.fetch<Body>(queue, { batchSize: settings.batchSize });
        if (jobs.length === 0) {
          if (clock.complete) break;
          await sleep(2);
          continue;
        }
        onRows(jobs.map((job) => job.data));
        await boss.complete(
          queue,
          jobs.map((job) => job.id),
        );
      }
    };
    const loops = Array.from({ length: settings.loops }, loop);
    await clock.reached;
    stopping.abort();
    await Promise.all(loops);
    return clock.finish("now");
  }

  async function drainByWork(
    settings: Settings & { kind: "work" },
    clock: DrainClock,
    queue: string,
    onRows: OnRows,
    { until, boxMs }: DrainOptions,
  ): Promise<DrainReading> {
    const { localConcurrency, batchSize } = settings;
    const options = { localConcurrency, batchSize, pollingIntervalSeconds: 0.5, burstWhenBatchFull: batchSize > 1 };
    await boss.work<Body>(queue, options, async (jobs) => onRows(jobs.map((job) => job.data)));
    await clock.reached;
    if (clock.complete && until === "empty") {
      const isEmpty = async (): Promise<boolean> => {
        const { rows } = await pool.query<{ some: boolean }>(
          `select exists(select 1 from ${table} where name = $1 and state < 'completed') as some`,
          [queue],
        );
        return rows[0]?.some === false;
      };
      await pollUntil(isEmpty, boxMs);
    }
    const reading = clock.finish("now");
    await boss.offWork(queue, { wait: true });
    return reading;
  }

  async function drain(mode: Mode, options: DrainOptions): Promise<DrainReading> {
    const settings = SETTINGS[mode];
    const queue = mode === "ordered" ? FIFO_QUEUE : PLAIN_QUEUE;
    const clock = new DrainClock(options.target, options.boxMs);
    const onRows: OnRows = (bodies) => {
      clock.saw(bodies.length);
      if (options.onRow) for (const body of bodies) options.onRow(body);
    };
    return settings.kind === "loops"
      ? drainByLoops(settings, clock, queue, onRows)
      : drainByWork(settings, clock, queue, onRows, options);
  }

  return {
    name: "pg-boss",
    describe: (mode) => describeSettings(SETTINGS[mode]),
    async reset() {
      await pool.query(`truncate ${table}`);
    },
    fillQueue,
    drain,
    async listen(onRow) {
      sendQueue = NOTIFY_QUEUE;
      await boss.work<Body>(NOTIFY_QUEUE, { localConcurrency: 10 }, async ([job]) => {
        if (job) onRow(job.data);
      });
      await sleep(500);
      return {
        describe: "notify queue, useListenNotify, localConcurrency 10",
        stop: () => boss.offWork(NOTIFY_QUEUE, { wait: true }),
      };
    },
    async enqueueOne(body) {
      await boss.send(sendQueue, body);
    },
    async enqueueMany(bodies) {
      await boss.insert(
        PLAIN_QUEUE,
        bodies.map((body) => ({ data: body })),
      );
    },
    async close() {
      await boss.stop({ graceful: false });
      await pool.end();
    },
  };
}

type OnRows = (bodies: readonly Body[]) => void;
