import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf, rowsOf, startEngine, unique, type Claimed } from "../harness.ts";

describe.each(POSTGRES_VERSIONS)("redrive on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);

  test("a dead row of an idle lane goes back to work with its number and with its tries at zero", async () => {
    const stream = await engine.stream();
    const row = await engine.enqueue(stream);
    await engine.kill(stream);
    expect(await engine.place(row.outbox_id)).toBe("dead");
    expect(await engine.redrive([row.outbox_id])).toEqual([
      { outbox_id: row.outbox_id, result: "redriven", detail: null },
    ]);
    const again = await engine.claimOne(stream);
    expect(again).toMatchObject({ outbox_id: row.outbox_id, seq: 1, attempt_no: 4, tries: 0, uncertain: false });
    await engine.deliver(stream, [again]);
    expect(await engine.states(row.outbox_id)).toEqual([
      "DISPATCHING",
      "FAILED",
      "REDRIVEN",
      "DISPATCHING",
      "DISPATCHED",
    ]);
  });

  test("the line says who and why, and that nothing was overtaken", async () => {
    const stream = await engine.stream();
    const row = await engine.enqueue(stream);
    await engine.kill(stream);
    await engine.redrive([row.outbox_id], { outOfOrder: true });
    const line = await oneOf(
      engine.control,
      "select actor, reason, out_of_order from outbox.attempts where outbox_id = $1 and state = 'REDRIVEN'",
      [row.outbox_id],
    );
    expect(line).toEqual({ actor: "ann", reason: "fixed", out_of_order: false });
  });

  test("a producer that comes after a redrive into an idle lane does not make a second head", async () => {
    const stream = await engine.stream();
    const [first] = [await engine.enqueue(stream)];
    await engine.kill(stream);
    await engine.redrive([first.outbox_id]);
    const second = await engine.enqueue(stream);
    expect(await engine.drain(stream)).toEqual([first.outbox_id, second.outbox_id]);
  });

  test("into a blocked lane unblocks it, and what waited behind follows", async () => {
    const stream = await engine.stream({ onDead: "block" });
    const rows = await engine.enqueueRow(stream, 3);
    await engine.kill(stream);
    expect(await engine.claim(stream)).toEqual([]);
    await engine.redrive([rows[0]!.outbox_id]);
    expect(await engine.drain(stream)).toEqual(rows.map((row) => row.outbox_id));
  });

  test("into a lane that waits for a retry goes first, and the retry keeps its time", async () => {
    const stream = await engine.stream({ backoffBaseMs: 3_600_000 });
    const [first, second] = await engine.enqueueRow(stream, 2);
    await engine.kill(stream);
    const retried = await engine.claimOne(stream);
    await engine.settle(stream, [{ row: retried, outcome: "retry", afterMs: 3_600_000 }]);
    await engine.redrive([first!.outbox_id]);
    expect(await engine.drain(stream)).toEqual([first!.outbox_id]);
    expect(await engine.place(second!.outbox_id)).toBe("pending");
    await engine.makeDue(stream);
    expect(await engine.drain(stream)).toEqual([second!.outbox_id]);
  });

  test("does not include a row that waits for its retry, however the lane came to it", async () => {
    const stream = await engine.stream();
    const [first, second, third] = await engine.enqueueRow(stream, 3);
    await engine.kill(stream);
    await engine.kill(stream);
    await engine.settle(stream, [{ row: await engine.claimOne(stream), outcome: "retry", afterMs: 3_600_000 }]);
    await engine.redrive([second!.outbox_id]);
    expect(await engine.drain(stream)).toEqual([second!.outbox_id]);
    await engine.redrive([first!.outbox_id], { outOfOrder: true });
    expect(await engine.drain(stream)).toEqual([first!.outbox_id]);
    expect(await engine.place(third!.outbox_id)).toBe("pending");
  });

  test("of several rows does not include the retry that waits behind them, however they come to it", async () => {
    const ways = ["together", "one behind the other in flight", "both behind a retry in flight"] as const;
    for (const way of ways) {
      const stream = await engine.stream();
      const ids = (await engine.enqueueRow(stream, 3)).map((row) => row.outbox_id);
      await engine.kill(stream);
      await engine.kill(stream);
      const third = await engine.claimOne(stream);
      const retry = () => engine.settle(stream, [{ row: third, outcome: "retry", afterMs: 3_600_000 }]);
      if (way !== "both behind a retry in flight") await retry();
      if (way === "one behind the other in flight") {
        await engine.redrive([ids[1]!]);
        const second = await engine.claimOne(stream);
        await engine.redrive([ids[0]!], { outOfOrder: true });
        await engine.deliver(stream, [second]);
        expect(await engine.drain(stream)).toEqual([ids[0]]);
      } else {
        await engine.redrive(ids.slice(0, 2), { outOfOrder: true });
        if (way === "both behind a retry in flight") await retry();
        expect(await engine.drain(stream)).toEqual(ids.slice(0, 2));
      }
      expect(await engine.inspect(ids[2]!)).toMatchObject({ place: "pending", tries: 1 });
      await engine.makeDue(stream);
      expect(await engine.drain(stream)).toEqual([ids[2]]);
    }
  });

  test("past delivered rows of the key is refused unless it is requested, and then the archive says so", async () => {
    const stream = await engine.stream();
    const [first, second] = await engine.enqueueRow(stream, 2);
    await engine.kill(stream);
    expect(await engine.drain(stream)).toEqual([second!.outbox_id]);
    expect(await engine.redrive([first!.outbox_id])).toMatchObject([{ result: "needs_out_of_order" }]);
    expect(await engine.place(first!.outbox_id)).toBe("dead");
    expect(await engine.redrive([first!.outbox_id], { outOfOrder: true })).toMatchObject([{ result: "redriven" }]);
    expect(await engine.drain(stream)).toEqual([first!.outbox_id]);
    const line = await oneOf(
      engine.control,
      "select out_of_order from outbox.attempts where outbox_id = $1 and state = 'REDRIVEN'",
      [first!.outbox_id],
    );
    expect(line).toEqual({ out_of_order: true });
  });

  test("past rows that were only skipped is allowed", async () => {
    const stream = await engine.stream();
    const [first, second] = await engine.enqueueRow(stream, 2);
    await engine.kill(stream);
    await engine.skip([second!.outbox_id]);
    expect(await engine.redrive([first!.outbox_id])).toMatchObject([{ result: "redriven" }]);
    expect(await engine.drain(stream)).toEqual([first!.outbox_id]);
  });

  test("into a lane in flight waits for the run to be settled and comes next", async () => {
    const stream = await engine.stream();
    const [first, ...rest] = await engine.enqueueRow(stream, 3);
    await engine.kill(stream);
    const run = await engine.claim(stream);
    expect(await engine.redrive([first!.outbox_id])).toMatchObject([{ result: "needs_out_of_order" }]);
    expect(await engine.redrive([first!.outbox_id], { outOfOrder: true })).toMatchObject([{ result: "redriven" }]);
    expect(await engine.claim(stream)).toEqual([]);
    const later = await engine.enqueue(stream);
    expect(run.map((row) => row.outbox_id)).toEqual(rest.map((row) => row.outbox_id));
    await engine.deliver(stream, run);
    expect(await engine.drain(stream)).toEqual([first!.outbox_id, later.outbox_id]);
  });

  test("a settle during a redrive of its lane does not wait for it, and afterwards restarts the lane from there", async () => {
    for (const outcome of ["delivered", "retry"] as const) {
      const stream = await engine.stream();
      const [first, second] = await engine.enqueueRow(stream, 2);
      await engine.kill(stream);
      const run = await engine.claimOne(stream);
      const operator = await engine.db.as("headroom_control").connect();
      const relay = await engine.db.as("headroom_executor").connect();
      await operator.query("begin");
      await engine.redrive([first!.outbox_id], { outOfOrder: true }, operator);
      const settle = (): Promise<unknown> => engine.settleAndCount(stream, [{ row: run, outcome }], relay);
      expect(await settle()).toMatchObject({ delivered: 0, retried: 0, late: null, busy: [run.outbox_id] });
      await operator.query("commit");
      expect(await settle()).toMatchObject({ late: null, busy: null });
      expect(await engine.drain(stream)).toEqual([first!.outbox_id]);
      await engine.makeDue(stream);
      expect(await engine.drain(stream)).toEqual(outcome === "retry" ? [second!.outbox_id] : []);
      await Promise.all([operator.end(), relay.end()]);
    }
  });

  test("into a lane in flight whose run fails comes before the retry", async () => {
    const stream = await engine.stream();
    const [first, second] = await engine.enqueueRow(stream, 2);
    await engine.kill(stream);
    const run = await engine.claimOne(stream);
    await engine.redrive([first!.outbox_id], { outOfOrder: true });
    await engine.settle(stream, [{ row: run, outcome: "retry" }]);
    expect(await engine.drain(stream)).toEqual([first!.outbox_id]);
    await engine.makeDue(stream);
    expect(await engine.drain(stream)).toEqual([second!.outbox_id]);
  });

  test("into a lane in flight whose relay dies comes before what is requeued", async () => {
    const stream = await engine.stream();
    const [first, second, third] = await engine.enqueueRow(stream, 3);
    await engine.kill(stream);
    await engine.claim(stream);
    await engine.redrive([first!.outbox_id], { outOfOrder: true });
    await engine.expireLeases(stream);
    expect(await engine.reap()).toBe(2);
    expect(await engine.drain(stream)).toEqual([first, second, third].map((row) => row!.outbox_id));
    expect(await engine.states(first!.outbox_id)).not.toContain("ZOMBIE_REQUEUE");
  });

  /** Two dead rows, the first of which is in flight again together with what follows the second. */
  async function holeInARun(): Promise<{ stream: { id: number; name: string }; ids: string[]; run: Claimed[] }> {
    const stream = await engine.stream();
    const rows = await engine.enqueueRow(stream, 4);
    await engine.kill(stream);
    await engine.kill(stream);
    await engine.redrive([rows[0]!.outbox_id]);
    // A rewound lane sends one row at a time until something is delivered; here the whole run is needed.
    await rowsOf(engine.superuser, "update outbox.heads set run_limit = null where stream_id = $1", [stream.id]);
    const run = await engine.claim(stream);
    expect(run.map((row) => row.seq)).toEqual([1, 3, 4]);
    expect(await engine.redrive([rows[1]!.outbox_id], { outOfOrder: true })).toMatchObject([{ result: "redriven" }]);
    return { stream, ids: rows.map((row) => row.outbox_id), run };
  }

  test("into the middle of a run in flight is not lost when the run is delivered", async () => {
    const { stream, ids, run } = await holeInARun();
    await engine.deliver(stream, run);
    expect(await engine.drain(stream)).toEqual([ids[1]]);
  });

  test("into the middle of a run in flight is not lost when the run is settled piece by piece", async () => {
    const { stream, ids, run } = await holeInARun();
    for (const row of run) await engine.deliver(stream, [row]);
    expect(await engine.drain(stream)).toEqual([ids[1]]);
  });

  test("into the middle of a run in flight is not treated as sent when the run is reaped", async () => {
    const { stream, ids } = await holeInARun();
    await engine.expireLeases(stream);
    expect(await engine.reap()).toBe(3);
    expect((await engine.states(ids[1]!)).slice(-2)).toEqual(["FAILED", "REDRIVEN"]);
    expect(await engine.drain(stream)).toEqual(ids);
  });

  test("into a lane that was woken while a producer was open is not lost", async () => {
    const stream = await engine.stream();
    const first = await engine.enqueue(stream);
    await engine.kill(stream);
    const second = await engine.enqueue(stream);
    const run = await engine.claimOne(stream);
    const producer = await engine.db.as("headroom_ingest").connect();
    await producer.query("begin");
    const third = await engine.enqueue(stream, {}, producer);
    // The lane cannot go idle while the producer is open; it is checked again, without a number to start from.
    await engine.deliver(stream, [run]);
    await producer.query("commit");
    await producer.end();
    await engine.makeDue(stream);
    const next = await engine.claimOne(stream);
    expect(next.outbox_id).toBe(third.outbox_id);
    await engine.redrive([first.outbox_id], { outOfOrder: true });
    await engine.deliver(stream, [next]);
    expect(await engine.drain(stream)).toEqual([first.outbox_id]);
    expect(await engine.place(second.outbox_id)).toBe("delivered");
  });

  test("several rows of several lanes go back in the order of their numbers", async () => {
    const stream = await engine.stream();
    const a = await engine.enqueueRow(stream, 3, { key: "a" });
    const b = await engine.enqueueRow(stream, 2, { key: "b" });
    for (let n = 0; n < 5; n += 1) await engine.kill(stream);
    const ids = [...a.toReversed(), ...b].map((row) => row.outbox_id);
    expect((await engine.redrive([...ids, ids[0]!])).map((row) => [row.outbox_id, row.result])).toEqual(
      ids.map((id) => [id, "redriven"]),
    );
    const delivered = await engine.drain(stream);
    expect(delivered.filter((id) => a.some((row) => row.outbox_id === id))).toEqual(a.map((row) => row.outbox_id));
    expect(delivered).toHaveLength(5);
  });

  test("a row without order goes back, and its tries are counted from zero again", async () => {
    const stream = await engine.stream({ ordered: false, maxTries: 2 });
    const row = await engine.enqueue(stream, { key: null });
    for (let n = 0; n < 2; n += 1) {
      await engine.settle(stream, [{ row: await engine.claimOne(stream), outcome: "retry" }]);
      await engine.makeDue(stream);
    }
    expect(await engine.place(row.outbox_id)).toBe("dead");
    await engine.redrive([row.outbox_id]);
    const first = await engine.claimOne(stream);
    expect(first).toMatchObject({ tries: 0, attempt_no: 6 });
    await engine.settle(stream, [{ row: first, outcome: "retry" }]);
    expect(await engine.place(row.outbox_id)).toBe("pending");
    await engine.makeDue(stream);
    await engine.settle(stream, [{ row: await engine.claimOne(stream), outcome: "retry" }]);
    expect(await engine.place(row.outbox_id)).toBe("dead");
  });

  test("a row that expires, coalesces or has a destination is checked again before it is sent", async () => {
    const stream = await engine.stream();
    const destination = unique("destination");
    const row = await engine.enqueue(stream, {
      destination,
      coalesceKey: "c",
      expiresAt: new Date(Date.now() + 3_600_000),
    });
    await engine.kill(stream);
    await engine.redrive([row.outbox_id]);
    const later = await engine.enqueue(stream, { coalesceKey: "c" });
    expect(await engine.drain(stream)).toEqual([later.outbox_id]);
    expect(await engine.place(row.outbox_id)).toBe("skipped");
  });

  test("unknown, delivered and parked rows are distinguished, and the others in the call succeed", async () => {
    const stream = await engine.stream({ money: true });
    const parked = await engine.enqueue(stream, { key: "a", rail: "blind" });
    await engine.kill(stream, "unknown");
    const delivered = await engine.enqueue(stream, { key: "b" });
    await engine.drain(stream);
    const dead = await engine.enqueue(stream, { key: "c" });
    await engine.kill(stream);
    const unknown = "01900000-0000-7000-8000-000000000000";
    const results = await engine.redrive([unknown, parked.outbox_id, delivered.outbox_id, dead.outbox_id]);
    expect(results.map((row) => row.result)).toEqual(["not_dead", "parked", "not_dead", "redriven"]);
    expect(results.slice(0, 3).every((row) => row.detail !== null)).toBe(true);
  });

  test("into a lane that another dead row blocks waits until that one is handled", async () => {
    const stream = await engine.stream({ onDead: "skip" });
    const rows = await engine.enqueueRow(stream, 3);
    await engine.kill(stream);
    await rowsOf(engine.control, "select outbox.create_stream($1, p_on_dead => 'block')", [stream.name]);
    await engine.kill(stream);
    expect(await engine.redrive([rows[0]!.outbox_id])).toMatchObject([
      { result: "redriven", detail: expect.stringContaining("blocked by another dead letter") },
    ]);
    expect(await engine.claim(stream)).toEqual([]);
    await engine.redrive([rows[1]!.outbox_id]);
    expect(await engine.drain(stream)).toEqual(rows.map((row) => row.outbox_id));
    await rowsOf(engine.control, "select outbox.create_stream($1, p_on_dead => 'skip')", [stream.name]);
  });

  test("into a lane in flight whose run then ends in a block waits, too", async () => {
    const stream = await engine.stream({ onDead: "skip" });
    const [first, second, third] = await engine.enqueueRow(stream, 3);
    await engine.kill(stream);
    await rowsOf(engine.control, "select outbox.create_stream($1, p_on_dead => 'block', p_run_length => 1)", [
      stream.name,
    ]);
    const flying = await engine.claimOne(stream);
    await engine.redrive([first!.outbox_id], { outOfOrder: true });
    await engine.settle(stream, [{ row: flying, outcome: "rejected", code: "no" }]);
    expect(await engine.claim(stream)).toEqual([]);
    expect(await engine.inspect(third!.outbox_id)).toMatchObject({
      waits_for: { outbox_id: second!.outbox_id, dead: true },
    });
    expect(await engine.skip([second!.outbox_id])).toMatchObject([{ result: "skipped" }]);
    expect(await engine.drain(stream)).toEqual([first, third].map((row) => row!.outbox_id));
    await rowsOf(engine.control, "select outbox.create_stream($1, p_on_dead => 'skip')", [stream.name]);
  });
});
