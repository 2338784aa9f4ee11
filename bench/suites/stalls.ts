/**
 * How long others wait while one party blocks: from the acknowledged commit to the handler, for rows to other destinations.
 *
 * The blocker is a receiver that answers after 13 s, with 600 rows waiting for it; or a producer that has set the limit of a destination
 * and enqueued to it, and does not commit; or there is none.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { createRelay, createStream, enqueue } from "../../src/outbox/index.ts";
import { migrate } from "../../src/db/migrate.ts";
import type { RailMessage, RailOutcome } from "../../src/contract/rail.ts";
import { nowMs, percentile, round } from "../measure.ts";
import type { Suite } from "./suite.ts";

const SLOW_MS = 13_000;
const SLOW_ROWS = 600;
const PROBES = 40;
const PROBE_EVERY_MS = 250;
/** Longer waits are counted as this long. */
const MOST_MS = 60_000;

const add = (db: Client, stream: string, instructionId: string, destination: string): Promise<unknown> =>
  enqueue(db, {
    stream,
    key: instructionId,
    instructionId,
    idempotencyKey: "1",
    rail: "bench",
    payload: {},
    destination,
  });

export const stallsSuite: Suite = async ({ url, params, emit }) => {
  const inTheWay = params.text("inTheWay");
  const client = new Client(url);
  await client.connect();
  await migrate(client);
  const holder = new Client(url);
  await holder.connect();
  for (const stream of ["crowded", "elsewhere"]) await createStream(client, stream, {});
  const handledAtMs = new Map<string, number>();
  const ends = new AbortController();
  const relay = createRelay({
    connectionString: url,
    rails: [
      {
        name: "bench",
        capability: "idempotent",
        timeoutMs: 30_000,
        async send(message: RailMessage): Promise<RailOutcome> {
          if (message.destination === "slow")
            await sleep(SLOW_MS, undefined, { signal: ends.signal }).catch(() => undefined);
          else handledAtMs.set(message.instructionId, nowMs());
          return { kind: "delivered" };
        },
      },
    ],
    streams: ["crowded", "elsewhere"],
    stopMs: 1_000,
  });
  await relay.start();

  if (inTheWay === "slow receiver") {
    for (let n = 0; n < SLOW_ROWS; n += 1) await add(client, "crowded", `slow-${n}`, "slow");
    await sleep(1_000);
  }
  await add(client, "crowded", "first", "limited");
  if (inTheWay === "open producer") {
    await holder.query("begin");
    await holder.query("select outbox.limit_destination('limited', 1000)");
    await add(holder, "crowded", "held", "limited");
    await add(client, "crowded", "second", "limited");
  }
  const waits: number[] = [];
  for (let n = 0; n < PROBES; n += 1) {
    const id = `probe-${n}`;
    await add(client, "elsewhere", id, `place-${n % 5}`);
    const committedAtMs = nowMs();
    waits.push(committedAtMs);
    await sleep(PROBE_EVERY_MS);
  }
  const deadlineMs = nowMs() + MOST_MS;
  while (nowMs() < deadlineMs && !waits.every((_, n) => handledAtMs.has(`probe-${n}`))) {
    // The forgotten transaction ends at last.
    if (inTheWay === "open producer" && nowMs() > deadlineMs - MOST_MS + 10_000) await holder.query("rollback");
    await sleep(50);
  }
  const tookMs = waits.map((atMs, n) => Math.min(MOST_MS, (handledAtMs.get(`probe-${n}`) ?? Infinity) - atMs));
  for (const percent of [50, 100]) {
    emit({
      measure: `stalls/${inTheWay}-p${percent}`,
      who: "headroom",
      variant: `${PROBES} rows elsewhere`,
      value: round(percent === 100 ? Math.max(...tookMs) : percentile(tookMs, 50), 2),
      unit: "ms",
    });
  }
  ends.abort();
  await relay.stop();
  await Promise.all([client.end(), holder.end()]);
};
