/** A lane records when it last delivered something: as the archive says, and only for deliveries. */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf, startEngine, type Stream } from "../harness.ts";

describe.each(POSTGRES_VERSIONS)("the last delivery of a lane on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);

  const delivered = async (stream: Stream, key = "k"): Promise<Date | null> => {
    const query = "select delivered_at as at from outbox.lane_positions where stream = $1 and key = $2";
    return (await oneOf<{ at: Date | null }>(engine.superuser, query, [stream.name, key])).at;
  };
  const dispatched = async (id: string): Promise<Date> => {
    const query = "select recorded_at as at from outbox.attempts where outbox_id = $1 and state = 'DISPATCHED'";
    return (await oneOf<{ at: Date }>(engine.superuser, query, [id])).at;
  };

  test("is when the archive recorded it, for a lane that goes idle and for one that continues", async () => {
    const stream = await engine.stream({ runLength: 2 });
    const rows = await engine.enqueueRow(stream, 3);
    const other = await engine.enqueue(stream, { key: "other" });
    expect(await delivered(stream)).toBeNull();
    const run = await engine.claim(stream);
    expect(run).toHaveLength(3);
    await engine.deliver(stream, run);
    expect(await delivered(stream)).toEqual(await dispatched(rows[1]!.outbox_id));
    expect(await delivered(stream, "other")).toEqual(await dispatched(other.outbox_id));
    await engine.drain(stream);
    const last = await dispatched(rows[2]!.outbox_id);
    expect(await delivered(stream)).toEqual(last);
    await engine.enqueue(stream);
    expect(await delivered(stream)).toEqual(last);
  });

  test("is recorded before the run is finished", async () => {
    const stream = await engine.stream();
    const rows = await engine.enqueueRow(stream, 2);
    const run = await engine.claim(stream);
    await engine.deliver(stream, run.slice(0, 1));
    expect(await delivered(stream)).toEqual(await dispatched(rows[0]!.outbox_id));
    await engine.settle(stream, [{ row: run[1]!, outcome: "retry" }]);
    expect(await delivered(stream)).toEqual(await dispatched(rows[0]!.outbox_id));
  });

  test.each(["retry", "unknown", "rejected", "released"] as const)(
    "is null where the outcome is %s",
    async (outcome) => {
      const stream = await engine.stream();
      await engine.enqueue(stream);
      await engine.settle(stream, [{ row: await engine.claimOne(stream), outcome }]);
      expect(await delivered(stream)).toBeNull();
    },
  );

  test("is null where the row is skipped, expires, or is taken back from a dead relay", async () => {
    const stream = await engine.stream();
    const skipped = await engine.enqueue(stream);
    await engine.skip([skipped.outbox_id]);
    await engine.enqueue(stream, { expiresAt: new Date(0) });
    expect(await engine.drain(stream)).toEqual([]);
    await engine.enqueue(stream);
    await engine.claimOne(stream);
    await engine.expireLeases(stream);
    await engine.reap();
    expect(await delivered(stream)).toBeNull();
  });

  test("is the redriven row's, once that is delivered", async () => {
    const stream = await engine.stream();
    const [first, second] = await engine.enqueueRow(stream, 2);
    const run = await engine.claim(stream);
    await engine.settle(stream, [{ row: run[0]!, outcome: "rejected" }]);
    await engine.drain(stream);
    const before = await dispatched(second!.outbox_id);
    await engine.redrive([first!.outbox_id], { outOfOrder: true });
    expect(await delivered(stream)).toEqual(before);
    await engine.drain(stream);
    expect(await delivered(stream)).toEqual(await dispatched(first!.outbox_id));
  });

  test("of a row that a person says arrived is when it was given up; of one that did not, null", async () => {
    for (const arrived of [true, false]) {
      const stream = await engine.stream({ maxTries: 1 });
      const { outbox_id: id } = await engine.enqueue(stream);
      await engine.settle(stream, [{ row: await engine.claimOne(stream), outcome: "unknown" }]);
      const died = "select died_at as at from outbox.dead where outbox_id = $1";
      const { at } = await oneOf<{ at: Date }>(engine.superuser, died, [id]);
      await engine.resolve(id, arrived);
      expect(await delivered(stream)).toEqual(arrived ? at : null);
    }
  });
});
