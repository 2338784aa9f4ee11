/** The status of streams that are too large to count: estimates are marked as such, and what matters stays exact. */
import { beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { Engine, oneOf, rowsOf, type Stream } from "../harness.ts";

interface Status {
  readonly pending: number;
  readonly due: number;
  readonly in_flight: number;
  readonly dead: number;
  readonly blocked_lanes: number;
  readonly lanes: number;
  readonly retrying: number;
  readonly oldest_pending_age_seconds: number;
  readonly estimated: boolean;
}

const rowsPerStream = 9_000;

describe.each(POSTGRES_VERSIONS)("the status of large streams on PostgreSQL %i", async (version) => {
  const engine = new Engine(await createTestDatabase({ version, template: "whole" }));
  const large: Stream[] = [];
  let [few, apart, fewApart]: Stream[] = [];

  const statusOf = (stream: Stream): Promise<Status> =>
    oneOf(engine.control, "select * from outbox.status() where stream = $1", [stream.name]);

  async function fill(stream: Stream, keys: number): Promise<void> {
    const rows = Array.from({ length: rowsPerStream }, (_, n) => ({
      stream: stream.name,
      key: `k${n % keys}`,
      instruction_id: `${stream.name}-${n}`,
      idempotency_key: "1",
      rail: "sure",
      payload: { n },
    }));
    await engine.enqueueMany(rows);
  }

  async function makeOld(table: "pending" | "pending_unordered", outboxId: string): Promise<void> {
    await rowsOf(engine.superuser, `update outbox.${table} set due = now() - interval '1 hour' where outbox_id = $1`, [
      outboxId,
    ]);
  }

  beforeAll(async () => {
    await engine.start();
    large.push(await engine.stream({ onDead: "block" }), await engine.stream());
    [few, apart, fewApart] = [
      await engine.stream(),
      await engine.stream({ ordered: false }),
      await engine.stream({ ordered: false }),
    ];
    await fill(large[0]!, 500);
    expect((await statusOf(large[0]!)).estimated).toBe(false);
    await fill(large[1]!, 8_000);
    await fill(apart, 1);
    await rowsOf(engine.superuser, "analyze outbox.pending, outbox.heads, outbox.pending_unordered");
  });

  test("what can be counted is counted exactly, up to the last row", async () => {
    expect(await statusOf(apart!)).toMatchObject({ pending: 9_000, due: 9_000, estimated: false });
  });

  test("the rest is estimated and marked so; the sum of the streams equals the table's", async () => {
    const [one, two] = [await statusOf(large[0]!), await statusOf(large[1]!)];
    expect([one.estimated, two.estimated]).toEqual([true, true]);
    expect(one.pending + two.pending).toBeGreaterThan(17_990);
    expect(one.pending + two.pending).toBeLessThan(18_010);
    for (const { pending } of [one, two]) expect(pending).toBeGreaterThan(4_000);
    expect([one.lanes, two.lanes]).toEqual([500, 8_000]);
  });

  test("counts in a sample of the pages are scaled to all pages", async () => {
    const sizes = "update pg_class set reltuples = $1 where oid = 'outbox.pending'::regclass";
    await rowsOf(engine.superuser, sizes, [200_000]);
    const [one, two] = [await statusOf(large[0]!), await statusOf(large[1]!)];
    await rowsOf(engine.superuser, sizes, [18_000]);
    expect(one.pending + two.pending).toBeGreaterThan(9_000);
    expect(one.pending + two.pending).toBeLessThan(36_000);
  });

  test("an existing row is never reported as zero", async () => {
    await engine.enqueue(few!);
    expect(await statusOf(few!)).toMatchObject({ estimated: true, lanes: 1, due: 1 });
    expect((await statusOf(few!)).pending).toBeGreaterThanOrEqual(1);
    const rows = await engine.claim(few!);
    await engine.deliver(few!, rows);
    expect(await statusOf(few!)).toMatchObject({ pending: 0, due: 0, in_flight: 0 });
  });

  test("blocked lanes, dead letters and rows in flight are still counted exactly", async () => {
    await engine.kill(large[0]!);
    await engine.kill(large[0]!);
    const flying = await engine.claim(large[0]!, { maxLanes: 1, maxRows: 5 });
    expect(flying.length).toBeGreaterThan(0);
    expect(await statusOf(large[0]!)).toMatchObject({ blocked_lanes: 2, dead: 2, in_flight: flying.length });
    await engine.deliver(large[0]!, flying);
  });

  test("the age of the oldest row is exact: with order, of a lane's first row; without, of any row", async () => {
    const [first] = await rowsOf<{ id: string }>(
      engine.superuser,
      "select p.outbox_id as id from outbox.pending p join outbox.lanes l using (lane_id) where l.stream_id = $1 order by p.lane_id desc, p.seq limit 1",
      [large[0]!.id],
    );
    expect((await statusOf(large[0]!)).oldest_pending_age_seconds).toBeLessThan(1_800);
    await makeOld("pending", first!.id);
    expect((await statusOf(large[0]!)).oldest_pending_age_seconds).toBeGreaterThan(3_500);
    expect((await statusOf(apart!)).oldest_pending_age_seconds).toBeLessThan(1_800);
    const [row] = await rowsOf<{ id: string }>(
      engine.superuser,
      "select outbox_id as id from outbox.pending_unordered where stream_id = $1 order by due desc limit 1",
      [apart!.id],
    );
    await makeOld("pending_unordered", row!.id);
    expect((await statusOf(apart!)).oldest_pending_age_seconds).toBeGreaterThan(3_500);
  });

  test("an unordered row that was tried keeps the age of its id", async () => {
    const row = await engine.enqueue(fewApart!, { key: null });
    await engine.settle(fewApart!, [{ row: await engine.claimOne(fewApart!), outcome: "retry", afterMs: 3_600_000 }]);
    const later = await engine.enqueue(fewApart!, { key: null });
    const ids = await oneOf<{ exact: boolean }>(
      engine.superuser,
      `select abs(s.oldest_pending_age_seconds - extract(epoch from now() - outbox.id_time($1))) < 0.001 as exact
         from outbox.status() s where s.stream = $2`,
      [row.outbox_id, fewApart!.name],
    );
    expect(ids).toEqual({ exact: true });
    await engine.skip([row.outbox_id, later.outbox_id]);
  });
});
