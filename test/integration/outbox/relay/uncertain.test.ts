/** What happens to a row that may or may not have arrived, by its rail's capability. */
import { describe, expect, test } from "vitest";
import type { RailOutcome } from "../../../../src/contract/rail.ts";
import { delivered, probeRail } from "./rails.ts";
import { createStage } from "./stage.ts";

const stage = await createStage();

const lost: RailOutcome = { kind: "unknown", code: "reset_after_send", reason: "the receiver hung up" };
const payment = { amount: 100, currency: "EUR", destination: "acct-1" };

/** Loses the first call, delivers the others. */
const loseFirst = (_message: unknown, _context: unknown, count: number): RailOutcome =>
  count === 1 ? lost : delivered;

async function deadLetter(outboxId: string) {
  return stage.query("select error_code, uncertain, parked from outbox.dead where outbox_id = $1", [outboxId]);
}

async function redrive(...outboxIds: string[]): Promise<void> {
  await stage.query("select outbox.redrive($1, 'ana', 'the receiver is back')", [outboxIds]);
}

describe("a rail with a lookup is asked before anything is sent again", () => {
  test("found: delivered without a second send, and the lookup's captures are kept", async () => {
    const rail = probeRail({
      capability: "lookup",
      send: loseFirst,
      lookup: () => ({ kind: "found", reference: "r-1", response: { id: "t-9" } }),
    });
    const stream = await stage.stream();
    await stage.declare(rail);
    const { outboxId } = await stage.enqueue({ stream, rail: rail.name, captures: { thread: ["id"] } });
    await stage.run({ rails: [rail], streams: [stream] });
    const lines = await stage.untilState(outboxId, "DISPATCHED");
    expect(lines.at(-1)).toMatchObject({ rail_code: "found", rail_reference: "r-1" });
    expect(rail.sent).toHaveLength(1);
    expect(rail.lookedUp).toEqual([outboxId]);
    expect(await stage.query("select value from outbox.captures where outbox_id = $1", [outboxId])).toEqual([
      { value: "t-9" },
    ]);
  });

  test("absent: sent again; a definite failure of that one is no longer uncertain", async () => {
    const rail = probeRail({
      capability: "lookup",
      send: (_message, _context, count) =>
        count === 1 ? lost : count === 2 ? { kind: "retry", code: "http_500", reason: "" } : delivered,
      lookup: () => ({ kind: "absent" }),
    });
    const stream = await stage.stream();
    await stage.declare(rail);
    const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
    await stage.run({ rails: [rail], streams: [stream] });
    const lines = await stage.untilState(outboxId, "DISPATCHED");
    expect(lines.filter((line) => line.state === "RETRYABLE").map((line) => line.uncertain)).toEqual([true, false]);
    expect(rail.sent).toHaveLength(3);
    expect(rail.lookedUp).toHaveLength(1);
  });

  test.each([
    ["says that it cannot", () => ({ kind: "unavailable", code: "api_down", reason: "" }) as const, "api_down"],
    [
      "throws",
      (): never => {
        throw new Error("no route");
      },
      "lookup_failed",
    ],
    ["answers nonsense", () => null as never, "lookup_failed"],
    ["hangs", () => new Promise<never>(() => undefined), "lookup_failed"],
  ])(
    "a lookup that %s sends nothing: the row stays uncertain, and is looked up again when it is redriven",
    async (_how, lookup, code) => {
      let mended = false;
      const rail = probeRail({
        capability: "lookup",
        timeoutMs: 200,
        send: loseFirst,
        lookup: () => (mended ? { kind: "found", reference: "r-2" } : lookup()),
      });
      const stream = await stage.stream({ maxTries: 3 });
      await stage.declare(rail);
      const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
      await stage.run({ rails: [rail], streams: [stream] });
      const lines = await stage.untilState(outboxId, "FAILED");
      expect(rail.sent).toHaveLength(1);
      expect(rail.lookedUp).toHaveLength(2);
      expect(lines.at(-1)).toMatchObject({ error_code: code, uncertain: true });
      expect(await deadLetter(outboxId)).toEqual([{ error_code: code, uncertain: true, parked: false }]);
      mended = true;
      await redrive(outboxId);
      expect((await stage.untilState(outboxId, "DISPATCHED")).at(-1)).toMatchObject({ rail_reference: "r-2" });
      expect(rail.sent).toHaveLength(1);
    },
  );
});

describe("a blind rail", () => {
  test("parks money immediately: one call, and the lane waits for a person", async () => {
    const rail = probeRail({ capability: "blind", send: loseFirst });
    const stream = await stage.stream({ carriesMoney: true, onDead: "block" });
    await stage.declare(rail);
    const [first, second] = await stage.enqueueMany(
      [1, 2].map(() => ({ stream, rail: rail.name, key: "k", payload: payment })),
    );
    await stage.run({ rails: [rail], streams: [stream] });
    await stage.untilState(first?.outboxId ?? "", "FAILED");
    expect(await deadLetter(first?.outboxId ?? "")).toMatchObject([{ uncertain: true, parked: true }]);
    expect(rail.sent.map(({ seq }) => seq)).toEqual([1]);
    // Claimed in the run of the first, it came back unsent, or was never claimed.
    expect((await stage.states(second?.outboxId ?? "")).filter((state) => state === "DISPATCHED")).toEqual([]);
    expect(await stage.query("select blocked_lanes::int from outbox.status() where stream = $1", [stream])).toEqual([
      { blocked_lanes: 1 },
    ]);
  });

  test("sends again where a duplicate is harmless", async () => {
    const rail = probeRail({ capability: "blind", send: loseFirst });
    const stream = await stage.stream({ resendBlind: true });
    await stage.declare(rail);
    const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
    await stage.run({ rails: [rail], streams: [stream] });
    await stage.untilState(outboxId, "DISPATCHED");
    expect(rail.sent.map(({ uncertain }) => uncertain)).toEqual([false, true]);
  });

  test("sends again where a duplicate is harmless, but no third time", async () => {
    const rail = probeRail({
      capability: "blind",
      send: () => {
        throw new Error("the answer was lost");
      },
    });
    const stream = await stage.stream({ resendBlind: true });
    await stage.declare(rail);
    const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
    await stage.run({ rails: [rail], streams: [stream] });
    await stage.untilState(outboxId, "FAILED");
    expect(rail.sent.map(({ uncertain }) => uncertain)).toEqual([false, true]);
    expect(await deadLetter(outboxId)).toMatchObject([{ uncertain: true }]);
  });

  test("does not send what a dead relay left uncertain", async () => {
    const rail = probeRail({ capability: "blind" });
    const stream = await stage.stream({ leaseSeconds: 90 });
    await stage.declare(rail);
    const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
    // A relay that claims and dies: its lease runs out without a result.
    await stage.query(
      `select outbox.claim(outbox.start_relay('dead'), (select stream_id from outbox.streams where name = $1), 10)`,
      [stream],
    );
    await stage.query("update outbox.claims set lease_until = now() - interval '1 s'");
    await stage.run({ rails: [rail], streams: [stream], reapMs: 100 });
    const lines = await stage.untilState(outboxId, "FAILED");
    expect(lines.map((line) => line.state)).toEqual(["DISPATCHING", "ZOMBIE_REQUEUE", "DISPATCHING", "FAILED"]);
    expect(lines.at(-1)).toMatchObject({ error_code: "outcome_unknown", uncertain: true });
    expect(rail.sent).toEqual([]);
  });
});

describe("an idempotent rail", () => {
  test("sends again with the same id, for as long as the receiver remembers", async () => {
    const rail = probeRail({ dedupWindowMs: 60_000, send: loseFirst });
    const stream = await stage.stream();
    await stage.declare(rail);
    const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
    await stage.run({ rails: [rail], streams: [stream] });
    await stage.untilState(outboxId, "DISPATCHED");
    expect(rail.sent.map((each) => each.outboxId)).toEqual([outboxId, outboxId]);
  });

  test("does not send again when the receiver may have forgotten: the row is parked", async () => {
    // The window has ended before the second call could arrive.
    const rail = probeRail({ timeoutMs: 1_000, dedupWindowMs: 900, send: loseFirst });
    const stream = await stage.stream();
    await stage.declare(rail);
    const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
    await stage.run({ rails: [rail], streams: [stream] });
    await stage.untilState(outboxId, "FAILED");
    expect(rail.sent).toHaveLength(1);
    expect(await deadLetter(outboxId)).toEqual([{ error_code: "outcome_unknown", uncertain: true, parked: true }]);
  });

  test("a refusal of the second call leaves it open whether the first arrived", async () => {
    const rail = probeRail({
      send: (_message, _context, count) => (count === 1 ? lost : { kind: "rejected", code: "http_409", reason: "" }),
    });
    const stream = await stage.stream();
    await stage.declare(rail);
    const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
    await stage.run({ rails: [rail], streams: [stream] });
    await stage.untilState(outboxId, "FAILED");
    expect(await deadLetter(outboxId)).toEqual([{ error_code: "http_409", uncertain: true, parked: false }]);
  });

  test("that never answered is redriven under the same id while the receiver remembers, and is parked afterwards", async () => {
    let answers = false;
    const rail = probeRail({ dedupWindowMs: 3_600_000, send: () => (answers ? delivered : lost) });
    const stream = await stage.stream({ maxTries: 2 });
    await stage.declare(rail);
    const ids = (await stage.enqueueMany([1, 2].map(() => ({ stream, rail: rail.name })))).map((row) => row.outboxId);
    const [soon = "", late = ""] = ids;
    await stage.run({ rails: [rail], streams: [stream] });
    for (const id of ids) await stage.untilState(id, "FAILED");
    expect(await deadLetter(soon)).toEqual([{ error_code: "outcome_unknown", uncertain: true, parked: false }]);
    await stage.query("update outbox.dead set first_sent_at = now() - interval '2 hours' where outbox_id = $1", [late]);
    answers = true;
    await redrive(...ids);
    await stage.untilState(soon, "DISPATCHED");
    await stage.untilState(late, "FAILED");
    const triesOf = (id: string): boolean[] =>
      rail.sent.filter(({ outboxId }) => outboxId === id).map(({ uncertain }) => uncertain);
    expect(triesOf(soon)).toEqual([false, true, true]);
    expect(triesOf(late)).toEqual([false, true]);
    expect(await deadLetter(late)).toEqual([{ error_code: "outcome_unknown", uncertain: true, parked: true }]);
  });
});
