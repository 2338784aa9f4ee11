/**
 * Headroom, as a user of the library runs it: `createRelay` with its defaults. The archive is kept throughout, which
 * neither peer does.
 */
import { createRelay, enqueue, enqueueMany, type RelayLogEntry, type RelayOptions } from "../../src/outbox/index.ts";
import type { Rail, RailMessage, RailOutcome } from "../../src/contract/rail.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { DrainClock, nowMs, pollUntil, type DrainReading } from "../measure.ts";
import { OrderCheck } from "../order-check.ts";
import { asBody, BURST, bodySql, type Body } from "../workload.ts";
import type { Contender, ContenderOptions, DrainOptions, Mode } from "./contender.ts";
import { openHeadroomQueue, RAIL, RAIL_TIMEOUT_MS, STREAMS, type StreamName } from "./headroom-queue.ts";

/** Indices of rows on blocked keys start here, out of the way of all others. */
const BLOCKED_FROM = 1_000_000_000;
const BLOCKING_BOX_MS = 15_000;

/** Only "best" sets anything: everything else is the default. */
type Tuning = Pick<RelayOptions, "maxClaimRows" | "concurrency">;
const TUNED: Tuning = { maxClaimRows: 2_000 };
const RELAY_OPTIONS: Record<Mode, Tuning> = { default: {}, best: TUNED, ordered: TUNED, backlog: {} };

const describeMode = (mode: Mode): string =>
  Object.entries(RELAY_OPTIONS[mode])
    .map(([name, value]) => `${name} ${value ?? "default"}`)
    .join(", ") || "defaults";

const DELIVERED: RailOutcome = { kind: "delivered" };
const REJECTED: RailOutcome = { kind: "rejected", code: "refused", reason: "the benchmark blocks this key" };

export interface StrictDrainOptions {
  readonly rows: number;
  readonly relays: number;
  /** The share of rows that is retried once. */
  readonly retryShare: number;
  readonly boxMs: number;
}

export interface StrictDrainOutcome {
  readonly rate: number;
  readonly delivered: number;
  readonly violations: number;
  readonly retries: number;
}

export interface HeadroomContender extends Contender {
  /** Runs a relay that delivers whatever comes, until it is stopped. */
  run(order: "ordered" | "unordered"): Promise<{ delivered(): number; stop(): Promise<void> }>;
  /** Fills and drains the retrying stream and watches every single call, retried ones included. */
  drainStrictly(options: StrictDrainOptions): Promise<StrictDrainOutcome>;
}

/** Errors of a relay appear with the suite's own errors. */
const reportErrors = (entry: RelayLogEntry): void => {
  if (entry.level === "error") process.stderr.write(`relay: ${JSON.stringify(entry)}\n`);
};

const bodyOf = (message: RailMessage): Body => asBody(message.payload);

const makeRail = (send: Rail["send"]): Rail => ({
  name: RAIL,
  capability: "idempotent",
  timeoutMs: RAIL_TIMEOUT_MS,
  send,
});

export async function openHeadroom({ url, keys }: ContenderOptions): Promise<HeadroomContender> {
  const queue = await openHeadroomQueue(url, keys);
  const start = async (stream: StreamName, mode: Mode, send: Rail["send"]) => {
    const relay = createRelay({
      connectionString: url,
      rails: [makeRail(send)],
      streams: [stream],
      log: reportErrors,
      ...RELAY_OPTIONS[mode],
    });
    await relay.start();
    return relay;
  };
  const row = (body: Body) => ({
    stream: STREAMS.unordered,
    key: body.key,
    instructionId: queue.instruction(body.i),
    idempotencyKey: queue.instruction(body.i),
    rail: RAIL,
    payload: { ...body },
  });

  async function drain(mode: Mode, { target, until, boxMs, onRow }: DrainOptions): Promise<DrainReading> {
    const clock = new DrainClock(target, boxMs);
    const stream = mode !== "ordered" ? STREAMS.unordered : blocking ? STREAMS.blocking : STREAMS.ordered;
    const relay = await start(stream, mode, (message) => {
      clock.saw();
      onRow?.(bodyOf(message));
      return DELIVERED;
    });
    await clock.reached;
    if (clock.complete && until === "empty") await pollUntil(queue.isEmpty, boxMs);
    const reading = clock.finish(until === "empty" ? "now" : "target");
    await relay.stop();
    return reading;
  }

  async function drainStrictly(options: StrictDrainOptions): Promise<StrictDrainOutcome> {
    await queue.fillQueue({ rows: options.rows, layout: "bursts", stream: STREAMS.retrying });
    const order = new OrderCheck();
    const everyNth = options.retryShare > 0 ? Math.round(1 / options.retryShare) : 0;
    let delivered = 0;
    let retries = 0;
    let startedAtMs = 0;
    const send = (message: RailMessage): RailOutcome => {
      if (startedAtMs === 0) startedAtMs = nowMs();
      const body = bodyOf(message);
      // Shifted from key to key, so that every position within a run is hit.
      const again = everyNth > 0 && message.tryNo === 1 && (body.i + Math.floor(body.i / BURST)) % everyNth === 0;
      order.saw(body, !again);
      if (again) {
        retries += 1;
        return { kind: "retry", code: "busy", reason: "the benchmark asks for another try" };
      }
      delivered += 1;
      return DELIVERED;
    };
    const relays = await Promise.all(
      Array.from({ length: options.relays }, () => start(STREAMS.retrying, "ordered", send)),
    );
    await pollUntil(async () => delivered >= options.rows && (await queue.isEmpty()), options.boxMs);
    const tookMs = nowMs() - startedAtMs;
    await Promise.all(relays.map((relay) => relay.stop()));
    return { rate: (delivered * 1000) / tookMs, delivered, violations: order.violations, retries };
  }

  /** A dead head for each blocked key, made by the rail's refusal as in production, and then the rows behind it. */
  async function fillWithBlockedKeys({ readyRows, blockedRows }: { readyRows: number; blockedRows: number }) {
    blocking = true;
    const blockedKeys = Math.ceil(readyRows / BURST / 9);
    const bulk = { stream: STREAMS.blocking, key: `('b' || (g % ${blockedKeys}))`, body: bodySql("g", "none", keys) };
    await queue.fillBulk({ ...bulk, from: BLOCKED_FROM, rows: blockedKeys });
    let refused = 0;
    const relay = await start(STREAMS.blocking, "ordered", () => {
      refused += 1;
      return REJECTED;
    });
    const countBlocked = "select count(*)::integer as blocked from outbox.heads where blocked";
    const allBlocked = async (): Promise<boolean> => {
      const { rows } = await queue.pool.query<{ blocked: number }>(countBlocked);
      return rows[0]?.blocked === blockedKeys;
    };
    const done = await pollUntil(allBlocked, BLOCKING_BOX_MS);
    await relay.stop();
    if (!done) throw new Error(`the keys were not blocked; ${refused} of ${blockedKeys} rows were refused`);
    await queue.fillBulk({ ...bulk, from: BLOCKED_FROM + blockedKeys, rows: blockedRows });
    await queue.fillQueue({ rows: readyRows, layout: "bursts", stream: STREAMS.blocking });
    return readyRows;
  }

  let blocking = false;
  return {
    name: "headroom",
    describe: (mode) => describeMode(mode),
    reset: queue.reset,
    async fillQueue(options) {
      await queue.fillQueue(blocking && options.layout !== "none" ? { ...options, stream: STREAMS.blocking } : options);
    },
    drain,
    drainStrictly,
    fillWithBlockedKeys,
    async run(order) {
      let delivered = 0;
      const relay = await start(STREAMS[order], "default", () => {
        delivered += 1;
        return DELIVERED;
      });
      return { delivered: () => delivered, stop: () => relay.stop() };
    },
    async listen(onRow) {
      const relay = await start(STREAMS.unordered, "default", (message) => {
        onRow(bodyOf(message));
        return DELIVERED;
      });
      await sleep(300);
      return { describe: "defaults", stop: () => relay.stop() };
    },
    async enqueueOne(body) {
      await enqueue(queue.pool, row(body));
    },
    async enqueueMany(bodies) {
      await enqueueMany(queue.pool, bodies.map(row));
    },
    async close() {
      await queue.close();
    },
  };
}
