import { describe, expect, test } from "vitest";
import { Message, type ClaimedRow } from "./message.ts";
import type { Outcome, Result } from "./result.ts";
import { givenUp } from "./settler.ts";
import type { Stream } from "./streams.ts";

const stream: Stream = {
  id: 1,
  name: "orders",
  ordered: true,
  carriesMoney: false,
  resendBlind: false,
  leaseMs: 60_000,
  runLength: 10,
};

function result(outboxId: string, outcome: Outcome, tries: number, capability: "blind" | "lookup" = "lookup"): Result {
  const row: ClaimedRow = {
    claim_id: 1,
    lane_id: 1,
    seq: 1,
    outbox_id: outboxId,
    attempt_no: 1,
    tries,
    uncertain: false,
    rail_id: 1,
    key: "k",
    instruction_id: "i",
    idempotency_key: "once",
    payload: {},
    destination_id: null,
    destination: null,
    sent_ago_ms: null,
    captures: null,
    binds: null,
  };
  const rail = { name: "shop", capability, timeoutMs: 1_000, send: () => ({ kind: "delivered" }) as const };
  return { message: new Message(row, stream, rail), outcome, latencyMs: 1 };
}

const idsOf = (results: readonly Result[]) => results.map(({ message }) => message.outboxId);

describe("the rows that a settle gave up are", () => {
  const batch = [
    result("delivered", "delivered", 11),
    result("fresh", "retry", 0),
    result("used up", "retry", 11),
    result("released", "released", 11),
    result("refused", "rejected", 0),
    result("blind", "unknown", 0, "blind"),
    result("looked up", "unknown", 3),
  ];

  test("the refused ones and blind unknown ones first, then those with the most tries", () => {
    expect(idsOf(givenUp(stream, batch, 3, []))).toEqual(["refused", "blind", "used up"]);
  });

  test("not those whose result came too late", () => {
    expect(idsOf(givenUp(stream, batch, 2, ["refused"]))).toEqual(["blind", "used up"]);
  });

  test("not blind ones where a double is harmless", () => {
    expect(idsOf(givenUp({ ...stream, resendBlind: true }, batch, 2, []))).toEqual(["refused", "used up"]);
  });
});
