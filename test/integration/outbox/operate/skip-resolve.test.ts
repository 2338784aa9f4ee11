import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf, refusalOf, refusedAs, rowsOf, startEngine, unique } from "../harness.ts";

describe.each(POSTGRES_VERSIONS)("skip and resolve on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);
  const nobody = "01900000-0000-7000-8000-000000000000";

  test("skipping the dead head of a blocked lane lets the lane continue", async () => {
    const stream = await engine.stream({ onDead: "block" });
    const [first, ...rest] = await engine.enqueueRow(stream, 3);
    await engine.kill(stream);
    expect(await engine.claim(stream)).toEqual([]);
    expect(await engine.skip([first!.outbox_id])).toEqual([
      { outbox_id: first!.outbox_id, result: "skipped", detail: null },
    ]);
    expect(await engine.drain(stream)).toEqual(rest.map((row) => row.outbox_id));
    expect(await engine.states(first!.outbox_id)).toEqual(["DISPATCHING", "FAILED", "SKIPPED"]);
    expect(await engine.place(first!.outbox_id)).toBe("skipped");
  });

  test("skipping the only row of a blocked lane lets it go idle, and the next enqueue wakes it", async () => {
    const stream = await engine.stream({ onDead: "block" });
    const first = await engine.enqueue(stream);
    await engine.kill(stream);
    await engine.skip([first.outbox_id]);
    const second = await engine.enqueue(stream);
    expect(await engine.drain(stream)).toEqual([second.outbox_id]);
  });

  test("pending rows are skipped at the head and behind it", async () => {
    const stream = await engine.stream();
    const rows = await engine.enqueueRow(stream, 4);
    const results = await engine.skip([rows[2]!.outbox_id, rows[0]!.outbox_id]);
    expect(results.map((row) => row.result)).toEqual(["skipped", "skipped"]);
    expect(await engine.drain(stream)).toEqual([rows[1]!.outbox_id, rows[3]!.outbox_id]);
    expect(await engine.states(rows[0]!.outbox_id)).toEqual(["SKIPPED"]);
  });

  test("a head that waits for its retry is skipped, and the next row does not inherit the wait", async () => {
    const stream = await engine.stream();
    const [first, second] = await engine.enqueueRow(stream, 2);
    const run = await engine.claim(stream);
    await engine.settle(stream, [
      { row: run[0]!, outcome: "retry", afterMs: 3_600_000 },
      { row: run[1]!, outcome: "released" },
    ]);
    expect(await engine.claim(stream)).toEqual([]);
    await engine.skip([first!.outbox_id]);
    expect(await engine.drain(stream)).toEqual([second!.outbox_id]);
  });

  test("a row in flight is left alone, and rows behind the run are skipped", async () => {
    const stream = await engine.stream({ runLength: 2 });
    const rows = await engine.enqueueRow(stream, 4);
    const run = await engine.claim(stream);
    expect(run).toHaveLength(2);
    const results = await engine.skip(rows.map((row) => row.outbox_id));
    expect(results.map((row) => row.result)).toEqual(["in_flight", "in_flight", "skipped", "skipped"]);
    await engine.deliver(stream, run);
    expect(await engine.claim(stream)).toEqual([]);
    const next = await engine.enqueue(stream);
    expect(await engine.drain(stream)).toEqual([next.outbox_id]);
  });

  test("rows without order are skipped while they wait, left alone in flight, and recognised when finished", async () => {
    const stream = await engine.stream({ ordered: false });
    const finished = await engine.enqueue(stream, { key: null });
    await engine.drain(stream);
    const flying = await engine.enqueue(stream, { key: null });
    const claimed = await engine.claim(stream);
    const waiting = await engine.enqueue(stream, { key: null });
    const results = await engine.skip([waiting, flying, finished].map((row) => row.outbox_id).concat(nobody));
    expect(results.map((row) => row.result)).toEqual(["skipped", "in_flight", "finished", "unknown"]);
    await engine.deliver(stream, claimed);
    expect(await engine.drain(stream)).toEqual([]);
  });

  test("a skip during a claim does not wait for it, and afterwards finds the row in flight", async () => {
    const stream = await engine.stream();
    const row = await engine.enqueue(stream);
    const relay = await engine.db.as("headroom_executor").connect();
    const operator = await engine.db.as("headroom_control").connect();
    await relay.query("begin");
    const claimed = await engine.claim(stream, {}, relay);
    expect(await engine.skip([row.outbox_id], operator)).toMatchObject([{ result: "busy" }]);
    await relay.query("commit");
    expect(await engine.skip([row.outbox_id], operator)).toMatchObject([{ result: "in_flight" }]);
    await engine.deliver(stream, claimed);
    await Promise.all([relay.end(), operator.end()]);
  });

  test("the line of a skip says who, why, and whether the row may have arrived", async () => {
    const stream = await engine.stream({ money: true, onDead: "block" });
    const row = await engine.enqueue(stream, { rail: "blind" });
    await engine.kill(stream, "unknown");
    await engine.skip([row.outbox_id]);
    const line = await oneOf(
      engine.control,
      "select actor, reason, uncertain, error_code from outbox.attempts where outbox_id = $1 and state = 'SKIPPED'",
      [row.outbox_id],
    );
    expect(line).toEqual({ actor: "ann", reason: "not wanted", uncertain: true, error_code: "operator" });
  });

  test("a parked row resolved as delivered is finished, and its lane continues", async () => {
    const stream = await engine.stream({ money: true, onDead: "block" });
    const [first, second] = await engine.enqueueRow(stream, 2, { rail: "blind" });
    await engine.kill(stream, "unknown");
    expect(await engine.place(first!.outbox_id)).toBe("parked");
    expect(await engine.resolve(first!.outbox_id, true, "bank-77")).toMatchObject({ result: "delivered" });
    expect(await engine.place(first!.outbox_id)).toBe("delivered");
    expect(await engine.drain(stream)).toEqual([second!.outbox_id]);
    const line = await oneOf(
      engine.control,
      "select rail_code, rail_reference, actor, reason, uncertain from outbox.attempts where outbox_id = $1 and state = 'RESOLVED'",
      [first!.outbox_id],
    );
    expect(line).toEqual({
      rail_code: "delivered",
      rail_reference: "bank-77",
      actor: "ann",
      reason: "asked the bank",
      uncertain: false,
    });
  });

  test("a parked row resolved as not delivered stays dead and blocking until it is redriven", async () => {
    const stream = await engine.stream({ money: true, onDead: "block" });
    const [first, second] = await engine.enqueueRow(stream, 2, { rail: "blind" });
    await engine.kill(stream, "unknown");
    expect(await engine.redrive([first!.outbox_id])).toMatchObject([{ result: "parked" }]);
    expect(await engine.resolve(first!.outbox_id, false)).toMatchObject({ result: "not_delivered" });
    expect(await engine.place(first!.outbox_id)).toBe("dead");
    expect(await engine.claim(stream)).toEqual([]);
    expect(await engine.redrive([first!.outbox_id])).toMatchObject([{ result: "redriven" }]);
    expect(await engine.drain(stream)).toEqual([first!.outbox_id, second!.outbox_id]);
    expect(await engine.states(first!.outbox_id)).toEqual([
      "DISPATCHING",
      "FAILED",
      "RESOLVED",
      "REDRIVEN",
      "DISPATCHING",
      "DISPATCHED",
    ]);
  });

  test("a row that was resolved as delivered is treated as delivered for those before it", async () => {
    const stream = await engine.stream({ money: true, onDead: "skip" });
    const [first, second] = await engine.enqueueRow(stream, 2, { rail: "blind" });
    await engine.kill(stream);
    await engine.kill(stream, "unknown");
    await engine.resolve(second!.outbox_id, true);
    expect(await engine.redrive([first!.outbox_id])).toMatchObject([{ result: "needs_out_of_order" }]);
  });

  test("a parked row without order is resolved both ways", async () => {
    const stream = await engine.stream({ ordered: false, money: true });
    const yes = await engine.enqueue(stream, { key: null, rail: "blind" });
    await engine.settle(stream, [{ row: await engine.claimOne(stream), outcome: "unknown" }]);
    const no = await engine.enqueue(stream, { key: null, rail: "blind" });
    await engine.settle(stream, [{ row: await engine.claimOne(stream), outcome: "unknown" }]);
    await engine.resolve(yes.outbox_id, true);
    await engine.resolve(no.outbox_id, false);
    await engine.skip([no.outbox_id]);
    expect([await engine.place(yes.outbox_id), await engine.place(no.outbox_id)]).toEqual(["delivered", "skipped"]);
  });

  test("only rows in doubt are resolved", async () => {
    const stream = await engine.stream();
    const row = await engine.enqueue(stream);
    expect(await refusalOf(engine.resolve(row.outbox_id, true))).toMatchObject(refusedAs("conflict"));
    await engine.kill(stream);
    expect(await refusalOf(engine.resolve(row.outbox_id, true))).toMatchObject({
      ...refusedAs("conflict"),
      hint: expect.stringContaining("redriven"),
    });
    expect(await refusalOf(engine.resolve(nobody, true))).toMatchObject(refusedAs("not_found"));
  });

  test("two operators on one dead row: one acts, the other finds it done", async () => {
    const stream = await engine.stream();
    const row = await engine.enqueue(stream);
    await engine.kill(stream);
    const [ann, bob] = await engine.db.twoConnections("headroom_control");
    await ann.query("begin");
    await engine.redrive([row.outbox_id], {}, ann);
    const second = engine.redrive([row.outbox_id], {}, bob);
    await engine.db.waitUntilBlocked(bob);
    await ann.query("commit");
    expect(await second).toMatchObject([{ result: "not_dead" }]);
    await Promise.all([ann.end(), bob.end()]);
    expect(await engine.drain(stream)).toEqual([row.outbox_id]);
  });

  test.each([
    ["no actor", "select * from outbox.redrive(array[]::uuid[], null, 'why')"],
    ["an empty actor", "select * from outbox.skip(array[]::uuid[], '', 'why')"],
    ["no reason", "select * from outbox.redrive(array[]::uuid[], 'ann', null)"],
    ["a huge reason", "select * from outbox.skip(array[]::uuid[], 'ann', repeat('x', 2001))"],
    ["no ids", "select * from outbox.skip(null, 'ann', 'why')"],
    ["a null among the ids", "select * from outbox.redrive(array[null]::uuid[], 'ann', 'why')"],
    ["too many ids", "select * from outbox.redrive(array_fill(gen_random_uuid(), array[10001]), 'ann', 'why')"],
    ["no verdict", "select * from outbox.resolve_dead(gen_random_uuid(), null, 'ann', 'why')"],
    ["an empty reference", "select * from outbox.resolve_dead(gen_random_uuid(), true, 'ann', 'why', '')"],
  ])("%s is refused", async (_case, call) => {
    expect(await refusalOf(rowsOf(engine.control, call))).toMatchObject(refusedAs("invalid_input"));
  });

  /** Two dead rows of two keys, whose lanes were made in the opposite order of their keys. */
  async function twoDeadLanes() {
    const stream = await engine.stream();
    const ids = [
      (await engine.enqueue(stream, { key: "b" })).outbox_id,
      (await engine.enqueue(stream, { key: "a" })).outbox_id,
    ];
    await engine.kill(stream);
    await engine.kill(stream);
    return { stream, ids };
  }

  test("a redrive of several lanes takes those that are free and waits for none, so it holds up no producer", async () => {
    const { stream, ids } = await twoDeadLanes();
    const [first, many] = await engine.db.twoConnections("headroom_ingest");
    const operator = await engine.db.as("headroom_control").connect();
    await first.query("begin");
    await engine.enqueue(stream, { key: "a" }, first);
    const row = (key: string) => ({
      stream: stream.name,
      key,
      instruction_id: unique("i"),
      idempotency_key: "1",
      rail: "sure",
      payload: {},
    });
    const enqueuing = engine.enqueueMany([row("b"), row("a")], many);
    await engine.db.waitUntilBlocked(many);
    expect((await engine.redrive(ids, {}, operator)).map((result) => result.result)).toEqual(["redriven", "busy"]);
    await first.query("commit");
    expect(await enqueuing).toHaveLength(2);
    expect((await engine.redrive(ids, {}, operator)).map((result) => result.result)).toEqual(["not_dead", "redriven"]);
    expect(await engine.drain(stream)).toHaveLength(5);
    await Promise.all([first.end(), many.end(), operator.end()]);
  });

  test("a lane that another session holds delays neither a settle nor a redrive of the others", async () => {
    const stream = await engine.stream({ runLength: 1 });
    for (const key of ["a", "b"]) await engine.enqueueRow(stream, 2, { key });
    const dead = [await engine.kill(stream), await engine.kill(stream)].toSorted((x, y) => x.lane_id! - y.lane_id!);
    const run = (await engine.claim(stream)).toSorted((x, y) => x.lane_id! - y.lane_id!);
    const holder = await engine.db.superuser.connect();
    const relay = await engine.db.as("headroom_executor").connect();
    await holder.query("begin");
    await holder.query("select from outbox.heads where lane_id = $1 for update", [run[0]!.lane_id]);
    const ids = dead.map((row) => row.outbox_id);
    const redrive = async (): Promise<string[]> =>
      (await engine.redrive(ids, { outOfOrder: true })).map((result) => result.result);
    const settle = (): Promise<unknown> =>
      engine.settleAndCount(
        stream,
        run.map((row) => ({ row })),
        relay,
      );
    expect(await redrive()).toEqual(["busy", "redriven"]);
    expect(await settle()).toMatchObject({ delivered: 1, late: null, busy: [run[0]!.outbox_id] });
    await holder.query("commit");
    expect(await redrive()).toEqual(["redriven", "not_dead"]);
    expect(await settle()).toMatchObject({ delivered: 1, late: [run[1]!.outbox_id], busy: null });
    expect(await engine.drain(stream)).toHaveLength(2);
    await Promise.all([holder.end(), relay.end()]);
  });
});
