/**
 * Producers, relays, a reaper, a sweeper, operators and a collector on one database at the same time, each driven by a seeded random
 * generator. Whatever the order: nothing deadlocks, nothing is lost, and the invariants hold.
 */
import { describe, expect, test } from "vitest";
import { toHeadroomError } from "../../../../src/db/errors.ts";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import {
  idsOf,
  oneOf,
  rowsOf,
  startEngine,
  unique,
  type Claimed,
  type Engine,
  type Result,
  type Stream,
} from "../harness.ts";

/** Park and Miller's generator: small, seeded, the same everywhere. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % sides;
  };
}

const rounds = 25;

async function produce(
  engine: Engine,
  stream: Stream,
  ordered: boolean,
  roll: (sides: number) => number,
): Promise<void> {
  const producer = await engine.db.as("headroom_ingest").connect();
  for (let round = 0; round < rounds; round += 1) {
    await producer.query("begin");
    // One key per transaction: only enqueue_many can take several without risking a deadlock.
    const key = `k${roll(6)}`;
    for (let n = roll(3); n >= 0; n -= 1) {
      await engine.enqueue(stream, ordered && roll(4) === 0 ? { key, coalesceKey: "c" } : { key }, producer);
    }
    await producer.query(roll(5) === 0 ? "rollback" : "commit");
    if (roll(3) > 0) continue;
    const rows = Array.from({ length: 6 }, () => ({
      stream: stream.name,
      key: `k${roll(6)}`,
      instruction_id: unique("i"),
      idempotency_key: "1",
      rail: "sure",
      payload: {},
    }));
    await engine.enqueueMany(rows, producer);
  }
  await producer.end();
}

function resultsOf(run: readonly Claimed[], ordered: boolean, roll: (sides: number) => number): Result[] {
  const results: Result[] = [];
  for (const row of run) {
    const outcome = (
      ["delivered", "delivered", "delivered", "delivered", "retry", "unknown", "rejected", "released"] as const
    )[roll(8)]!;
    results.push({ row, outcome });
    if (ordered && outcome !== "delivered") {
      for (const behind of run.slice(results.length)) results.push({ row: behind, outcome: "released" });
      return results;
    }
  }
  return results;
}

async function relay(engine: Engine, stream: Stream, ordered: boolean, roll: (sides: number) => number): Promise<void> {
  const client = await engine.db.as("headroom_executor").connect();
  for (let round = 0; round < rounds; round += 1) {
    const rows = await engine.claim(stream, { maxLanes: 1 + roll(4), maxRows: 5 }, client);
    const runs = ordered ? [...Map.groupBy(rows, (row) => row.lane_id).values()] : [rows];
    // Sometimes a relay dies, with all of its claim or with what is left of it.
    if (roll(5) === 0) continue;
    const settled = roll(4) === 0 ? runs.slice(0, 1) : runs;
    for (const run of settled) await engine.settle(stream, resultsOf(run, ordered, roll), client);
    if (roll(6) === 0) await engine.settle(stream, rows.map((row) => ({ row })).slice(0, 1), client);
  }
  await client.end();
}

async function mend(engine: Engine, stream: Stream, roll: (sides: number) => number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    if (roll(2) === 0) await engine.expireLeases(stream);
    await engine.reap();
    if (roll(2) === 0) await engine.makeDue(stream);
    await rowsOf(engine.executor, "select outbox.sweep()");
    if (roll(4) === 0) await rowsOf(engine.executor, "select outbox.gc()");
  }
}

async function operate(engine: Engine, stream: Stream, roll: (sides: number) => number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const dead = await rowsOf<{ outbox_id: string; parked: boolean }>(
      engine.control,
      "select outbox_id, parked from outbox.list_dead($1, p_limit => 5)",
      [stream.name],
    );
    const ids = dead.map((row) => row.outbox_id);
    const parked = dead.find((row) => row.parked);
    if (parked !== undefined && roll(2) === 0)
      await engine.resolve(parked.outbox_id, roll(2) === 0).catch(ignoreConflict);
    else if (roll(3) === 0) await engine.skip(ids);
    else await engine.redrive(ids, { outOfOrder: true });
    const [waiting] = await rowsOf<{ outbox_id: string }>(
      engine.control,
      "select outbox_id from outbox.pending order by random() limit 1",
    );
    if (waiting !== undefined && roll(4) === 0) await engine.skip([waiting.outbox_id]);
  }
}

/** Two operators may want the same row; the later one is told so. */
function ignoreConflict(error: unknown): void {
  if (toHeadroomError(error).code !== "conflict") throw error;
}

describe.each(POSTGRES_VERSIONS)("everything at the same time on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);

  test.each([
    ["with order, going on after a death", { ordered: true, onDead: "skip" }, 11],
    ["with order, blocking at a death", { ordered: true, onDead: "block" }, 23],
    ["without order", { ordered: false }, 37],
  ] as const)("on a stream %s", async (_name, options, seed) => {
    const stream = await engine.stream({ ...options, maxTries: 3, runLength: 4, backoffBaseMs: 1 });
    const actors = [
      produce(engine, stream, options.ordered, dice(seed)),
      produce(engine, stream, options.ordered, dice(seed + 1)),
      relay(engine, stream, options.ordered, dice(seed + 2)),
      relay(engine, stream, options.ordered, dice(seed + 3)),
      mend(engine, stream, dice(seed + 4)),
      operate(engine, stream, dice(seed + 5)),
      operate(engine, stream, dice(seed + 6)),
    ];
    await Promise.all(actors);
    await engine.assertInvariants();

    // Afterwards everything can be finished: what is stuck is reaped, what is dead is resolved and redriven.
    const left = () =>
      oneOf<{ rows: number }>(
        engine.control,
        "select pending + in_flight + dead + lanes as rows from outbox.status() where stream = $1",
        [stream.name],
      );
    for (let round = 0; round < 50 && (await left()).rows > 0; round += 1) {
      await engine.expireLeases(stream);
      await engine.reap();
      const dead = await rowsOf<{ outbox_id: string; parked: boolean }>(
        engine.control,
        "select outbox_id, parked from outbox.list_dead($1)",
        [stream.name],
      );
      for (const row of dead.filter((letter) => letter.parked)) await engine.resolve(row.outbox_id, false);
      await engine.redrive(idsOf(dead), { outOfOrder: true });
      await engine.makeDue(stream);
      await engine.drain(stream);
    }
    expect(await left()).toEqual({ rows: 0 });
  });
});
