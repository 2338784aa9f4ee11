/**
 * Lanes that nothing would ever wake, each broken by hand as our own code should never break it, and the sweep that repairs them. Sound
 * lanes are covered in the other files of this folder, after every test of which the invariants are checked.
 */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { idsOf, oneOf, refusedAs, rowsOf, startEngine, type Stream } from "../harness.ts";

describe.each(POSTGRES_VERSIONS)("the sweep on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);

  async function sweep(maxLanes?: number): Promise<number> {
    const { n } = await oneOf<{ n: number }>(engine.executor, "select outbox.sweep(coalesce($1, 5000)) as n", [
      maxLanes ?? null,
    ]);
    return n;
  }

  /** Deletes the leases of a stream, as if their rows had been deleted by hand. */
  async function loseClaims(stream: Stream): Promise<void> {
    await rowsOf(engine.superuser, "delete from outbox.claims where stream_id = $1", [stream.id]);
  }

  test("takes a lane back whose claim is gone; what was in flight is uncertain, and the late result does not count", async () => {
    const stream = await engine.stream();
    const rows = await engine.enqueueRow(stream, 3);
    const run = await engine.claim(stream);
    await engine.deliver(stream, run.slice(0, 1));
    await loseClaims(stream);
    await engine.expireLeases(stream);
    expect(await engine.reap()).toBe(0);
    expect(await sweep()).toBe(1);
    expect(await engine.deliver(stream, run.slice(1))).toEqual(idsOf(run.slice(1)));
    const again = await engine.claimOne(stream);
    expect(again).toMatchObject({ outbox_id: rows[1]!.outbox_id, uncertain: true, tries: 1 });
    expect(again.sent_ago_ms).not.toBeNull();
    await engine.deliver(stream, [again]);
    expect(await engine.drain(stream)).toEqual([rows[2]!.outbox_id]);
    expect(await engine.states(rows[1]!.outbox_id)).toEqual([
      "DISPATCHING",
      "ZOMBIE_REQUEUE",
      "DISPATCHING",
      "DISPATCHED",
    ]);
    const line = await oneOf(
      engine.control,
      "select relay_id, claim_id from outbox.attempts where outbox_id = $1 and state = 'ZOMBIE_REQUEUE'",
      [rows[1]!.outbox_id],
    );
    expect(line).toEqual({ relay_id: engine.relayId, claim_id: run[1]!.claim_id });
    expect(await sweep()).toBe(0);
  });

  test("does not treat as sent what was redriven into the run whose claim is gone", async () => {
    const stream = await engine.stream();
    const rows = await engine.enqueueRow(stream, 3);
    await engine.kill(stream);
    await engine.claim(stream);
    await engine.redrive([rows[0]!.outbox_id], { outOfOrder: true });
    await loseClaims(stream);
    expect(await sweep()).toBe(1);
    expect(await engine.drain(stream)).toEqual(idsOf(rows));
    expect(await engine.states(rows[0]!.outbox_id)).not.toContain("ZOMBIE_REQUEUE");
  });

  test("gives up a row whose last try it takes back", async () => {
    const stream = await engine.stream({ maxTries: 1, onDead: "block" });
    const [first, second] = await engine.enqueueRow(stream, 2);
    await engine.claim(stream, { maxRows: 1 });
    await loseClaims(stream);
    expect(await sweep()).toBe(1);
    expect(await engine.inspect(first!.outbox_id)).toMatchObject({ place: "dead", uncertain: true, blocks_lane: true });
    await engine.skip([first!.outbox_id]);
    expect(await engine.drain(stream)).toEqual([second!.outbox_id]);
  });

  test("lets a lane continue that is blocked by nothing", async () => {
    const stream = await engine.stream({ onDead: "block" });
    const rows = await engine.enqueueRow(stream, 2);
    await rowsOf(engine.superuser, "update outbox.heads set blocked = true where stream_id = $1", [stream.id]);
    expect(await engine.claim(stream)).toEqual([]);
    expect(await sweep()).toBe(1);
    expect(await engine.drain(stream)).toEqual(idsOf(rows));
  });

  test("blocks a lane again that lost its head behind a dead row", async () => {
    const stream = await engine.stream({ onDead: "block" });
    const [first, second] = await engine.enqueueRow(stream, 2);
    await engine.kill(stream);
    await rowsOf(engine.superuser, "delete from outbox.heads where stream_id = $1", [stream.id]);
    expect(await sweep()).toBe(1);
    expect(await engine.claim(stream)).toEqual([]);
    expect(await engine.inspect(second!.outbox_id)).toMatchObject({
      waits_for: { outbox_id: first!.outbox_id, dead: true },
    });
    await engine.redrive([first!.outbox_id]);
    expect(await engine.drain(stream)).toEqual([first!.outbox_id, second!.outbox_id]);
  });

  test("leaves sound lanes alone: in flight, retried, blocked, dated, and waiting for an open producer", async () => {
    const stream = await engine.stream({ onDead: "block" });
    await engine.enqueueRow(stream, 2, { key: "blocked" });
    await engine.kill(stream);
    await engine.enqueue(stream, { key: "retried" });
    await engine.settle(stream, [{ row: await engine.claimOne(stream), outcome: "retry" }]);
    await engine.enqueue(stream, { key: "dated", notBefore: new Date(Date.now() + 3_600_000) });
    await engine.enqueue(stream, { key: "open" });
    const producer = await engine.db.as("headroom_ingest").connect();
    await producer.query("begin");
    await engine.enqueue(stream, { key: "open" }, producer);
    await engine.deliver(stream, [await engine.claimOne(stream)]);
    await engine.enqueueRow(stream, 2, { key: "flying" });
    const flying = await engine.claim(stream);
    expect(flying).toHaveLength(2);
    expect(await sweep()).toBe(0);
    expect(await engine.deliver(stream, flying)).toEqual([]);
    await producer.query("rollback");
    await producer.end();
  });

  test("goes through the lanes part by part, and starts over", async () => {
    const stream = await engine.stream();
    for (let key = 0; key < 7; key += 1) await engine.enqueue(stream, { key: `k${key}` });
    const lanes = await rowsOf<{ n: number }>(
      engine.superuser,
      "select count(distinct lane_id) as n from outbox.pending",
    );
    const parts = Math.ceil(lanes[0]!.n / 3) + 1;
    for (let round = 0; round < 2; round += 1) {
      await rowsOf(engine.superuser, "delete from outbox.heads where stream_id = $1", [stream.id]);
      const mended: number[] = [];
      for (let part = 0; part < parts; part += 1) mended.push(await sweep(3));
      expect(Math.max(...mended)).toBeLessThanOrEqual(3);
      expect(mended.reduce((sum, n) => sum + n, 0)).toBe(7);
    }
    expect(await engine.drain(stream)).toHaveLength(7);
  });

  test("a lane that cannot be repaired stops neither the others nor the sweep", async () => {
    const stream = await engine.stream();
    const bad = await engine.enqueue(stream, { key: "bad" });
    const good = await engine.enqueue(stream, { key: "good" });
    const claimed = await engine.claim(stream);
    await loseClaims(stream);
    await rowsOf(
      engine.superuser,
      `create function public.refuse_zombie() returns trigger language plpgsql as $$
       begin
         if new.outbox_id = '${bad.outbox_id}' and new.state = 'ZOMBIE_REQUEUE' then raise exception 'planted'; end if;
         return new;
       end $$`,
    );
    await rowsOf(
      engine.superuser,
      "create trigger planted before insert on outbox.attempts for each row execute function public.refuse_zombie()",
    );
    expect(await sweep()).toBe(1);
    expect(await engine.drain(stream)).toEqual([good.outbox_id]);
    await rowsOf(engine.superuser, "drop function public.refuse_zombie() cascade");
    expect(await sweep()).toBe(1);
    expect(await engine.drain(stream)).toEqual([bad.outbox_id]);
    expect(claimed).toHaveLength(2);
  });

  test.each([0, 1_000_001])("a sweep of %i lanes is refused", async (lanes) => {
    await expect(sweep(lanes)).rejects.toMatchObject(refusedAs("invalid_input"));
  });
});
