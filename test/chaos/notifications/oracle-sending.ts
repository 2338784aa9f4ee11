/**
 * Times of sending: nothing is sent after it has expired.
 */
import type { Findings } from "../kit/findings.ts";
import { numbersIn, type Told } from "./crowd.ts";
import { leaseSeconds } from "./directory.ts";
import type { Arrived } from "./outside-child.ts";

/** A message as the outbox has it. */
export interface SentRow {
  readonly outbox_id: string;
  readonly channel: "email" | "slack";
  readonly recipient: string;
  readonly payload: string;
  readonly rail: string;
  /** Why it is a dead letter. */
  readonly code: string | null;
  /** How often its outcome was unknown. */
  readonly marks: number;
  /** When relays started to send it. */
  readonly triesAtMs: readonly number[];
}

interface Scene {
  readonly told: readonly Told[];
  /** By key, in milliseconds since 1970. */
  readonly expiry: ReadonlyMap<string, number>;
  readonly sent: readonly SentRow[];
  readonly arrived: readonly Arrived[];
}

export function judgeSending({ told, expiry, sent, arrived }: Scene, findings: Findings): void {
  const expiresAt = new Map(told.map(({ number, key }) => [number, expiry.get(key) ?? Infinity]));
  const byId = new Map(sent.map((row) => [row.outbox_id, row]));
  const byFirst = Map.groupBy(
    sent.filter(({ rail }) => rail === "slack-webhook"),
    ({ payload }) => firstIn(payload),
  );
  for (const { outboxId, text, atMs } of arrived) {
    const expiresAtMs = Math.min(...[...numbersIn(text)].map((number) => expiresAt.get(number) ?? Infinity));
    // A webhook's message does not name its row, so we take the row that allows the most.
    const rows =
      outboxId === null ? (byFirst.get(firstIn(text)) ?? []) : [byId.get(outboxId)].filter((row) => row !== undefined);
    if (rows.length === 0 || !rows.every((row) => isTooLate(row, expiresAtMs, atMs))) continue;
    const words = rows.map(({ outbox_id: id, rail, marks }) => `${id} by ${rail}, ${marks} marks`).join();
    findings.add(
      "nothing is sent after it expired",
      `${words}: ${((atMs - expiresAtMs) / 1_000).toFixed(1)} s too late`,
    );
  }
}

function firstIn(text: string): number | undefined {
  const [first] = numbersIn(text);
  return first;
}

/** A message whose send started in time may arrive a little later. */
function isTooLate({ triesAtMs }: SentRow, expiresAtMs: number, atMs: number): boolean {
  const takenAtMs = triesAtMs.findLast((triedAtMs) => triedAtMs <= atMs) ?? atMs;
  return takenAtMs > expiresAtMs || atMs > expiresAtMs + leaseSeconds * 1_000;
}
