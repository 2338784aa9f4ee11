import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf, startEngine, type Claimed } from "../harness.ts";

const give = (rows: readonly Claimed[]) => rows.map((row) => ({ row }));

describe.each(POSTGRES_VERSIONS)("a settle that comes after its lease, on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);

  describe.each([
    ["with order", true],
    ["without order", false],
  ])("on a stream %s", (_name, ordered) => {
    const input = ordered ? {} : { key: null };

    test("but before the reap counts, and the reap finds nothing", async () => {
      const stream = await engine.stream({ ordered });
      const row = await engine.enqueue(stream, input);
      const claimed = await engine.claim(stream);
      await engine.expireLeases(stream);
      expect(await engine.deliver(stream, claimed)).toEqual([]);
      expect(await engine.reap()).toBe(0);
      expect(await engine.states(row.outbox_id)).toEqual(["DISPATCHING", "DISPATCHED"]);
    });

    test("during the reap does not wait for it, changes nothing, and is late when it comes again", async () => {
      const stream = await engine.stream({ ordered });
      const row = await engine.enqueue(stream, input);
      const claimed = await engine.claim(stream);
      await engine.expireLeases(stream);
      const [reaper, relay] = await engine.db.twoConnections("headroom_executor");
      await reaper.query("begin");
      expect(await engine.reap(reaper)).toBe(1);
      expect(await engine.settleAndCount(stream, give(claimed), relay)).toMatchObject({
        delivered: 0,
        late: null,
        busy: [row.outbox_id],
      });
      await reaper.query("commit");
      expect(await engine.settle(stream, give(claimed), relay)).toEqual([row.outbox_id]);
      expect(await engine.states(row.outbox_id)).toEqual(["DISPATCHING", "ZOMBIE_REQUEUE"]);
      expect(await engine.drain(stream)).toEqual([row.outbox_id]);
      await Promise.all([reaper.end(), relay.end()]);
    });

    test("that is under way is not waited for by the reap, which leaves the claim to it", async () => {
      const stream = await engine.stream({ ordered });
      const row = await engine.enqueue(stream, input);
      const claimed = await engine.claim(stream);
      await engine.expireLeases(stream);
      const [reaper, relay] = await engine.db.twoConnections("headroom_executor");
      await relay.query("begin");
      expect(await engine.settle(stream, give(claimed), relay)).toEqual([]);
      expect(await engine.reap(reaper)).toBe(0);
      await relay.query("commit");
      expect(await engine.reap(reaper)).toBe(0);
      expect(await engine.place(row.outbox_id)).toBe("delivered");
      await Promise.all([reaper.end(), relay.end()]);
    });

    test("after the reap changes nothing while the row waits, is in flight again, or has been delivered", async () => {
      const stream = await engine.stream({ ordered });
      const row = await engine.enqueue(stream, input);
      const claimed = await engine.claim(stream);
      await engine.expireLeases(stream);
      await engine.reap();
      expect(await engine.deliver(stream, claimed)).toEqual([row.outbox_id]);
      const again = await engine.claimOne(stream);
      expect(again).toMatchObject({ outbox_id: row.outbox_id, uncertain: true, tries: 1, attempt_no: 3 });
      expect(await engine.settle(stream, [{ row: claimed[0]!, outcome: "rejected" }])).toEqual([row.outbox_id]);
      expect(await engine.deliver(stream, [again])).toEqual([]);
      expect(await engine.settle(stream, [{ row: claimed[0]!, outcome: "retry" }])).toEqual([row.outbox_id]);
      expect(await engine.states(row.outbox_id)).toEqual([
        "DISPATCHING",
        "ZOMBIE_REQUEUE",
        "DISPATCHING",
        "DISPATCHED",
      ]);
    });

    test("twice is late the second time, whatever it says", async () => {
      const stream = await engine.stream({ ordered });
      const [first, second] = [await engine.enqueue(stream, input), await engine.enqueue(stream, input)];
      const claimed = await engine.claim(stream);
      expect(claimed).toHaveLength(2);
      const firstClaimed = claimed.find((row) => row.outbox_id === first.outbox_id)!;
      const secondClaimed = claimed.find((row) => row.outbox_id === second.outbox_id)!;
      expect(await engine.deliver(stream, [firstClaimed])).toEqual([]);
      expect(await engine.settle(stream, [{ row: firstClaimed, outcome: "retry" }])).toEqual([first.outbox_id]);
      expect(await engine.deliver(stream, [secondClaimed])).toEqual([]);
      expect(await engine.deliver(stream, claimed)).toHaveLength(2);
      expect(await engine.states(first.outbox_id)).toEqual(["DISPATCHING", "DISPATCHED"]);
    });

    test("settles what is in time when only part of the batch is late", async () => {
      const stream = await engine.stream({ ordered });
      const old = await engine.enqueue(stream, ordered ? { key: "old" } : input);
      const lost = await engine.claim(stream);
      await engine.expireLeases(stream);
      await engine.reap();
      const fresh = await engine.enqueue(stream, ordered ? { key: "fresh" } : input);
      const claimed = await engine.claim(stream);
      const freshOne = claimed.find((row) => row.outbox_id === fresh.outbox_id)!;
      expect(await engine.deliver(stream, [lost[0]!, freshOne])).toEqual([old.outbox_id]);
      expect(await engine.place(fresh.outbox_id)).toBe("delivered");
      expect(await engine.place(old.outbox_id)).toBe("in_flight");
      await engine.deliver(
        stream,
        claimed.filter((row) => row.outbox_id === old.outbox_id),
      );
    });

    test("late captures of a reaped row are not kept", async () => {
      const stream = await engine.stream({ ordered });
      await engine.enqueue(stream, input);
      const claimed = await engine.claim(stream);
      await engine.expireLeases(stream);
      await engine.reap();
      await engine.settle(stream, [{ row: claimed[0]!, captured: { ts: "1" } }]);
      const kept = await oneOf(engine.control, "select count(*)::int as n from outbox.captures where outbox_id = $1", [
        claimed[0]!.outbox_id,
      ]);
      expect(kept).toEqual({ n: 0 });
      await engine.drain(stream);
    });
  });
});
