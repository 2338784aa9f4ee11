import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { idsOf, oneOf, refusalOf, refusedAs, rowsOf, startEngine, unique } from "../harness.ts";

describe.each(POSTGRES_VERSIONS)("runs of a lane on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);

  test("a claim gives a run of consecutive rows of each key, in order", async () => {
    const stream = await engine.stream({ runLength: 3 });
    const a = await engine.enqueueRow(stream, 4, { key: "a" });
    const b = await engine.enqueueRow(stream, 2, { key: "b" });
    const run = await engine.claim(stream);
    expect(idsOf(run)).toEqual([...idsOf(a.slice(0, 3)), ...idsOf(b)]);
    expect(new Set(run.map((row) => row.claim_id)).size).toBe(1);
    await engine.deliver(stream, run);
    expect(await engine.drain(stream)).toEqual(idsOf(a.slice(3)));
  });

  test("two relays never hold one lane", async () => {
    const stream = await engine.stream();
    await engine.enqueueRow(stream, 3, { key: "a" });
    await engine.enqueueRow(stream, 3, { key: "b" });
    const [one, two] = await engine.db.twoConnections("headroom_executor");
    await one.query("begin");
    const first = await engine.claim(stream, { maxLanes: 1 }, one);
    const second = await engine.claim(stream, {}, two);
    expect(new Set(first.map((row) => row.key))).not.toEqual(new Set(second.map((row) => row.key)));
    expect(await engine.claim(stream, {}, two)).toEqual([]);
    await one.query("commit");
    expect(await engine.claim(stream, {}, two)).toEqual([]);
    await engine.deliver(stream, [...first, ...second]);
    await Promise.all([one.end(), two.end()]);
  });

  test("a claim that is rolled back leaves no trace", async () => {
    const stream = await engine.stream();
    const [row] = await engine.enqueueRow(stream, 1);
    const relay = await engine.db.as("headroom_executor").connect();
    await relay.query("begin");
    expect(await engine.claim(stream, {}, relay)).toHaveLength(1);
    await relay.query("rollback");
    await relay.end();
    expect(await engine.states(row!.outbox_id)).toEqual([]);
    expect(await engine.claimOne(stream)).toMatchObject({ attempt_no: 1 });
    await engine.expireLeases(stream);
    await engine.reap();
    await engine.drain(stream);
  });

  test("a run settled piece by piece stays leased until its last row", async () => {
    const stream = await engine.stream();
    const rows = await engine.enqueueRow(stream, 3);
    const run = await engine.claim(stream);
    await engine.deliver(stream, run.slice(0, 1));
    expect(await engine.claim(stream)).toEqual([]);
    await engine.deliver(stream, run.slice(1, 2));
    const later = await engine.enqueue(stream);
    expect(await engine.claim(stream)).toEqual([]);
    await engine.deliver(stream, run.slice(2));
    expect(await engine.drain(stream)).toEqual([later.outbox_id]);
    expect(await engine.states(rows[2]!.outbox_id)).toEqual(["DISPATCHING", "DISPATCHED"]);
  });

  test("a crash inside a run: what was settled stays, the rest is requeued in order and sent one by one", async () => {
    const stream = await engine.stream();
    const rows = await engine.enqueueRow(stream, 4);
    const run = await engine.claim(stream);
    await engine.deliver(stream, run.slice(0, 2));
    await engine.expireLeases(stream);
    expect(await engine.reap()).toBe(2);
    const next = await engine.claim(stream);
    expect(idsOf(next)).toEqual([rows[2]!.outbox_id]);
    expect(next[0]).toMatchObject({ uncertain: true, tries: 1, attempt_no: 3 });
    await engine.deliver(stream, next);
    expect(await engine.drain(stream)).toEqual([rows[3]!.outbox_id]);
    expect(await engine.states(rows[0]!.outbox_id)).toEqual(["DISPATCHING", "DISPATCHED"]);
    expect(await engine.states(rows[3]!.outbox_id)).toEqual([
      "DISPATCHING",
      "ZOMBIE_REQUEUE",
      "DISPATCHING",
      "DISPATCHED",
    ]);
  });

  test("a failure inside a run hands back the tail, keeps the order, and the next run is one row long", async () => {
    const stream = await engine.stream();
    const rows = await engine.enqueueRow(stream, 4);
    const run = await engine.claim(stream);
    await engine.settle(stream, [
      { row: run[0]! },
      { row: run[1]!, outcome: "retry", code: "http_500", message: "no luck" },
      { row: run[2]!, outcome: "released" },
      { row: run[3]!, outcome: "released" },
    ]);
    expect(await engine.claim(stream)).toEqual([]);
    await engine.makeDue(stream);
    const second = await engine.claim(stream);
    expect(second).toMatchObject([{ outbox_id: rows[1]!.outbox_id, tries: 1, attempt_no: 3, uncertain: false }]);
    await engine.deliver(stream, second);
    expect(await engine.claim(stream).then(async (rest) => [idsOf(rest), await engine.deliver(stream, rest)])).toEqual([
      idsOf(rows.slice(2)),
      [],
    ]);
    expect(await engine.states(rows[2]!.outbox_id)).toEqual(["DISPATCHING", "RELEASED", "DISPATCHING", "DISPATCHED"]);
  });

  test("a tail that the relay does not name is handed back too", async () => {
    const stream = await engine.stream();
    const rows = await engine.enqueueRow(stream, 3);
    const run = await engine.claim(stream);
    await engine.settle(stream, [{ row: run[0]!, outcome: "retry" }]);
    expect(await engine.states(rows[2]!.outbox_id)).toEqual(["DISPATCHING", "RELEASED"]);
    await engine.makeDue(stream);
    expect(await engine.drain(stream)).toEqual(idsOf(rows));
  });

  test("results that leave out an earlier row of the run are refused, and nothing is lost", async () => {
    const stream = await engine.stream();
    const rows = await engine.enqueueRow(stream, 3);
    const run = await engine.claim(stream);
    expect(await refusalOf(engine.deliver(stream, run.slice(1)))).toMatchObject({
      ...refusedAs("invalid_input"),
      hint: expect.stringContaining("Nothing was changed"),
    });
    expect(await engine.deliver(stream, run)).toEqual([]);
    expect(await engine.states(rows[0]!.outbox_id)).toEqual(["DISPATCHING", "DISPATCHED"]);
  });

  test("releasing a whole run is not a try, and may ask for a delay", async () => {
    const stream = await engine.stream({ maxTries: 1 });
    const rows = await engine.enqueueRow(stream, 2);
    const run = await engine.claim(stream);
    await engine.settle(
      stream,
      run.map((row) => ({ row, outcome: "released" as const, afterMs: 3_600_000 })),
    );
    expect(await engine.claim(stream)).toEqual([]);
    await engine.makeDue(stream);
    const again = await engine.claim(stream);
    expect(again).toMatchObject([
      { outbox_id: rows[0]!.outbox_id, tries: 0, uncertain: false, sent_ago_ms: null },
      { outbox_id: rows[1]!.outbox_id, tries: 0 },
    ]);
    await engine.deliver(stream, again);
  });

  test("a rejected row dies and the lane continues where the stream says so", async () => {
    const stream = await engine.stream({ onDead: "skip" });
    const rows = await engine.enqueueRow(stream, 3);
    const run = await engine.claim(stream);
    await engine.settle(stream, [
      { row: run[0]!, outcome: "rejected", code: "gone", message: "no such place" },
      { row: run[1]!, outcome: "released" },
      { row: run[2]!, outcome: "released" },
    ]);
    expect(await engine.drain(stream)).toEqual(idsOf(rows.slice(1)));
    const dead = await rowsOf(
      engine.control,
      "select error_code, error_message, tries, lines, parked from outbox.list_dead($1)",
      [stream.name],
    );
    expect(dead).toEqual([{ error_code: "gone", error_message: "no such place", tries: 1, lines: 2, parked: false }]);
  });

  test("a row that uses up its tries is dead, and known not to have arrived", async () => {
    const stream = await engine.stream({ maxTries: 3, onDead: "block" });
    const row = await engine.enqueue(stream);
    for (let n = 0; n < 3; n += 1) {
      await engine.makeDue(stream);
      await engine.settle(stream, [{ row: await engine.claimOne(stream), outcome: "retry", code: "busy" }]);
    }
    expect(await engine.inspect(row.outbox_id)).toMatchObject({
      place: "dead",
      tries: 3,
      error_code: "busy",
      blocks_lane: true,
    });
  });

  test("an unknown outcome leaves its mark until a later answer resolves it", async () => {
    const stream = await engine.stream();
    await engine.enqueue(stream, { rail: "asking" });
    await engine.settle(stream, [{ row: await engine.claimOne(stream), outcome: "unknown" }]);
    await engine.makeDue(stream);
    const second = await engine.claimOne(stream);
    expect(second).toMatchObject({ uncertain: true, tries: 1 });
    expect(second.sent_ago_ms).not.toBeNull();
    await engine.settle(stream, [{ row: second, outcome: "retry" }]);
    await engine.makeDue(stream);
    const third = await engine.claimOne(stream);
    expect(third.uncertain).toBe(true);
    await engine.settle(stream, [{ row: third, outcome: "retry", absent: true }]);
    await engine.makeDue(stream);
    const fourth = await engine.claimOne(stream);
    expect(fourth.uncertain).toBe(false);
    await engine.deliver(stream, [fourth]);
  });

  test("an unknown outcome on a blind rail is parked for money, and sent again where a duplicate is harmless", async () => {
    const money = await engine.stream({ money: true, onDead: "block" });
    const payment = await engine.enqueue(money, { rail: "blind" });
    await engine.settle(money, [{ row: await engine.claimOne(money), outcome: "unknown", code: "timeout" }]);
    expect(await engine.place(payment.outbox_id)).toBe("parked");
    const mail = await engine.stream();
    await rowsOf(engine.control, "select outbox.create_stream($1, p_resend_blind => true)", [mail.name]);
    const letter = await engine.enqueue(mail, { rail: "blind" });
    await engine.settle(mail, [{ row: await engine.claimOne(mail), outcome: "unknown" }]);
    expect(await engine.place(letter.outbox_id)).toBe("pending");
  });

  test.each([true, false])(
    "a settle returns what it wrote, including rows that nobody named (ordered: %s)",
    async (ordered) => {
      const stream = await engine.stream({ ordered, maxTries: 2 });
      const ids = idsOf([
        ...(await engine.enqueueRow(stream, 4, { key: "a" })),
        await engine.enqueue(stream, { key: "b" }),
      ]);
      const claimed = await engine.claim(stream);
      const [one, two, three, four, other] = ids.map((id) => claimed.find((row) => row.outbox_id === id));
      const none = { delivered: 0, retried: 0, released: 0, failed: 0, late: null, given_up: null, busy: null };
      expect(await engine.settleAndCount(stream, [{ row: one! }])).toEqual({ ...none, delivered: 1 });
      const rest = [
        { row: two! },
        { row: three!, outcome: "retry" as const },
        ...(ordered ? [] : [{ row: four!, outcome: "released" as const }]),
        { row: other!, outcome: "rejected" as const },
      ];
      const counted = { ...none, delivered: 1, retried: 1, released: 1, failed: 1, given_up: [other!.outbox_id] };
      expect(await engine.settleAndCount(stream, rest)).toEqual(counted);
      expect(await engine.settleAndCount(stream, [{ row: one! }])).toEqual({ ...none, late: [one!.outbox_id] });
      await engine.makeDue(stream);
      // Its last try, next to a repeated result.
      const [again, ...tail] = (await engine.claim(stream)).toSorted((a, b) => b.tries - a.tries);
      const last = [{ row: two! }, { row: again!, outcome: "retry" as const }];
      expect(await engine.settleAndCount(stream, last)).toEqual({
        ...none,
        failed: 1,
        late: [two!.outbox_id],
        given_up: [again!.outbox_id],
      });
      await engine.deliver(stream, tail);
      expect([...idsOf(tail), ...(await engine.drain(stream))]).toEqual([four!.outbox_id]);
    },
  );

  test("an outcome that does not exist is refused, and nothing is changed", async () => {
    const stream = await engine.stream();
    const row = await engine.enqueue(stream);
    const claimed = await engine.claimOne(stream);
    const refusal = await refusalOf(engine.settle(stream, [{ row: claimed, outcome: "skipped" as "released" }]));
    expect(refusal).toMatchObject({ ...refusedAs("invalid_input"), hint: expect.stringContaining("rejected") });
    expect(await engine.states(row.outbox_id)).toEqual(["DISPATCHING"]);
    await engine.deliver(stream, [claimed]);
  });

  test("a scan that looks back only a moment misses nothing that a full one finds", async () => {
    const stream = await engine.stream();
    const old = await engine.enqueue(stream, { key: "old" });
    await rowsOf(engine.superuser, "update outbox.heads set due = now() - interval '1 hour' where stream_id = $1", [
      stream.id,
    ]);
    const fresh = await engine.enqueue(stream, { key: "fresh" });
    const recent = await engine.claim(stream, { sinceMs: 60_000 });
    expect(idsOf(recent)).toEqual([fresh.outbox_id]);
    const all = await engine.claim(stream);
    expect(idsOf(all)).toEqual([old.outbox_id]);
    await engine.deliver(stream, [...recent, ...all]);
  });

  test("claimed rows are in the archive with relay, claim and payload hash", async () => {
    const stream = await engine.stream();
    const row = await engine.enqueue(stream, { payload: { amount: unique("x") } });
    const claimed = await engine.claimOne(stream);
    const line = await oneOf(
      engine.control,
      `select a.state, a.relay_id, a.claim_id, a.payload_hash = m.payload_hash as hashed
         from outbox.attempts a join outbox.payloads m using (outbox_id) where a.outbox_id = $1`,
      [row.outbox_id],
    );
    expect(line).toEqual({ state: "DISPATCHING", relay_id: engine.relayId, claim_id: claimed.claim_id, hashed: true });
    await engine.deliver(stream, [claimed]);
  });
});
