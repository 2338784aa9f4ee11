import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf, refusalOf, refusedAs, rowsOf, startEngine, unique, type Stream } from "../harness.ts";

/** Rows for enqueue_many. */
function many(stream: Stream, rows: readonly { key?: string | null; instruction: string; payload?: unknown }[]) {
  return rows.map((row) => ({
    stream: stream.name,
    key: row.key === undefined ? "k" : row.key,
    instruction_id: row.instruction,
    idempotency_key: "1",
    rail: "sure",
    payload: row.payload ?? {},
  }));
}

describe.each(POSTGRES_VERSIONS)("enqueue on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);

  describe.each([
    ["with order", true],
    ["without order", false],
  ])("on a stream %s", (_name, ordered) => {
    test("a repeat returns the existing row and changes nothing", async () => {
      const stream = await engine.stream({ ordered });
      const instruction = unique("i");
      const first = await engine.enqueue(stream, { instruction, payload: { a: 1, b: 2 } });
      expect(first.created).toBe(true);
      const again = await engine.enqueue(stream, { instruction, payload: { b: 2, a: 1 } });
      expect(again).toEqual({ ...first, created: false });
      expect(await engine.drain(stream)).toEqual([first.outbox_id]);
    });

    test("a repeat is recognised in flight, after delivery, after death and after a skip", async () => {
      const stream = await engine.stream({ ordered });
      const seen: (string | undefined)[] = [];
      const enqueue = (instruction: string) => engine.enqueue(stream, { instruction });
      const [delivered, dead, skipped] = [unique("i"), unique("i"), unique("i")];
      const one = await enqueue(delivered);
      const claimed = await engine.claim(stream);
      seen.push((await enqueue(delivered)).outbox_id);
      await engine.deliver(stream, claimed);
      seen.push((await enqueue(delivered)).outbox_id);
      const two = await enqueue(dead);
      await engine.kill(stream);
      seen.push((await enqueue(dead)).outbox_id);
      const three = await enqueue(skipped);
      await engine.skip([three.outbox_id]);
      seen.push((await enqueue(skipped)).outbox_id);
      expect(seen).toEqual([one, one, two, three].map((row) => row.outbox_id));
      expect(await engine.claim(stream)).toEqual([]);
    });

    test("the same key with another payload is refused, and nothing changes", async () => {
      const stream = await engine.stream({ ordered });
      const instruction = unique("i");
      const first = await engine.enqueue(stream, { instruction, payload: { amount: 1 } });
      const refusal = await refusalOf(engine.enqueue(stream, { instruction, payload: { amount: 2 } }));
      expect(refusal).toMatchObject(refusedAs("idempotency_conflict", first.outbox_id));
      const refusedMany = await refusalOf(engine.enqueueMany(many(stream, [{ instruction, payload: { amount: 3 } }])));
      expect(refusedMany).toMatchObject(refusedAs("idempotency_conflict"));
      expect(await engine.claimOne(stream)).toMatchObject({ body: '{"amount": 1}' });
      await engine.expireLeases(stream);
      await engine.reap();
    });

    test("another idempotency key of the instruction, and another stream, make new rows", async () => {
      const [stream, other] = [await engine.stream({ ordered }), await engine.stream({ ordered })];
      const instruction = unique("i");
      const rows = [
        await engine.enqueue(stream, { instruction, idempotencyKey: "1" }),
        await engine.enqueue(stream, { instruction, idempotencyKey: "2" }),
        await engine.enqueue(other, { instruction, idempotencyKey: "1" }),
      ];
      expect(rows.every((row) => row.created)).toBe(true);
    });

    test("the same key from two connections at the same time makes one row", async () => {
      const stream = await engine.stream({ ordered });
      const instruction = unique("i");
      const [one, two] = await engine.db.twoConnections("headroom_ingest");
      await one.query("begin");
      const first = await engine.enqueue(stream, { instruction }, one);
      const second = engine.enqueue(stream, { instruction }, two);
      await engine.db.waitUntilBlocked(two);
      await one.query("commit");
      expect(await second).toEqual({ ...first, created: false });
      await Promise.all([one.end(), two.end()]);
      expect(await engine.drain(stream)).toEqual([first.outbox_id]);
    });

    test("the same key from two connections, the first of which rolls back, makes one row", async () => {
      const stream = await engine.stream({ ordered });
      const instruction = unique("i");
      const [one, two] = await engine.db.twoConnections("headroom_ingest");
      await one.query("begin");
      await engine.enqueue(stream, { instruction }, one);
      const second = engine.enqueue(stream, { instruction }, two);
      await engine.db.waitUntilBlocked(two);
      await one.query("rollback");
      const row = await second;
      expect(row).toMatchObject({ created: true, seq: ordered ? 1 : null });
      await Promise.all([one.end(), two.end()]);
      expect(await engine.drain(stream)).toEqual([row.outbox_id]);
    });

    test("many in one call give one answer per element, including repeats within the array", async () => {
      const stream = await engine.stream({ ordered });
      const [a, b, c] = [unique("i"), unique("i"), unique("i")];
      const known = await engine.enqueue(stream, { instruction: b, payload: {} });
      const answers = await engine.enqueueMany(
        many(stream, [{ instruction: a }, { instruction: b }, { instruction: c }, { instruction: a }]),
      );
      const byOrd = answers.toSorted((x, y) => x.ord - y.ord);
      expect(byOrd.map((row) => [row.ord, row.created])).toEqual([
        [1, true],
        [2, false],
        [3, true],
        [4, false],
      ]);
      expect(byOrd[1]!.outbox_id).toBe(known.outbox_id);
      expect(byOrd[3]!.outbox_id).toBe(byOrd[0]!.outbox_id);
      expect(await engine.drain(stream)).toHaveLength(3);
    });
  });

  test("numbers of a key are gapless after a rollback, per key and per stream", async () => {
    const stream = await engine.stream();
    const producer = await engine.db.as("headroom_ingest").connect();
    expect((await engine.enqueue(stream, { key: "a" }, producer)).seq).toBe(1);
    await producer.query("begin");
    expect((await engine.enqueue(stream, { key: "a" }, producer)).seq).toBe(2);
    expect((await engine.enqueue(stream, { key: "b" }, producer)).seq).toBe(1);
    await producer.query("rollback");
    expect((await engine.enqueue(stream, { key: "a" }, producer)).seq).toBe(2);
    expect((await engine.enqueue(stream, { key: "b" }, producer)).seq).toBe(1);
    await producer.end();
    await engine.drain(stream);
  });

  test("rows that share a transaction keep the order in which they were enqueued", async () => {
    const stream = await engine.stream();
    const producer = await engine.db.as("headroom_ingest").connect();
    await producer.query("begin");
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) ids.push((await engine.enqueue(stream, {}, producer)).outbox_id);
    await producer.query("commit");
    await producer.end();
    expect(await engine.drain(stream)).toEqual(ids);
  });

  test("many rows of a key are numbered in the order of the array, among other keys and after existing rows", async () => {
    const stream = await engine.stream();
    const first = await engine.enqueue(stream, { key: "z" });
    const rows = Array.from({ length: 40 }, (_, n) => ({ key: n % 2 === 0 ? "z" : "a", instruction: unique("i") }));
    const answers = (await engine.enqueueMany(many(stream, rows))).toSorted((x, y) => x.ord - y.ord);
    expect(answers.filter((_, n) => n % 2 === 0).map((row) => row.seq)).toEqual(
      Array.from({ length: 20 }, (_, n) => n + 2),
    );
    expect(answers.filter((_, n) => n % 2 === 1).map((row) => row.seq)).toEqual(
      Array.from({ length: 20 }, (_, n) => n + 1),
    );
    const delivered = await engine.drain(stream);
    const ofZ = [first.outbox_id, ...answers.filter((_, n) => n % 2 === 0).map((row) => row.outbox_id)];
    expect(delivered.filter((id) => ofZ.includes(id))).toEqual(ofZ);
  });

  test("two producers with overlapping sets in opposite orders never deadlock", async () => {
    const stream = await engine.stream();
    const keys = Array.from({ length: 20 }, (_, n) => `k${n}`);
    const [one, two] = await engine.db.twoConnections("headroom_ingest");
    for (let round = 0; round < 15; round += 1) {
      const shared = keys.map((key) => ({ key, instruction: `${stream.name}-${round}-${key}` }));
      const answers = await Promise.all([
        engine.enqueueMany(many(stream, shared), one),
        engine.enqueueMany(many(stream, shared.toReversed()), two),
      ]);
      expect(answers.flat().filter((row) => row.created)).toHaveLength(keys.length);
    }
    await Promise.all([one.end(), two.end()]);
    expect(await engine.drain(stream)).toHaveLength(15 * keys.length);
  });

  test("two producers that first name the same new destinations in opposite orders never deadlock", async () => {
    const stream = await engine.stream();
    const [one, two] = await engine.db.twoConnections("headroom_ingest");
    for (let round = 0; round < 5; round += 1) {
      const names = Array.from({ length: 10 }, () => unique("d"));
      const rows = (list: readonly string[]) =>
        many(
          stream,
          list.map(() => ({ key: unique("k"), instruction: unique("i") })),
        ).map((row, n) => ({ ...row, destination: list[n] }));
      await Promise.all([engine.enqueueMany(rows(names), one), engine.enqueueMany(rows(names.toReversed()), two)]);
    }
    await Promise.all([one.end(), two.end()]);
    expect(await engine.drain(stream)).toHaveLength(100);
  });

  test("a lane's first row from two connections at once makes one lane and one head", async () => {
    const stream = await engine.stream();
    const [one, two] = await engine.db.twoConnections("headroom_ingest");
    await one.query("begin");
    const first = await engine.enqueue(stream, { key: "new" }, one);
    const second = engine.enqueue(stream, { key: "new" }, two);
    await engine.db.waitUntilBlocked(two);
    await one.query("commit");
    expect([first.seq, (await second).seq]).toEqual([1, 2]);
    await Promise.all([one.end(), two.end()]);
    expect(await engine.drain(stream)).toEqual([first.outbox_id, (await second).outbox_id]);
  });

  test("producers wake an idle relay, and do not wake a busy one", async () => {
    const stream = await engine.stream();
    const listener = await engine.db.as("headroom_executor").connect();
    const heard: string[] = [];
    listener.on("notification", (message) => heard.push(message.payload ?? ""));
    await listener.query("listen outbox_pending");
    const wants = (yes: boolean) =>
      rowsOf(engine.executor, "select outbox.note_relay($1, 'test', $2)", [engine.relayId, yes]);
    await wants(false);
    await engine.enqueue(stream, { key: "a" });
    await wants(true);
    await engine.enqueue(stream, { key: "b", notBefore: new Date(Date.now() + 3_600_000) });
    await engine.enqueue(stream, { key: "c" });
    await expect.poll(() => heard).toEqual([stream.name]);
    await engine.enqueueMany(many(stream, [{ key: "d", instruction: unique("i") }]));
    await expect.poll(() => heard).toEqual([stream.name, stream.name]);
    await listener.end();
    expect(await oneOf(engine.control, "select due from outbox.status() where stream = $1", [stream.name])).toEqual({
      due: 3,
    });
  });
});
