/** The queues to destinations: each has its turn, none holds rows that are not its own, and what is recorded about their receivers. */
import { describe, expect, onTestFinished, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { idsOf, oneOf, rowsOf, startEngine, unique, type Claimed, type Stream } from "../harness.ts";

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
    "among more queues than one claim reads, each has its turn, including the first (ordered: %s)",
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

  test.each([true, false])(
    "a claim reads only the queues that it checks, however many destinations there have been (ordered: %s)",
    async (ordered) => {
      const stream = await engine.stream({ ordered });
      const relay = await engine.db.as("headroom_executor").connect();
      onTestFinished(() => relay.end());
      // A relay that planned its claim while there was almost no data, as after an installation.
      await rowsOf(
        engine.superuser,
        "analyze outbox.heads, outbox.pending_unordered, outbox.destinations, outbox.gates",
      );
      await engine.enqueue(stream, { destination: unique("d") });
      for (let look = 0; look < 3; look += 1) await engine.claim(stream, {}, relay);
      for (let batch = 0; batch < 2; batch += 1)
        await engine.enqueueMany(
          Array.from({ length: 5_000 }, (_, n) => ({
            stream: stream.name,
            key: `${batch}/${n}`,
            instruction_id: unique("i"),
            idempotency_key: "1",
            rail: "sure",
            payload: {},
            not_before: tomorrow(),
            destination: unique("d"),
          })),
        );
      await relay.query("begin");
      await engine.claim(stream, {}, relay);
      const read = await rowsOf<{ relname: string; rows: number }>(
        relay,
        "select relname, (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables where schemaname = 'outbox'",
      );
      await relay.query("commit");
      expect(read.filter(({ rows }) => rows > 2_500)).toEqual([]);
    },
  );

  /** What a relay with only these rails claims. */
  async function claimBy(rails: readonly string[], stream: Stream, maxRows = 100): Promise<string[]> {
    const rows = await rowsOf<Claimed>(
      engine.executor,
      `select * from outbox.claim($1, $2, $3, p_in_flight => jsonb_build_object('rails',
         (select jsonb_agg(r.rail_id) from outbox.rails r where r.name = any ($4))))`,
      [engine.relayId, stream.id, maxRows, rails],
    );
    await engine.deliver(stream, rows);
    return idsOf(rows);
  }

  const flood = (stream: Stream, rail: string, destination: () => string | null, priority = 5) =>
    engine.enqueueMany(
      Array.from({ length: 1_200 }, (_, n) => ({
        stream: stream.name,
        key: `k${n}`,
        instruction_id: unique("i"),
        idempotency_key: "1",
        rail,
        payload: {},
        priority,
        destination: destination(),
      })),
    );

  describe.each([
    ["with order", true],
    ["without order", false],
  ])("of a stream %s", (_name, ordered) => {
    test.each([
      ["each with its own destination", () => unique("d")],
      ["without a destination", () => null],
    ])("rows on a rail that a relay lacks cost it nothing: %s", async (_what, destination) => {
      const stream = await engine.stream({ ordered });
      const others = await flood(stream, "asking", destination);
      const own = await engine.enqueue(stream, {
        key: "own",
        ...(destination() === null ? {} : { destination: "here" }),
      });
      expect(await claimBy(["sure"], stream, 1)).toEqual([own.outbox_id]);
      expect(await claimBy(["sure"], stream)).toEqual([]);
      expect(
        await oneOf(
          engine.superuser,
          `select (select count(*)::int from outbox.attempts a where a.outbox_id = any ($1)) as lines,
             (select count(*)::int from outbox.next_due(array[$2::smallint], jsonb_build_object('rails',
                (select jsonb_agg(rail_id) from outbox.rails where name = 'sure')))) as due`,
          [idsOf(others), stream.id],
        ),
      ).toEqual({ lines: 0, due: 0 });
      expect(await claimBy(["sure", "asking"], stream)).toHaveLength(100);
    });

    test("one login's backlog holds up no other: both are in the next claim", async () => {
      const stream = await engine.stream({ ordered });
      await flood(stream, "sure", () => unique("d"));
      const other = await engine.enqueue(stream, { key: "other", destination: unique("d") }, engine.superuser);
      expect(await claimBy(["sure"], stream, 2)).toContain(other.outbox_id);
    });

    test("urgent rows do not either: the other has its turn before all of them are sent", async () => {
      const stream = await engine.stream({ ordered });
      await flood(stream, "sure", () => null, 9);
      const other = await engine.enqueue(stream, { key: "other" }, engine.superuser);
      const claims: string[] = [];
      while (!claims.includes(other.outbox_id)) {
        const claimed = await claimBy(["sure"], stream, 10);
        if (claimed.length === 0 || claims.length >= 1_000) break;
        claims.push(...claimed);
      }
      // Each of a hundred claims is the other's with a probability of one half.
      expect(claims.slice(0, 1_000)).toContain(other.outbox_id);
    });
  });

  test("a run ends before a row on a rail that the relay lacks, and a relay with that rail continues there", async () => {
    const stream = await engine.stream();
    const [one, two, three, four] = [
      await engine.enqueue(stream, {}),
      await engine.enqueue(stream, {}),
      await engine.enqueue(stream, { rail: "asking" }),
      await engine.enqueue(stream, {}),
    ];
    expect(await claimBy(["sure"], stream)).toEqual(idsOf([one, two]));
    expect(await claimBy(["sure"], stream)).toEqual([]);
    expect(await claimBy(["asking"], stream)).toEqual([three.outbox_id]);
    expect(await claimBy(["asking"], stream)).toEqual([]);
    expect(await claimBy(["sure"], stream)).toEqual([four.outbox_id]);
  });

  test("a lane whose next row came late, on another rail, is found by relays with that rail", async () => {
    const stream = await engine.stream();
    await engine.enqueue(stream, {});
    const producer = await engine.db.as("headroom_ingest").connect();
    onTestFinished(() => producer.end());
    const row = await engine.claimOne(stream);
    await producer.query("begin");
    const late = await engine.enqueue(stream, { rail: "asking" }, producer);
    await engine.settle(stream, [{ row }]);
    await producer.query("commit");
    await engine.makeDue(stream);
    expect(await claimBy(["asking"], stream)).toEqual([]);
    await rowsOf(engine.executor, "select outbox.sweep(1000000)");
    expect(await claimBy(["asking"], stream)).toEqual([late.outbox_id]);
  });

  test.each([true, false])(
    "a row that an older version wrote during an upgrade gets its way (ordered: %s)",
    async (ordered) => {
      const stream = await engine.stream({ ordered });
      const late = [await engine.enqueue(stream, {}), await engine.enqueue(stream, { rail: "asking" })];
      for (const table of ["heads", "pending_unordered"])
        await rowsOf(engine.superuser, `update outbox.${table} set way_id = 0 where stream_id = $1`, [stream.id]);
      for (const table of ["pending", "payloads"])
        await rowsOf(engine.superuser, `update outbox.${table} set way_id = 0 where outbox_id = any ($1)`, [
          idsOf(late),
        ]);
      const next = await engine.enqueue(stream, {});
      expect(await claimBy(["sure", "asking"], stream)).toEqual(ordered ? [] : [next.outbox_id]);
      await rowsOf(engine.executor, "select outbox.sweep(1000000)");
      const claimed: string[] = [];
      for (const rails of [["sure"], ["asking"], ["sure"]]) claimed.push(...(await claimBy(rails, stream)));
      expect(claimed).toEqual(idsOf(ordered ? [...late, next] : late));
    },
  );

  test("a late row without a destination does not wait behind the gate of the row before it", async () => {
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

  test("a first row that has expired does not hold its lane until its gate opens", async () => {
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

  test("what was recorded before a clear was committed does not count after it", async () => {
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

  test("an answer cancels a failure that is not in the gate yet", async () => {
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

  test("rows that coalesce or expire count in a claim like all others", async () => {
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
