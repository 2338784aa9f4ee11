import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf, rowsOf, startEngine } from "../harness.ts";

describe.each(POSTGRES_VERSIONS)("the reaper on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);

  test("leaves living leases alone", async () => {
    const stream = await engine.stream();
    await engine.enqueue(stream);
    const run = await engine.claim(stream);
    expect(await engine.reap()).toBe(0);
    await engine.deliver(stream, run);
  });

  test("takes back every lane of a claim, and each keeps its order", async () => {
    const stream = await engine.stream();
    const a = await engine.enqueueRow(stream, 2, { key: "a" });
    const b = await engine.enqueueRow(stream, 2, { key: "b" });
    await engine.claim(stream);
    await engine.expireLeases(stream);
    expect(await engine.reap()).toBe(4);
    const delivered = await engine.drain(stream);
    for (const rows of [a, b]) {
      const ids = rows.map((row) => row.outbox_id);
      expect(delivered.filter((id) => ids.includes(id))).toEqual(ids);
    }
  });

  test("counts a reap as a try, and gives a row up when its tries are used: dead, and in doubt", async () => {
    const stream = await engine.stream({ maxTries: 2, onDead: "skip" });
    const [first, second] = await engine.enqueueRow(stream, 2);
    await rowsOf(engine.control, "select outbox.create_stream($1, p_run_length => 1)", [stream.name]);
    for (let n = 0; n < 2; n += 1) {
      await engine.claimOne(stream);
      await engine.expireLeases(stream);
      expect(await engine.reap()).toBe(1);
    }
    expect(await engine.inspect(first!.outbox_id)).toMatchObject({
      place: "dead",
      uncertain: true,
      error_code: "tries_exhausted",
      tries: 2,
    });
    expect(await engine.states(first!.outbox_id)).toEqual([
      "DISPATCHING",
      "ZOMBIE_REQUEUE",
      "DISPATCHING",
      "ZOMBIE_REQUEUE",
      "FAILED",
    ]);
    expect(await engine.drain(stream)).toEqual([second!.outbox_id]);
  });

  test("blocks a lane whose first row it gives up, where the stream says so", async () => {
    const stream = await engine.stream({ maxTries: 1, onDead: "block", runLength: 1 });
    const [first, second] = await engine.enqueueRow(stream, 2);
    await engine.claimOne(stream);
    await engine.expireLeases(stream);
    await engine.reap();
    expect(await engine.claim(stream)).toEqual([]);
    expect(await engine.inspect(second!.outbox_id)).toMatchObject({
      place: "pending",
      waits_for: { outbox_id: first!.outbox_id, dead: true },
    });
    await engine.resolve(first!.outbox_id, true);
    expect(await engine.drain(stream)).toEqual([second!.outbox_id]);
  });

  test("gives up a row without order in the same way", async () => {
    const stream = await engine.stream({ ordered: false, maxTries: 1 });
    const row = await engine.enqueue(stream, { key: null });
    await engine.claim(stream);
    await engine.expireLeases(stream);
    expect(await engine.reap()).toBe(1);
    expect(await engine.inspect(row.outbox_id)).toMatchObject({ place: "dead", uncertain: true });
    expect(await engine.states(row.outbox_id)).toEqual(["DISPATCHING", "ZOMBIE_REQUEUE", "FAILED"]);
  });

  test("requeues only those rows without order that have no outcome yet", async () => {
    const stream = await engine.stream({ ordered: false });
    for (let n = 0; n < 3; n += 1) await engine.enqueue(stream, { key: null });
    const rows = await engine.claim(stream);
    await engine.deliver(stream, rows.slice(0, 1));
    await engine.settle(stream, [{ row: rows[1]!, outcome: "retry", afterMs: 3_600_000 }]);
    await engine.expireLeases(stream);
    expect(await engine.reap()).toBe(1);
    expect(await engine.states(rows[1]!.outbox_id)).toEqual(["DISPATCHING", "RETRYABLE"]);
    expect(await engine.states(rows[2]!.outbox_id)).toEqual(["DISPATCHING", "ZOMBIE_REQUEUE"]);
    await engine.makeDue(stream);
    await engine.drain(stream);
  });

  test("leaves lanes of the claim alone that were settled before, even while another relay takes them", async () => {
    const stream = await engine.stream({ maxTries: 1, onDead: "skip" });
    await engine.enqueueRow(stream, 3, { key: "a" });
    // A relay dies with the whole lane: the first row is given up, the two behind it are in doubt and out of tries.
    await engine.claim(stream);
    await engine.expireLeases(stream);
    await engine.reap();
    // The next one delivers the second row and hands the third back, but still holds another lane when its lease ends.
    await engine.enqueue(stream, { key: "b" });
    const held = await engine.claim(stream);
    const lane = held.filter((row) => row.key === "a");
    expect(lane).toHaveLength(2);
    await engine.settle(stream, [{ row: lane[0]! }, { row: lane[1]!, outcome: "released" }]);
    await engine.expireLeases(stream);
    const relay = await engine.db.as("headroom_executor").connect();
    await relay.query("begin");
    const third = await engine.claim(stream, {}, relay);
    expect(third.map((row) => row.outbox_id)).toEqual([lane[1]!.outbox_id]);
    expect(await engine.reap()).toBe(1);
    await relay.query("commit");
    await relay.end();
    expect(await engine.deliver(stream, third)).toEqual([]);
  });

  test("is not held up by an archive: it reads leases only", async () => {
    const plan = await rowsOf<{ "QUERY PLAN": string }>(
      engine.superuser,
      "explain select * from outbox.claims where lease_until < now() order by claim_id limit 100 for update skip locked",
    );
    expect(plan.map((line) => line["QUERY PLAN"]).join("\n")).not.toContain("attempts");
  });

  test("the sweep deletes relays that are long gone and keeps living ones", async () => {
    await rowsOf(
      engine.superuser,
      "insert into outbox.relays (name, seen_at) values ('gone', now() - interval '1 hour')",
    );
    await rowsOf(engine.executor, "select outbox.note_relay($1, 'test', true)", [engine.relayId]);
    await rowsOf(engine.executor, "select outbox.sweep()");
    const left = await oneOf(
      engine.control,
      "select array_agg(name) as names from outbox.relays where name in ('gone', 'test')",
    );
    expect(left).toEqual({ names: ["test"] });
  });
});
