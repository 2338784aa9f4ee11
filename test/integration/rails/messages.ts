/** Messages as the relay hands them to a rail. */
import { randomUUID } from "node:crypto";
import type { Json, RailMessage } from "../../../src/contract/rail.ts";

/** Each has a unique payload, by which its effect is recognised wherever it appears. */
export function messageOf(payload: Json = { type: "order.paid", data: { order: randomUUID() } }): RailMessage {
  const outboxId = randomUUID();
  return {
    outboxId,
    stream: "transfers",
    key: "customer-1",
    seq: 1,
    instructionId: `instruction-${outboxId}`,
    idempotencyKey: `key-${outboxId}`,
    body: JSON.stringify(payload),
    payload,
    tenantId: null,
    destination: null,
    tryNo: 1,
    uncertain: false,
    createdAt: new Date(),
  };
}

export const notAborted = { signal: new AbortController().signal };
