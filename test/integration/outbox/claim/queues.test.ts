/** The queues to destinations: that each has its turn, that none holds what is not its own, and what is known of their receivers. */
import { describe, expect, onTestFinished, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { idsOf, oneOf, rowsOf, startEngine, unique, type Claimed, type Stream } from "../engine.ts";

const tomorrow = (): Date => new Date(Date.now() + 86_400_000);

describe.each(POSTGRES_VERSIONS)("queues on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);

  async function circuitOf(destination: string): Promise<string> {
    const { circuit } = await oneOf<{ circuit: string }>(
      engine.control,
      "select circuit from outbox.destination_status() where destination = $1",
      [destination],
    );
    return circuit;
  }

  async function fail(stream: Stream, row: Claimed): Promise<void> {
    await engine.settle(stream, [{ row, outcome: "retry", code: "http_500" }]);
  }

  test.each([true, false])(
    "among more queues than one look takes, each has its turn, the first one too (ordered: %s)",
    async (ordered) => {
      const stream = await engine.stream({ ordered });
      const first = unique("first");
      await engine.enqueue(stream, { key: "first", destination: first, notBefore: tomorrow() });
      await engine.enqueueMany(
        Array.from({ length: 1_200 }, (_, n) => ({
          stream: stream.name,
          key: `k${n}`,
          instruction_id: unique("i"),
          idempotency_key: "1",
          rail: "sure",
          payload: {},
          not_before: tomorrow(),
          destination: unique("d"),
        })),
      );
      const due = await engine.enqueue(stream, { key: "due", destination: first });
      const relay = await engine.db.as("headroom_executor").connect();
      onTestFinished(() => relay.end());
      expect(await engine.isDue(stream)).toBe(true);
      const found: string[] = [];
      for (let look = 0; look < 4; look += 1) found.push(...idsOf(await engine.claim(stream, {}, relay)));
      expect(found).toEqual([due.outbox_id]);
    },
  );

  test("a row that comes late and goes nowhere does not wait behind the gate of the row before it", async () => {
    const stream = await engine.stream();
    const destination = unique("shut");
    await engine.enqueue(stream, { key: "k", destination });
    const producer = await engine.db.as("headroom_ingest").connect();
    onTestFinished(() => producer.end());
    const row = await engine.claimOne(stream);
    await producer.query("begin");
    const late = await engine.enqueue(stream, { key: "k" }, producer);
    await engine.settle(stream, [{ row }]);
    await rowsOf(
      engine.superuser,
      "insert into outbox.gates (name, next_slot_at) values ($1, now() + interval '1 day')",
      [destination],
    );
    await producer.query("commit");
    await engine.makeDue(stream);
    expect(await engine.drain(stream)).toEqual([late.outbox_id]);
  });

  test("a first row whose time is over does not hold its lane until its gate opens", async () => {
    const stream = await engine.stream();
    const destination = unique("paused");
    await rowsOf(
      engine.superuser,
      "insert into outbox.gates (name, next_slot_at) values ($1, now() + interval '1 day')",
      [destination],
    );
    const stale = await engine.enqueue(stream, { key: "k", destination, expiresAt: new Date(Date.now() + 3_600_000) });
    const next = await engine.enqueue(stream, { key: "k" });
    expect(await engine.drain(stream)).toEqual([]);
    await rowsOf(
      engine.superuser,
      "update outbox.pending set expires_at = now() - interval '1 s' where outbox_id = $1",
      [stale.outbox_id],
    );
    await rowsOf(engine.executor, "select outbox.sweep(1000000)");
    expect(await engine.drain(stream)).toEqual([next.outbox_id]);
    expect(await engine.place(stale.outbox_id)).toBe("skipped");
  });

  test("what was found out while a clear was not committed yet does not count after it", async () => {
    const stream = await engine.stream();
    const destination = unique("moved");
    await rowsOf(engine.control, "select outbox.limit_destination($1, 0, 2, 60000)", [destination]);
    for (const key of ["a", "b"]) await engine.enqueue(stream, { key, destination });
    const [one, two] = await engine.claim(stream);
    await fail(stream, one!);
    const operator = await engine.db.superuser.connect();
    onTestFinished(() => operator.end());
    await operator.query("begin");
    await rowsOf(operator, "select outbox.clear_destination($1)", [destination]);
    await fail(stream, two!);
    expect(await circuitOf(destination)).toBe("open");
    await operator.query("commit");
    expect(await circuitOf(destination)).toBe("closed");
    const again = await engine.enqueue(stream, { key: "c", destination });
    expect(idsOf(await engine.claim(stream))).toEqual([again.outbox_id]);
  });

  test("an answer undoes a failure that nobody has put into the gate yet", async () => {
    const stream = await engine.stream();
    const destination = unique("answers");
    await rowsOf(engine.control, "select outbox.limit_destination($1, 0, 1)", [destination]);
    for (const key of ["a", "b"]) await engine.enqueue(stream, { key, destination });
    const [one, two] = await engine.claim(stream);
    const holder = await engine.db.superuser.connect();
    onTestFinished(() => holder.end());
    await holder.query("begin");
    await rowsOf(holder, "select outbox.hold_gates(array[$1])", [destination]);
    await fail(stream, one!);
    await engine.deliver(stream, [two!]);
    await holder.query("commit");
    await rowsOf(engine.executor, "select outbox.sweep()");
    expect(await circuitOf(destination)).toBe("closed");
  });

  test("rows that coalesce or expire weigh in a claim like all others", async () => {
    const stream = await engine.stream();
    const payload = { text: "x".repeat(100_000) };
    for (let n = 0; n < 4; n += 1) await engine.enqueue(stream, { key: `k${n}`, payload, coalesceKey: "c" });
    const rows = await rowsOf<Claimed>(
      engine.executor,
      "select * from outbox.claim($1, $2, 100, p_max_bytes => 250000)",
      [engine.relayId, stream.id],
    );
    expect(rows).toHaveLength(2);
  });
});
