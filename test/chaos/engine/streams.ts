/**
 * The three streams of a run and the rows that go onto them.
 *
 * orders: strict order per key, hundreds of keys, continues past dead rows. notes: no order, some rows with a destination, one of which is
 * slow and others never named before.
 * posts: strict order, blocked by a dead row, each key bound to a destination with a rate limit and a circuit.
 */
import { createStream } from "../../../src/outbox/operate/create-stream.ts";
import type { NewRow } from "../../../src/outbox/enqueue/enqueue.ts";
import { call, type Queryable } from "../../../src/db/call.ts";
import type { Random } from "../kit/random.ts";
import type { Settings } from "./settings.ts";

export const streamNames = ["orders", "notes", "posts"] as const;
export type StreamName = (typeof streamNames)[number];

export const railName = "webhook";
const destinations = 8;
const postKeys = 48;

/** Rows never run out of tries, so that every dead row has another reason. */
const manyTries = 1_000;

export async function makeStreams(db: Queryable, settings: Settings): Promise<void> {
  const common = {
    maxTries: manyTries,
    backoffBaseMs: 40,
    backoffFactor: 2,
    backoffCapMs: 800,
    leaseSeconds: settings.leaseSeconds,
    runLength: settings.load.runLength,
  };
  await createStream(db, "orders", { ...common, ordered: true, onDead: "skip" });
  await createStream(db, "notes", { ...common, ordered: false });
  await createStream(db, "posts", { ...common, ordered: true, onDead: "block" });
  await call(db, "outbox.register_rail", {
    p_name: railName,
    p_capability: "idempotent",
    p_timeout_ms: settings.relay.timeoutMs,
    p_dedup_window_ms: null,
  });
  for (let number = 0; number < destinations; number += 1) {
    await call(db, "outbox.limit_destination", {
      p_name: destinationOf(number),
      p_min_interval_ms: number < destinations / 2 ? 25 : 0,
      p_failure_threshold: 3,
      p_open_base_ms: 150,
    });
  }
}

/** A send there takes most of the rail's timeout. */
export const slowDestination = "receiver:slow";

function destinationOf(number: number): string {
  return `receiver:${number % destinations}`;
}

/** The common part: n identifies the intent everywhere. */
function row(stream: StreamName, n: number, rest: Partial<NewRow>): NewRow {
  return {
    stream,
    instructionId: `instruction-${n}`,
    idempotencyKey: `key-${n}`,
    rail: railName,
    payload: { n, stream, filler: "x".repeat(n % 200) },
    ...rest,
  };
}

/** Few keys are hot, most are cold. */
function orderKey(random: Random, keys: number): string {
  return `order-${Math.floor(keys * random.next() ** 2)}`;
}

export function orderRow(n: number, random: Random, keys: number, key?: string): NewRow {
  const chosen = key ?? orderKey(random, keys);
  return row("orders", n, {
    key: chosen,
    ...random.weighted<Partial<NewRow>>([
      [{}, 88],
      [{ priority: random.between(0, 9) }, 4],
      [{ notBefore: new Date(Date.now() + random.between(50, 400)) }, 3],
      [{ coalesceKey: "status" }, 5],
    ]),
  });
}

export function noteRow(n: number, random: Random): NewRow {
  return row("notes", n, {
    ...(random.chance(0.5) ? { key: `note-${n % 7}` } : {}),
    ...random.weighted<Partial<NewRow>>([
      [{}, 80],
      [{ destination: destinationOf(random.between(0, 99)) }, 12],
      [{ destination: slowDestination }, 6],
      [{ destination: `fresh:${n}` }, 4],
      [{ expiresAt: new Date(Date.now() + 3_600_000) }, 4],
      [{ priority: random.between(0, 9) }, 4],
    ]),
  });
}

export function postRow(n: number, random: Random): NewRow {
  const key = random.between(0, postKeys - 1);
  return row("posts", n, { key: `post-${key}`, destination: destinationOf(key) });
}

export function anyRow(n: number, random: Random, keys: number): NewRow {
  const stream = random.weighted<StreamName>([
    ["orders", 68],
    ["notes", 22],
    ["posts", 10],
  ]);
  if (stream === "orders") return orderRow(n, random, keys);
  return stream === "notes" ? noteRow(n, random) : postRow(n, random);
}
