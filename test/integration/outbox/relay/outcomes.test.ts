/** What a rail returns, or fails to return, and the row's outcome. */
import { describe, expect, test } from "vitest";
import type { RailOutcome } from "../../../../src/contract/rail.ts";
import { hang, hangUntilAborted, probeRail } from "./rails.ts";
import { createStage, until } from "./stage.ts";

const stage = await createStage();

function garbage(value: unknown): RailOutcome {
  return value as RailOutcome;
}

describe("a rail whose outcome is unknown", () => {
  const cases = [
    { name: "hangs and ignores the abort", code: "timeout", send: hang, timeoutMs: 100 },
    { name: "hangs until it is aborted", code: "timeout", send: hangUntilAborted, timeoutMs: 100 },
    {
      name: "throws",
      code: "rail_threw",
      send: (): never => {
        throw new Error("the wire broke");
      },
    },
    { name: "rejects with something odd", code: "rail_threw", send: () => Promise.reject(Object.create(null)) },
    { name: "answers null", code: "rail_garbage", send: () => garbage(null) },
    { name: "answers a word", code: "rail_garbage", send: () => garbage("ok") },
    { name: "answers an unknown kind", code: "rail_garbage", send: () => garbage({ kind: "fine" }) },
    {
      name: "answers with a trap",
      code: "rail_garbage",
      send: () =>
        garbage({
          get kind() {
            throw new Error("no");
          },
        }),
    },
    {
      name: "answers with a fake promise",
      code: "rail_threw",
      send: () => {
        const trap = {
          // oxlint-disable-next-line unicorn/no-thenable -- a hostile answer is the point
          then() {
            throw new Error("no");
          },
        };
        return garbage(trap);
      },
    },
  ];

  test.each(cases)("$name: RETRYABLE, uncertain, $code; then it is sent again", async ({ code, send, timeoutMs }) => {
    const rail = probeRail({
      timeoutMs: timeoutMs ?? 1_000,
      send: (_message, context, count) => (count === 1 ? send(context) : { kind: "delivered", code: "200" }),
    });
    const stream = await stage.stream();
    await stage.declare(rail);
    const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
    await stage.run({ rails: [rail], streams: [stream] });
    const lines = await stage.untilState(outboxId, "DISPATCHED");
    expect(lines).toMatchObject([
      { state: "DISPATCHING", uncertain: false },
      {
        state: "RETRYABLE",
        uncertain: true,
        error_code: "outcome_unknown",
        rail_code: code,
        error_message: expect.stringMatching(/./),
      },
      { state: "DISPATCHING", uncertain: true },
      { state: "DISPATCHED", rail_code: "200" },
    ]);
    expect(rail.sent.map(({ tryNo, uncertain }) => [tryNo, uncertain])).toEqual([
      [1, false],
      [2, true],
    ]);
  });

  test("does not hold up the rows of other keys, nor end the relay", async () => {
    const rail = probeRail({
      timeoutMs: 1_000,
      send: (message) => (message.key === "bad" ? hang() : { kind: "delivered" }),
    });
    const stream = await stage.stream({ maxTries: 1 });
    await stage.declare(rail);
    const bad = await stage.enqueue({ stream, rail: rail.name, key: "bad" });
    const good = await stage.enqueueMany(Array.from({ length: 20 }, () => ({ stream, rail: rail.name })));
    await stage.run({ rails: [rail], streams: [stream] });
    await stage.untilStates(
      good.map((row) => row.outboxId),
      "DISPATCHED",
    );
    expect(await stage.states(bad.outboxId)).toEqual(["DISPATCHING"]);
    await stage.untilState(bad.outboxId, "FAILED");
  });
});

test("an unknown outcome that the rail reports itself keeps the rail's code", async () => {
  const rail = probeRail({
    send: (_message, _context, count) =>
      count === 1
        ? { kind: "unknown", code: "reset_after_send", reason: "the receiver hung up" }
        : { kind: "delivered" },
  });
  const stream = await stage.stream();
  await stage.declare(rail);
  const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
  await stage.run({ rails: [rail], streams: [stream] });
  const lines = await stage.untilState(outboxId, "DISPATCHED");
  expect(lines[1]).toMatchObject({
    state: "RETRYABLE",
    uncertain: true,
    error_code: "outcome_unknown",
    rail_code: "reset_after_send",
  });
});

test.each([
  ["retry", { uncertain: false, error_code: "http_429" }],
  ["unknown", { uncertain: true, error_code: "outcome_unknown", rail_code: "http_429" }],
] as const)(
  "Retry-After takes precedence over the backoff when it is longer, with an outcome that is %s",
  async (kind, line) => {
    const rail = probeRail({
      send: () => ({ kind, code: "http_429", reason: "busy", afterMs: 3_600_000 }),
    });
    const stream = await stage.stream();
    await stage.declare(rail);
    const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
    await stage.run({ rails: [rail], streams: [stream] });
    const lines = await stage.untilState(outboxId, "RETRYABLE");
    expect(lines[1]).toMatchObject({ ...line, error_message: "busy" });
    const [waiting] = await stage.query<{ seconds: number }>(
      `select extract(epoch from h.due - a.recorded_at)::float as seconds
       from outbox.attempts a join outbox.payloads m using (outbox_id) join outbox.heads h on h.lane_id = m.lane_id
      where a.outbox_id = $1 and a.attempt_no = 2`,
      [outboxId],
    );
    expect(waiting?.seconds).toBeGreaterThan(3_590);
    expect(waiting?.seconds).toBeLessThan(3_610);
  },
);

test("a rejection is FAILED immediately, with its code, and is a dead letter", async () => {
  const rail = probeRail({ send: () => ({ kind: "rejected", code: "http_400", reason: "no such field" }) });
  const stream = await stage.stream();
  await stage.declare(rail);
  const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
  await stage.run({ rails: [rail], streams: [stream] });
  await stage.untilState(outboxId, "FAILED");
  expect(rail.sent).toHaveLength(1);
  expect(
    await stage.query("select error_code, error_message, parked from outbox.dead where outbox_id = $1", [outboxId]),
  ).toEqual([{ error_code: "http_400", error_message: "no such field", parked: false }]);
});

test("the counters match what the database wrote, even when a setting changed under the relay", async () => {
  const rail = probeRail({ send: () => ({ kind: "retry", code: "http_503", reason: "busy" }) });
  const stream = await stage.stream({ maxTries: 5 });
  await stage.declare(rail);
  const relay = await stage.run({ rails: [rail], streams: [stream] });
  await stage.query("select outbox.create_stream($1, p_max_tries => 1)", [stream]);
  const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
  await stage.untilState(outboxId, "FAILED");
  await until(
    () => relay.counters.attempts("FAILED") + relay.counters.attempts("RETRYABLE"),
    (count) => count > 0,
    "the outcome to be counted",
  );
  expect([relay.counters.attempts("FAILED"), relay.counters.attempts("RETRYABLE")]).toEqual([1, 0]);
});

test("when the tries are used up the row is dead, and the next one of its key continues", async () => {
  const rail = probeRail({
    send: (message) => (message.seq === 1 ? { kind: "retry", code: "http_500", reason: "" } : { kind: "delivered" }),
  });
  const stream = await stage.stream({ maxTries: 3 });
  await stage.declare(rail);
  const rows = await stage.enqueueMany([1, 2].map(() => ({ stream, rail: rail.name, key: "k" })));
  await stage.run({ rails: [rail], streams: [stream] });
  await stage.untilState(rows[1]?.outboxId ?? "", "DISPATCHED");
  expect(rail.sent.map(({ seq, tryNo }) => [seq, tryNo])).toEqual([
    [1, 1],
    [1, 2],
    [1, 3],
    [2, 1],
  ]);
  expect((await stage.states(rows[0]?.outboxId ?? "")).at(-1)).toBe("FAILED");
});

describe("an answer that cannot be stored as it is", () => {
  test("is stored as far as possible, in one call", async () => {
    const rail = probeRail({
      send: () =>
        garbage({
          kind: "delivered",
          code: 200,
          reference: `zero\u0000byte and half a pair \ud800 ${"x".repeat(5_000)}`,
          response: { id: "a\u0000b", big: "y".repeat(100_000), "bad\u0000name": { "in\u0000side": 1 } },
        }),
    });
    const stream = await stage.stream();
    await stage.declare(rail);
    const { outboxId } = await stage.enqueue({
      stream,
      rail: rail.name,
      captures: { id: ["id"], big: ["big"], bad: ["bad\u0001name"], whole: [] },
    });
    await stage.run({ rails: [rail], streams: [stream] });
    const lines = await stage.untilState(outboxId, "DISPATCHED");
    expect(lines[1]?.rail_code).toBe("200");
    expect(lines[1]?.rail_reference).toMatch(/^zerobyte and half a pair /);
    expect(await stage.query("select name, value from outbox.captures where outbox_id = $1", [outboxId])).toEqual([
      { name: "id", value: "ab" },
    ]);
    expect(rail.sent).toHaveLength(1);
  });

  test("of a refusal is treated the same", async () => {
    const rail = probeRail({
      send: () =>
        garbage({ kind: "rejected", code: { not: "text" }, reason: `\u0000${"z".repeat(9_000)}`, afterMs: Number.NaN }),
    });
    const stream = await stage.stream();
    await stage.declare(rail);
    const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
    await stage.run({ rails: [rail], streams: [stream] });
    const lines = await stage.untilState(outboxId, "FAILED");
    expect(lines[1]?.error_code).toBe("no_code");
    expect(lines[1]?.error_message?.length).toBeGreaterThan(1_000);
  });

  test.each([Number.NaN, -1, Number.POSITIVE_INFINITY, "soon"])("a Retry-After of %s does no harm", async (afterMs) => {
    const rail = probeRail({
      send: () => garbage({ kind: "retry", code: "busy", reason: "", afterMs, throttled: "yes" }),
    });
    const stream = await stage.stream();
    await stage.declare(rail);
    const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
    const relay = await stage.run({ rails: [rail], streams: [stream] });
    await stage.untilState(outboxId, "RETRYABLE");
    expect(relay.counters.settleErrors).toBe(0);
  });
});

describe("payloads are checked before anything is called", () => {
  test.each([
    ["no amount", { currency: "EUR", destination: "acct-1" }],
    ["zero", { amount: 0, currency: "EUR", destination: "acct-1" }],
    ["a fraction", { amount: 10.5, currency: "EUR", destination: "acct-1" }],
    ["an invalid currency", { amount: 100, currency: "EURO", destination: "acct-1" }],
    ["no destination", { amount: 100, currency: "EUR" }],
    ["not an object", "100 EUR"],
  ])("a payment with %s is FAILED without a call", async (_what, payload) => {
    const rail = probeRail();
    const stream = await stage.stream({ carriesMoney: true, onDead: "block" });
    await stage.declare(rail);
    const { outboxId } = await stage.enqueue({ stream, rail: rail.name, payload });
    await stage.run({ rails: [rail], streams: [stream] });
    const lines = await stage.untilState(outboxId, "FAILED");
    expect(lines[1]).toMatchObject({ error_code: "payload_invalid", uncertain: false });
    expect(rail.sent).toEqual([]);
    expect(await stage.query("select parked from outbox.dead where outbox_id = $1", [outboxId])).toEqual([
      { parked: false },
    ]);
  });

  test("a valid payment is sent", async () => {
    const rail = probeRail();
    const stream = await stage.stream({ carriesMoney: true });
    await stage.declare(rail);
    const payload = { amount: 4_200, currency: "EUR", destination: "acct-1" };
    const { outboxId } = await stage.enqueue({ stream, rail: rail.name, payload });
    await stage.run({ rails: [rail], streams: [stream] });
    await stage.untilState(outboxId, "DISPATCHED");
  });

  test.each([
    ["says no", (): never | { ok: false; reason: string } => ({ ok: false, reason: "not like this" }), "not like this"],
    [
      "throws",
      (): never => {
        throw new Error("cannot tell");
      },
      "cannot tell",
    ],
    ["says nothing", () => garbage(undefined) as never, "check of the payload failed"],
  ])("a rail's own check that %s is FAILED without a call", async (_what, validate, reason) => {
    const rail = probeRail({ validate });
    const stream = await stage.stream();
    await stage.declare(rail);
    const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
    await stage.run({ rails: [rail], streams: [stream] });
    const lines = await stage.untilState(outboxId, "FAILED");
    expect(lines[1]).toMatchObject({ error_code: "payload_invalid", error_message: expect.stringContaining(reason) });
    expect(rail.sent).toEqual([]);
  });
});
