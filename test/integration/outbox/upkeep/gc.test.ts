import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf, refusalOf, refusedAs, rowsOf, startEngine, unique, type Stream } from "../harness.ts";

interface Report {
  readonly dropped: readonly string[];
  readonly kept: readonly { partition: string; reason: string }[];
  readonly payloads: number;
  readonly keys: number;
  readonly more: boolean;
  readonly busy: boolean;
}

type Fate = "delivered" | "dead" | "pending" | "in flight";

describe.each(POSTGRES_VERSIONS)("collecting what is past its retention, on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);

  const gc = async (batch = 10_000): Promise<Report> =>
    (await oneOf<{ report: Report }>(engine.executor, "select outbox.gc($1) as report", [batch])).report;

  let daysAgo = 100;

  /** A partition for one day long ago; each call for the "week" class takes another day. */
  async function oldPartition(retention = "week"): Promise<{ name: string; at: string }> {
    if (retention === "week") daysAgo += 1;
    const [made] = await rowsOf<{ name: string; at: string; from_id: string; to_id: string }>(
      engine.superuser,
      `select format('outbox.attempts_%s_', $2::text) || to_char(d.at at time zone 'utc', 'YYYYMMDD') as name, (d.at + interval '12 hours')::text as at,
              outbox.partition_floor(d.at) as from_id, outbox.partition_floor(d.at + interval '1 day') as to_id
         from (select date_trunc('day', now(), 'UTC') - make_interval(days => $1) as at) d`,
      [daysAgo, retention],
    );
    const owner = await engine.db.as("headroom_owner").connect();
    await owner.query("set role headroom_owner");
    await owner.query(`create table ${made!.name} (like outbox.attempts including defaults including constraints)`);
    await owner.query(
      `alter table outbox.attempts_${retention} attach partition ${made!.name} for values from ('${made!.from_id}') to ('${made!.to_id}')`,
    );
    await owner.end();
    return { name: made!.name, at: made!.at };
  }

  /**
   * A row as if it had been enqueued at that time: everything with its id is written again under an old one. The archive cannot be changed,
   * so its lines are written by hand.
   */
  async function oldRow(stream: Stream, at: string, fate: Fate, linesAt = at): Promise<string> {
    const row = await engine.enqueue(stream, { key: unique("k") });
    const { id } = await oneOf<{ id: string }>(
      engine.superuser,
      `select encode(overlay(uuid_send($1::uuid) placing substring(int8send((extract(epoch from $2::timestamptz) * 1000)::bigint) from 3) from 1 for 6), 'hex')::uuid as id`,
      [row.outbox_id, at],
    );
    for (const table of ["payloads", "dedupe", "pending", "pending_unordered"]) {
      const created = table.startsWith("p") && table !== "payloads" ? "" : ", created_at = $3";
      const values = created === "" ? [row.outbox_id, id] : [row.outbox_id, id, at];
      await rowsOf(
        engine.superuser,
        `update outbox.${table} set outbox_id = $2${created} where outbox_id = $1`,
        values,
      );
    }
    if (fate === "pending") return id;
    const [claimed] = await engine.claim(stream);
    if (fate === "in flight") return id;
    await engine.settle(stream, [{ row: claimed!, outcome: fate === "dead" ? "rejected" : "delivered" }]);
    await backdateLines(id, linesAt);
    await rowsOf(engine.superuser, "insert into outbox.answers values ($1, 2, 'said') on conflict do nothing", [id]);
    return id;
  }

  /** Only a superuser who switches triggers off can do this. */
  async function backdateLines(id: string, at: string): Promise<void> {
    const client = await engine.db.superuser.connect();
    await client.query("set session_replication_role = replica");
    await client.query("update outbox.attempts set recorded_at = $2 where outbox_id = $1", [id, at]);
    await client.end();
  }

  const answers = (ids: readonly string[]) =>
    rowsOf(engine.superuser, "select outbox_id from outbox.answers where outbox_id = any ($1)", [ids]);
  const exists = async (table: string): Promise<boolean> =>
    (await oneOf<{ there: boolean }>(engine.superuser, "select to_regclass($1) is not null as there", [table])).there;
  const weekStream = (ordered = true): Promise<Stream> =>
    engine.stream({ retention: "week", dedupeDays: 365, ordered });

  test("an old partition of finished rows is dropped, with its payloads, and a repeat is still recognised", async () => {
    const stream = await weekStream();
    const { name, at } = await oldPartition();
    const id = await oldRow(stream, at, "delivered");
    const key = await oneOf<{ instruction_id: string; key: string }>(
      engine.control,
      "select m.instruction_id, l.key from outbox.payloads m join outbox.lanes l using (lane_id) where outbox_id = $1",
      [id],
    );
    const report = await gc();
    expect(report).toMatchObject({ dropped: [name], payloads: 1, keys: 0, more: false });
    expect(await exists(name)).toBe(false);
    expect(await answers([id])).toEqual([]);
    const repeat = await engine.enqueue(stream, { instruction: key.instruction_id, key: key.key });
    expect(repeat).toEqual({ outbox_id: id, seq: null, created: false });
    expect(await engine.inspect(id)).toMatchObject({
      place: "collected",
      lines: [],
      payload: null,
      instruction_id: key.instruction_id,
    });
    expect(
      await refusalOf(engine.enqueue(stream, { instruction: key.instruction_id, key: key.key, payload: "other" })),
    ).toMatchObject(refusedAs("idempotency_conflict"));
  });

  test.each([
    ["a dead letter", "dead", "dead_letters"],
    ["a pending row", "pending", "pending_rows"],
    ["a row in flight", "in flight", "pending_rows"],
  ] as const)("an old partition with %s stays until that row is finished", async (_what, fate, reason) => {
    const stream = await weekStream();
    const { name, at } = await oldPartition();
    const finished = await oldRow(stream, at, "delivered");
    const id = await oldRow(stream, at, fate);
    const report = await gc();
    expect(report.dropped).toEqual([]);
    expect(report.kept).toContainEqual({ partition: name, reason });
    expect(await engine.place(finished)).toBe("delivered");
    // It keeps only its own payload, and nobody else's.
    expect(await engine.inspect(finished)).toMatchObject({ payload: null, erased: { by: "headroom" } });
    expect(await engine.inspect(id)).toMatchObject({ payload: { n: 1 } });
    expect(await answers([finished, id])).toEqual(fate === "dead" ? [{ outbox_id: id }] : []);
    if (fate === "in flight") {
      await engine.expireLeases(stream);
      await engine.reap();
    }
    await engine.skip([id]);
    expect((await gc()).kept).toContainEqual({ partition: name, reason: "recent_lines" });
    await backdateLines(id, at);
    expect(await gc()).toMatchObject({ dropped: [name], payloads: 2 });
  });

  test("a row without order in flight keeps its partition", async () => {
    const stream = await weekStream(false);
    const { name, at } = await oldPartition();
    const id = await oldRow(stream, at, "in flight");
    expect((await gc()).kept).toContainEqual({ partition: name, reason: "rows_in_flight" });
    await engine.expireLeases(stream);
    await engine.reap();
    expect((await gc()).kept).toContainEqual({ partition: name, reason: "pending_rows" });
    await engine.skip([id]);
    await backdateLines(id, at);
    expect((await gc()).dropped).toEqual([name]);
  });

  test("a row that was delivered late keeps its partition for the whole retention from then on", async () => {
    const stream = await weekStream();
    const { name, at } = await oldPartition();
    const id = await oldRow(stream, at, "delivered", new Date(Date.now() - 6 * 86_400_000).toISOString());
    expect((await gc()).kept).toContainEqual({ partition: name, reason: "recent_lines" });
    await backdateLines(id, new Date(Date.now() - 8 * 86_400_000).toISOString());
    expect((await gc()).dropped).toEqual([name]);
  });

  test("a recent line is found wherever it is in a large partition", async () => {
    const { name, at } = await oldPartition();
    const owner = await engine.db.as("headroom_owner").connect();
    await owner.query("set role headroom_owner");
    // Ids of that day and of the week's class, made up, each with a complete history.
    const insert = `insert into outbox.attempts (outbox_id, attempt_no, class_id, stream_id, state, recorded_at, error_message)
      select i.id, l.line, 2, 1, l.state::outbox.attempt_state, $2::timestamptz, repeat('x', 200)
        from (select encode(set_byte(overlay(uuid_send(gen_random_uuid()) placing substring(uuid_send(outbox.partition_floor($1::timestamptz)) from 1 for 6) from 1 for 6), 7, 2), 'hex')::uuid as id
                from generate_series(1, $3)) i
       cross join (values (1, 'DISPATCHING'), (2, 'DISPATCHED')) l(line, state)`;
    await owner.query(insert, [at, new Date().toISOString(), 1]);
    await owner.query(insert, [at, at, 8000]);
    await owner.end();
    const size = await oneOf<{ pages: number }>(
      engine.superuser,
      "select (pg_relation_size($1) / 8192)::int as pages",
      [name],
    );
    expect(size.pages).toBeGreaterThan(500);
    expect((await gc()).kept).toContainEqual({ partition: name, reason: "recent_lines" });
    await rowsOf(engine.superuser, `drop table ${name}`);
  });

  test("payloads are deleted in batches, and the partition after the last of them", async () => {
    const stream = await weekStream();
    const { name, at } = await oldPartition();
    for (let n = 0; n < 5; n += 1) await oldRow(stream, at, "delivered");
    expect(await gc(2)).toMatchObject({
      dropped: [],
      payloads: 2,
      more: true,
      kept: [{ partition: name, reason: "payloads_left" }],
    });
    expect(await gc(2)).toMatchObject({ dropped: [], payloads: 2, more: true });
    expect(await gc(2)).toMatchObject({ dropped: [name], payloads: 1, more: false });
  });

  test("a partition that is being read is left for the next time, and claims continue meanwhile", async () => {
    const stream = await weekStream();
    const { name, at } = await oldPartition();
    await oldRow(stream, at, "delivered");
    const reader = await engine.db.as("headroom_auditor").connect();
    await reader.query("begin");
    await reader.query("select count(*) from outbox.attempts");
    expect(await gc()).toMatchObject({ dropped: [], kept: [{ partition: name, reason: "in_use" }] });
    const fresh = await engine.enqueue(stream);
    expect(await engine.drain(stream)).toEqual([fresh.outbox_id]);
    await reader.query("commit");
    await reader.end();
    expect((await gc()).dropped).toEqual([name]);
  });

  test("a running claim makes it wait a moment and give up, never deadlock", async () => {
    const stream = await weekStream();
    const { name, at } = await oldPartition();
    await oldRow(stream, at, "delivered");
    await engine.enqueue(stream);
    const relay = await engine.db.as("headroom_executor").connect();
    await relay.query("begin");
    const claimed = await engine.claim(stream, {}, relay);
    expect((await gc()).kept).toContainEqual({ partition: name, reason: "in_use" });
    await relay.query("commit");
    await relay.end();
    await engine.deliver(stream, claimed);
    expect((await gc()).dropped).toEqual([name]);
  });

  test("rows of classes that are kept forever share the partition's days, and stay", async () => {
    const week = await weekStream();
    const forever = await engine.stream();
    const { name, at } = await oldPartition();
    await oldRow(week, at, "delivered");
    const kept = await oldPartition("forever");
    const id = await oldRow(forever, at, "delivered");
    expect(await gc()).toMatchObject({ dropped: [name], payloads: 1 });
    expect(await engine.place(id)).toBe("delivered");
    expect(await exists(kept.name)).toBe(true);
  });

  test("idempotency keys are forgotten after their days, never those of unfinished rows, and numbers continue", async () => {
    const stream = await engine.stream({ retention: "week", dedupeDays: 30 });
    const [done, dead, waiting] = [
      await engine.enqueue(stream),
      await engine.enqueue(stream),
      await engine.enqueue(stream),
    ];
    await engine.deliver(stream, (await engine.claim(stream)).slice(0, 1));
    await engine.expireLeases(stream);
    await engine.reap();
    await engine.kill(stream);
    await rowsOf(
      engine.superuser,
      "update outbox.dedupe set created_at = now() - interval '31 days' where stream_id = $1",
      [stream.id],
    );
    expect(await gc()).toMatchObject({ keys: 1 });
    const left = await rowsOf<{ id: string }>(
      engine.control,
      "select outbox_id as id from outbox.dedupe where stream_id = $1 order by outbox_id",
      [stream.id],
    );
    expect(left.map((row) => row.id)).toEqual([dead, waiting].map((row) => row.outbox_id).toSorted());
    expect(await gc()).toMatchObject({ keys: 0 });
    expect(await engine.place(done.outbox_id)).toBe("delivered");
    expect((await engine.enqueue(stream)).seq).toBe(4);
  });

  test("keys of rows without order in flight are kept", async () => {
    const stream = await engine.stream({ retention: "week", dedupeDays: 30, ordered: false });
    await engine.enqueue(stream, { key: null });
    const claimed = await engine.claim(stream);
    await rowsOf(
      engine.superuser,
      "update outbox.dedupe set created_at = now() - interval '31 days' where stream_id = $1",
      [stream.id],
    );
    expect(await gc()).toMatchObject({ keys: 0 });
    await engine.deliver(stream, claimed);
    expect(await gc()).toMatchObject({ keys: 1 });
  });

  test("streams that remember forever keep their keys", async () => {
    const stream = await engine.stream();
    await engine.enqueue(stream);
    await engine.drain(stream);
    await rowsOf(
      engine.superuser,
      "update outbox.dedupe set created_at = now() - interval '9000 days' where stream_id = $1",
      [stream.id],
    );
    expect(await gc()).toMatchObject({ keys: 0 });
  });

  test("of two collectors at the same time the second leaves it to the first", async () => {
    const [one, two] = await engine.db.twoConnections("headroom_executor");
    await one.query("begin");
    await one.query("select outbox.gc()");
    const second = await oneOf<{ report: Report }>(two, "select outbox.gc() as report");
    expect(second.report).toMatchObject({ busy: true, dropped: [] });
    await one.query("rollback");
    await Promise.all([one.end(), two.end()]);
  });

  test.each([0, -1, 1_000_001, null])("a batch of %s rows is refused", async (batch) => {
    expect(await refusalOf(rowsOf(engine.executor, "select outbox.gc($1)", [batch]))).toMatchObject(
      refusedAs("invalid_input"),
    );
  });
});
