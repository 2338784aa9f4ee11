import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { idsOf, oneOf, rowsOf, startEngine } from "../harness.ts";

const anHour = 3_600_000;
const soon = (): Date => new Date(Date.now() + anHour);
const past = (): Date => new Date(Date.now() - anHour);

describe.each(POSTGRES_VERSIONS)("options of a row on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);

  describe("not before", () => {
    test("a future-dated head holds its lane, and no other", async () => {
      const stream = await engine.stream();
      const dated = await engine.enqueue(stream, { key: "a", notBefore: soon() });
      const behind = await engine.enqueue(stream, { key: "a" });
      const other = await engine.enqueue(stream, { key: "b" });
      expect(await engine.drain(stream)).toEqual([other.outbox_id]);
      await engine.makeDue(stream);
      expect(await engine.drain(stream)).toEqual(idsOf([dated, behind]));
    });

    test("a future-dated row in the middle ends the run before it", async () => {
      const stream = await engine.stream();
      const [one, dated, three] = [
        await engine.enqueue(stream),
        await engine.enqueue(stream, { notBefore: soon() }),
        await engine.enqueue(stream),
      ];
      expect(await engine.drain(stream)).toEqual([one.outbox_id]);
      await engine.makeDue(stream);
      expect(await engine.drain(stream)).toEqual(idsOf([dated, three]));
    });

    test("a past date holds nothing", async () => {
      const stream = await engine.stream();
      const row = await engine.enqueue(stream, { notBefore: past() });
      expect(await engine.drain(stream)).toEqual([row.outbox_id]);
    });

    test("a dated row without order waits alone", async () => {
      const stream = await engine.stream({ ordered: false });
      const dated = await engine.enqueue(stream, { key: null, notBefore: soon() });
      const other = await engine.enqueue(stream, { key: null });
      expect(await engine.drain(stream)).toEqual([other.outbox_id]);
      await engine.makeDue(stream);
      expect(await engine.drain(stream)).toEqual([dated.outbox_id]);
    });
  });

  describe("expiry", () => {
    test("an expired row is skipped instead of sent, and its lane continues", async () => {
      const stream = await engine.stream();
      const gone = await engine.enqueue(stream, { expiresAt: past() });
      const alive = await engine.enqueue(stream, { expiresAt: soon() });
      expect(await engine.drain(stream)).toEqual([alive.outbox_id]);
      const line = await oneOf(engine.control, "select state, error_code from outbox.attempts where outbox_id = $1", [
        gone.outbox_id,
      ]);
      expect(line).toEqual({ state: "SKIPPED", error_code: "expired" });
    });

    test("a lane of nothing but expired rows goes idle, and wakes again", async () => {
      const stream = await engine.stream();
      await engine.enqueueRow(stream, 3, { expiresAt: past() });
      expect(await engine.claim(stream)).toEqual([]);
      expect(await rowsOf(engine.control, "select from outbox.heads where stream_id = $1", [stream.id])).toEqual([]);
      const next = await engine.enqueue(stream);
      expect(await engine.drain(stream)).toEqual([next.outbox_id]);
    });

    test("an expired row without order is skipped, too", async () => {
      const stream = await engine.stream({ ordered: false });
      const gone = await engine.enqueue(stream, { key: null, expiresAt: past() });
      const alive = await engine.enqueue(stream, { key: null, expiresAt: soon() });
      expect(await engine.drain(stream)).toEqual([alive.outbox_id]);
      expect(await engine.place(gone.outbox_id)).toBe("skipped");
    });

    test("a row that expires while it waits for its retry is skipped then", async () => {
      const stream = await engine.stream();
      const row = await engine.enqueue(stream, { expiresAt: soon() });
      await engine.settle(stream, [{ row: await engine.claimOne(stream), outcome: "retry" }]);
      await rowsOf(engine.superuser, "update outbox.pending set expires_at = now() where outbox_id = $1", [
        row.outbox_id,
      ]);
      await engine.makeDue(stream);
      expect(await engine.claim(stream)).toEqual([]);
      expect(await engine.states(row.outbox_id)).toEqual(["DISPATCHING", "RETRYABLE", "SKIPPED"]);
    });
  });

  describe("coalescing", () => {
    test("a later row replaces unsent earlier ones of its coalesce key, and of no other", async () => {
      const stream = await engine.stream();
      const rows = [
        await engine.enqueue(stream, { coalesceKey: "root" }),
        await engine.enqueue(stream, { coalesceKey: "other" }),
        await engine.enqueue(stream),
        await engine.enqueue(stream, { coalesceKey: "root" }),
      ];
      expect(await engine.drain(stream)).toEqual(idsOf(rows.slice(1)));
      const line = await oneOf(engine.control, "select state, error_code from outbox.attempts where outbox_id = $1", [
        rows[0]!.outbox_id,
      ]);
      expect(line).toEqual({ state: "SKIPPED", error_code: "superseded" });
    });

    test("a row in flight is not replaced, and the later one follows", async () => {
      const stream = await engine.stream();
      const first = await engine.enqueue(stream, { coalesceKey: "root" });
      const run = await engine.claim(stream);
      const second = await engine.enqueue(stream, { coalesceKey: "root" });
      await engine.deliver(stream, run);
      expect(await engine.drain(stream)).toEqual([second.outbox_id]);
      expect(await engine.place(first.outbox_id)).toBe("delivered");
    });

    test("a row that failed is replaced, one that may have arrived is not", async () => {
      const stream = await engine.stream();
      const failed = await engine.enqueue(stream, { key: "a", coalesceKey: "c" });
      const doubtful = await engine.enqueue(stream, { key: "b", coalesceKey: "c" });
      const claimed = await engine.claim(stream);
      const of = (id: string) => claimed.find((row) => row.outbox_id === id)!;
      await engine.settle(stream, [
        { row: of(failed.outbox_id), outcome: "retry" },
        { row: of(doubtful.outbox_id), outcome: "unknown" },
      ]);
      const later = [
        await engine.enqueue(stream, { key: "a", coalesceKey: "c" }),
        await engine.enqueue(stream, { key: "b", coalesceKey: "c" }),
      ];
      await engine.makeDue(stream);
      const delivered = await engine.drain(stream);
      expect(new Set(delivered)).toEqual(new Set(idsOf([doubtful, ...later])));
      expect(await engine.place(failed.outbox_id)).toBe("skipped");
    });

    test("rows of other keys with the same coalesce key are not affected", async () => {
      const stream = await engine.stream();
      const rows = [
        await engine.enqueue(stream, { key: "a", coalesceKey: "c" }),
        await engine.enqueue(stream, { key: "b", coalesceKey: "c" }),
      ];
      expect(new Set(await engine.drain(stream))).toEqual(new Set(idsOf(rows)));
    });
  });

  describe("priority", () => {
    test.each([
      ["lanes", true],
      ["rows without order", false],
    ])("higher goes first among %s that are due", async (_what, ordered) => {
      const stream = await engine.stream({ ordered });
      const low = await engine.enqueue(stream, { key: "low", priority: 1 });
      const usual = await engine.enqueue(stream, { key: "usual" });
      const high = await engine.enqueue(stream, { key: "high", priority: 9 });
      expect(idsOf(await engine.claim(stream, { maxLanes: 1, maxRows: 1 }))).toEqual([high.outbox_id]);
      expect(idsOf(await engine.claim(stream, { maxLanes: 2, maxRows: 2 }))).toEqual(idsOf([usual, low]));
      await engine.expireLeases(stream);
      await engine.reap();
      await engine.drain(stream);
    });

    test("never overtakes within a key: the lane has the priority of its first row", async () => {
      const stream = await engine.stream();
      const first = await engine.enqueue(stream, { key: "a", priority: 1 });
      const urgent = await engine.enqueue(stream, { key: "a", priority: 9 });
      const usual = await engine.enqueue(stream, { key: "b" });
      expect(idsOf(await engine.claim(stream, { maxLanes: 1 }))).toEqual([usual.outbox_id]);
      const run = await engine.claim(stream);
      expect(idsOf(run)).toEqual(idsOf([first, urgent]));
      await engine.deliver(stream, run);
      await engine.expireLeases(stream);
      await engine.reap();
      await engine.drain(stream);
    });
  });

  describe("captures", () => {
    test("a delivery's captures are kept under its key, for later rows, and replaced by a later capture", async () => {
      const stream = await engine.stream();
      const first = await engine.enqueue(stream, { captures: { ts: ["ts"] } });
      const second = await engine.enqueue(stream, { key: "other" });
      const claimed = await engine.claim(stream);
      const of = (id: string) => claimed.find((row) => row.outbox_id === id)!;
      await engine.settle(stream, [
        { row: of(first.outbox_id), captured: { ts: "17.1", n: null } },
        { row: of(second.outbox_id) },
      ]);
      const lane = of(first.outbox_id).lane_id;
      const captured = async () =>
        (
          await rowsOf<{ captured: unknown }>(
            engine.control,
            "select jsonb_object_agg(name, value) as captured from outbox.captures where lane_id = $1 having count(*) > 0",
            [lane],
          )
        )[0]?.captured;
      expect(await captured()).toEqual({ ts: "17.1", n: null });
      await engine.enqueue(stream);
      await engine.settle(stream, [{ row: await engine.claimOne(stream), captured: { ts: "17.2" } }]);
      expect(await captured()).toEqual({ ts: "17.2", n: null });
      expect(
        await rowsOf(engine.control, "select from outbox.captures where lane_id = $1", [of(second.outbox_id).lane_id]),
      ).toEqual([]);
    });

    test("when two rows of a run capture, the later one's capture stays", async () => {
      const stream = await engine.stream();
      await engine.enqueueRow(stream, 2);
      const run = await engine.claim(stream);
      await engine.settle(stream, [
        { row: run[0]!, captured: { ts: "first" } },
        { row: run[1]!, captured: { ts: "second" } },
      ]);
      expect(
        await rowsOf(
          engine.control,
          "select jsonb_object_agg(name, value) as captured from outbox.captures where lane_id = $1 having count(*) > 0",
          [run[0]!.lane_id],
        ),
      ).toEqual([{ captured: { ts: "second" } }]);
    });

    test("captures come with their outcome or not at all", async () => {
      const stream = await engine.stream();
      await engine.enqueue(stream);
      const claimed = await engine.claimOne(stream);
      const relay = await engine.db.as("headroom_executor").connect();
      await relay.query("begin");
      await engine.settle(stream, [{ row: claimed, captured: { ts: "1" } }], relay);
      await relay.query("rollback");
      await relay.end();
      expect(await rowsOf(engine.control, "select from outbox.captures where lane_id = $1", [claimed.lane_id])).toEqual(
        [],
      );
      await engine.deliver(stream, [claimed]);
    });
  });
});
