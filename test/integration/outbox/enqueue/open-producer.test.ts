import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS, type TestClient } from "../../../helpers/database.ts";
import { oneOf, rowsOf, startEngine } from "../harness.ts";

describe.each(POSTGRES_VERSIONS)("a producer whose transaction stays open, on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);

  /** A relay that fails instead of waiting for anybody. */
  async function impatientRelay(): Promise<TestClient> {
    const relay = await engine.db.as("headroom_executor").connect();
    await relay.query("set lock_timeout = '2s'");
    return relay;
  }

  async function openProducer(): Promise<TestClient> {
    const producer = await engine.db.as("headroom_ingest").connect();
    await producer.query("begin");
    return producer;
  }

  test("delays neither the delivery of other keys nor the settle of its own", async () => {
    const stream = await engine.stream();
    const a1 = await engine.enqueue(stream, { key: "a" });
    const b1 = await engine.enqueue(stream, { key: "b" });
    const relay = await impatientRelay();
    const run = await engine.claim(stream, {}, relay);
    const producer = await openProducer();
    const a2 = await engine.enqueue(stream, { key: "a" }, producer);
    expect(
      await engine.settle(
        stream,
        run.map((row) => ({ row })),
        relay,
      ),
    ).toEqual([]);
    const b2 = await engine.enqueue(stream, { key: "b" });
    const next = await engine.claim(stream, {}, relay);
    expect(next.map((row) => row.outbox_id)).toEqual([b2.outbox_id]);
    await engine.deliver(stream, next);
    expect([await engine.place(a1.outbox_id), await engine.place(b1.outbox_id)]).toEqual(["delivered", "delivered"]);
    await producer.query("commit");
    await engine.makeDue(stream);
    expect(await engine.drain(stream)).toEqual([a2.outbox_id]);
    await Promise.all([producer.end(), relay.end()]);
  });

  test("delays neither a retry, nor a dead letter, nor a reap of its key", async () => {
    const stream = await engine.stream();
    const [first, second] = await engine.enqueueRow(stream, 2);
    const relay = await impatientRelay();
    const run = await engine.claim(stream, {}, relay);
    const producer = await openProducer();
    const third = await engine.enqueue(stream, {}, producer);
    await engine.settle(
      stream,
      [
        { row: run[0]!, outcome: "retry" },
        { row: run[1]!, outcome: "released" },
      ],
      relay,
    );
    await engine.makeDue(stream);
    const [again] = await engine.claim(stream, {}, relay);
    await engine.settle(stream, [{ row: again!, outcome: "rejected" }], relay);
    await engine.claim(stream, {}, relay);
    await engine.expireLeases(stream);
    expect(await engine.reap(relay)).toBe(1);
    expect(await engine.drain(stream)).toEqual([second!.outbox_id]);
    await producer.query("commit");
    await engine.makeDue(stream);
    expect(await engine.drain(stream)).toEqual([third.outbox_id]);
    expect(await engine.place(first!.outbox_id)).toBe("dead");
    await Promise.all([producer.end(), relay.end()]);
  });

  test("does not strand its lane when it commits late, however often the lane was checked", async () => {
    const stream = await engine.stream();
    await engine.enqueue(stream);
    const run = await engine.claim(stream);
    const producer = await openProducer();
    const late = await engine.enqueue(stream, {}, producer);
    await engine.deliver(stream, run);
    for (let look = 0; look < 5; look += 1) {
      await engine.makeDue(stream);
      expect(await engine.claim(stream)).toEqual([]);
    }
    await producer.query("commit");
    await producer.end();
    await engine.makeDue(stream);
    expect(await engine.drain(stream)).toEqual([late.outbox_id]);
  });

  test("is waited for in growing steps of at most a second", async () => {
    const stream = await engine.stream();
    await engine.enqueue(stream);
    const run = await engine.claim(stream);
    const producer = await openProducer();
    await engine.enqueue(stream, {}, producer);
    await engine.deliver(stream, run);
    for (let look = 1; look <= 8; look += 1) {
      const head = await oneOf<{ misses: number; within_a_second: boolean }>(
        engine.superuser,
        "select misses, due <= now() + interval '1 s' as within_a_second from outbox.heads where stream_id = $1",
        [stream.id],
      );
      expect(head).toEqual({ misses: look, within_a_second: true });
      await engine.makeDue(stream);
      await engine.claim(stream);
    }
    await producer.query("rollback");
    await producer.end();
    await engine.makeDue(stream);
    expect(await engine.claim(stream)).toEqual([]);
  });

  test("leaves no gap when it rolls back, and the lane goes idle at the next check", async () => {
    const stream = await engine.stream();
    await engine.enqueue(stream);
    const run = await engine.claim(stream);
    const producer = await openProducer();
    expect(await engine.enqueue(stream, {}, producer)).toMatchObject({ seq: 2 });
    await engine.deliver(stream, run);
    await producer.query("rollback");
    await producer.end();
    await engine.makeDue(stream);
    expect(await engine.claim(stream)).toEqual([]);
    expect(await rowsOf(engine.control, "select from outbox.heads where stream_id = $1", [stream.id])).toEqual([]);
    const next = await engine.enqueue(stream);
    expect(next.seq).toBe(2);
    expect(await engine.drain(stream)).toEqual([next.outbox_id]);
  });

  test("that is the first of its key is invisible until it commits, and then due", async () => {
    const stream = await engine.stream();
    const producer = await openProducer();
    const row = await engine.enqueue(stream, {}, producer);
    expect(await engine.claim(stream)).toEqual([]);
    await producer.query("commit");
    await producer.end();
    expect(await engine.drain(stream)).toEqual([row.outbox_id]);
  });

  test("is not mistaken for a stranded lane by the sweep", async () => {
    const stream = await engine.stream();
    const producer = await openProducer();
    await engine.enqueue(stream, {}, producer);
    expect(await oneOf(engine.executor, "select outbox.sweep() as n")).toEqual({ n: 0 });
    await producer.query("commit");
    await producer.end();
    expect(await oneOf(engine.executor, "select outbox.sweep() as n")).toEqual({ n: 0 });
    expect(await engine.drain(stream)).toHaveLength(1);
  });

  test("blocks a redrive of its key, which says so and does not wait; afterwards both succeed", async () => {
    const stream = await engine.stream();
    const first = await engine.enqueue(stream);
    await engine.kill(stream);
    const producer = await openProducer();
    const second = await engine.enqueue(stream, {}, producer);
    const operator = await engine.db.as("headroom_control").connect();
    expect(await engine.redrive([first.outbox_id], {}, operator)).toMatchObject([{ result: "busy" }]);
    await producer.query("commit");
    expect(await engine.redrive([first.outbox_id], {}, operator)).toMatchObject([{ result: "redriven" }]);
    expect(await engine.drain(stream)).toEqual([first.outbox_id, second.outbox_id]);
    await Promise.all([producer.end(), operator.end()]);
  });
});

describe.each(POSTGRES_VERSIONS)("a lane that lost its head, on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);

  test("is put back to work by the sweep, which reports it", async () => {
    const stream = await engine.stream();
    const rows = await engine.enqueueRow(stream, 2);
    await rowsOf(engine.superuser, "delete from outbox.heads where stream_id = $1", [stream.id]);
    expect(await engine.claim(stream)).toEqual([]);
    expect(await oneOf(engine.executor, "select outbox.sweep() as n")).toEqual({ n: 1 });
    expect(await engine.drain(stream)).toEqual(rows.map((row) => row.outbox_id));
  });
});
