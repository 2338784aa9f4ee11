/**
 * The verdict: compares the producers' books, the archive and the receiver's record, and reports contradictions.
 *
 * I4, I5 and I6 need only the database and are checked by `audit`. Here are the checks that need an
 * outside witness: nothing lost, nothing invented, order at the receiver, and an explanation of each request (I7, in
 * oracle-requests.ts).
 */
import type { Client } from "pg";
import { intentOf, type Evidence, type Line, type StoredRow } from "./evidence.ts";
import { findViolations } from "../../helpers/invariants.ts";
import type { Findings } from "../kit/findings.ts";
import { checkLeases, type RelayNames } from "./oracle-leases.ts";
import { checkRequests, type RequestCounts } from "./oracle-requests.ts";
import type { FaultLog } from "./fault-log.ts";

export interface Verdict {
  readonly rows: RowCounts;
  readonly requests: RequestCounts;
  readonly reapedClaims: number;
}

export interface RowCounts {
  readonly enqueued: number;
  readonly delivered: number;
  readonly resolvedAsDelivered: number;
  readonly superseded: number;
  readonly skippedByOperator: number;
  readonly dead: number;
  readonly rolledBack: number;
  readonly inDoubt: number;
  readonly lost: number;
  /** Excluded from the check of order: they died once, or were redriven past others. */
  readonly leftOutOfOrder: number;
  readonly keys: number;
}

export async function judge(
  client: Client,
  evidence: Evidence,
  findings: Findings,
  faults: FaultLog,
  relays: RelayNames,
): Promise<Verdict> {
  await audit(client, findings, "");
  const rows = checkRows(evidence, findings);
  checkEffects(evidence, findings);
  const order = checkOrder(evidence, findings);
  const requests = checkRequests(evidence, findings);
  const reapedClaims = checkLeases(evidence, findings, faults, relays);
  return { rows: { ...rows, ...order }, requests, reapedClaims };
}

type Fate = "delivered" | "resolvedAsDelivered" | "superseded" | "skippedByOperator" | "dead" | "lost";

/** No row lost, and none that nobody enqueued. */
function checkRows(evidence: Evidence, findings: Findings): Omit<RowCounts, "leftOutOfOrder" | "keys"> {
  const fates: Record<Fate, number> = {
    delivered: 0,
    resolvedAsDelivered: 0,
    superseded: 0,
    skippedByOperator: 0,
    dead: 0,
    lost: 0,
  };
  const effective = new Set(evidence.record.effects.map(({ webhookId }) => webhookId));
  const idsByIntent = Map.groupBy(evidence.rows.values(), ({ n }) => n);
  const states = { committed: 0, "rolled back": 0, "in doubt": 0, open: 0 };
  for (const intent of evidence.intents) {
    states[intent.state] += 1;
    const stored = idsByIntent.get(intent.n) ?? [];
    if (stored.length > 1) findings.add("dedupe", `intent ${intent.n} has ${stored.length} rows`);
    if (intent.state === "rolled back" && stored.length > 0) {
      findings.add("zero invented", `intent ${intent.n} was rolled back and has a row ${stored[0]?.outboxId}`);
    }
    if (intent.state !== "committed") continue;
    const row = stored.find(({ outboxId }) => outboxId === intent.outboxId);
    const fate = row === undefined ? "lost" : fateOf(row, evidence, effective);
    fates[fate] += 1;
    if (fate === "lost") {
      findings.add("zero lost", `intent ${intent.n} (row ${intent.outboxId}): ${storyOf(row, evidence, effective)}`);
    }
  }
  for (const { n, outboxId } of evidence.rows.values()) {
    const intent = evidence.intents[n - 1];
    if (intent === undefined) findings.add("zero invented", `row ${outboxId} carries the unknown intent ${n}`);
  }
  if (states.open > 0) findings.add("the books are closed", `${states.open} intents are still open`);
  return { enqueued: states.committed, rolledBack: states["rolled back"], inDoubt: states["in doubt"], ...fates };
}

function fateOf(row: StoredRow, evidence: Evidence, effective: ReadonlySet<string>): Fate {
  const last = evidence.lines.get(row.outboxId)?.at(-1);
  const arrived = effective.has(row.outboxId);
  switch (last?.state) {
    case "DISPATCHED":
      return arrived ? "delivered" : "lost";
    case "RESOLVED":
      return last.code === "delivered" && arrived ? "resolvedAsDelivered" : "lost";
    case "SKIPPED":
      if (last.code === "operator") return evidence.skipped.has(row.outboxId) ? "skippedByOperator" : "lost";
      // A row that may have been sent is not replaced; a row that did arrive certainly is not.
      return last.code === "superseded" && isReplaced(row, evidence) && !arrived ? "superseded" : "lost";
    case "FAILED":
      return diedOfARefusal(row, last, evidence) ? "dead" : "lost";
    default:
      return "lost";
  }
}

/** Some later row of the key replaces this one, and was not skipped itself. */
function isReplaced(row: StoredRow, evidence: Evidence): boolean {
  const later = evidence.lanes.get(row.laneId)?.filter(({ seq }) => (seq ?? 0) > (row.seq ?? 0)) ?? [];
  return later.some(
    ({ coalesceKey, outboxId }) =>
      coalesceKey === row.coalesceKey && evidence.lines.get(outboxId)?.at(-1)?.code !== "superseded",
  );
}

/** Tries never run out in these runs, so only the receiver's refusal may kill a row. */
function diedOfARefusal(row: StoredRow, last: Line, evidence: Evidence): boolean {
  if (!evidence.deadIds.has(row.outboxId) || last.code !== "http_4xx") return false;
  return (evidence.requests.get(row.outboxId) ?? []).some(({ answered }) => answered === 400);
}

function storyOf(row: StoredRow | undefined, evidence: Evidence, effective: ReadonlySet<string>): string {
  if (row === undefined) return "is not in the database";
  const lines = (evidence.lines.get(row.outboxId) ?? []).map(({ state, code }) => (code ? `${state} ${code}` : state));
  const seen = effective.has(row.outboxId) ? "the receiver has it" : "the receiver never had it";
  return `${row.stream} ${row.laneId ?? "-"}/${row.seq ?? "-"} ended as [${lines.join(", ")}], and ${seen}`;
}

/** The receiver had one effect per intent, of intents that were committed, with the content that was committed. */
function checkEffects(evidence: Evidence, findings: Findings): void {
  const seen = new Map<number, string>();
  for (const { webhookId, body } of evidence.record.effects) {
    const n = intentOf(body);
    const intent = n === undefined ? undefined : evidence.intents[n - 1];
    if (n === undefined || intent === undefined) {
      findings.add("zero invented", `the receiver had ${webhookId}, of which no producer knows`);
      continue;
    }
    if (intent.state === "rolled back") {
      findings.add("zero invented", `the receiver had intent ${n}, which was rolled back`);
    }
    const before = seen.get(n);
    if (before !== undefined) findings.add("I7", `intent ${n} took effect as ${before} and again as ${webhookId}`);
    seen.set(n, webhookId);
    if (intent.state === "committed" && intent.outboxId !== webhookId && before === undefined) {
      findings.add(
        "zero invented",
        `intent ${n} took effect as ${webhookId}, and its producer was told ${intent.outboxId}`,
      );
    }
  }
}

/** The first effects of a key are in the order of its numbers. */
function checkOrder(evidence: Evidence, findings: Findings): Pick<RowCounts, "leftOutOfOrder" | "keys"> {
  const leftOut = new Set<string>();
  for (const row of evidence.rows.values()) {
    const lines = evidence.lines.get(row.outboxId) ?? [];
    // A dead row lets later ones pass if its stream continues past dead rows; then its place in the order is lost.
    const passed = row.goesOnPastDead && lines.some(({ state }) => state === "FAILED");
    if (passed || lines.some(({ outOfOrder }) => outOfOrder)) leftOut.add(row.outboxId);
  }
  const lastOf = new Map<number, { seq: number; webhookId: string }>();
  for (const { webhookId } of evidence.record.effects) {
    const row = evidence.rows.get(webhookId);
    if (row === undefined || row.laneId === null || row.seq === null || leftOut.has(webhookId)) continue;
    const last = lastOf.get(row.laneId);
    if (last !== undefined && last.seq > row.seq) {
      findings.add("order", `lane ${row.laneId} (${row.stream}): number ${row.seq} took effect after ${last.seq}`);
    }
    if (last === undefined || last.seq < row.seq) lastOf.set(row.laneId, { seq: row.seq, webhookId });
  }
  return { leftOutOfOrder: leftOut.size, keys: lastOf.size };
}

/**
 * I4, I5 and I6, from the database alone: while everything runs, and at the end. Do not use the client for quick queries afterwards: its
 * planner is tuned for large results.
 */
export async function audit(client: Client, findings: Findings, when: "" | " (while running)"): Promise<void> {
  // A run fills its tables within minutes, and a plan for empty ones would compare every row with every other.
  await client.query("analyze outbox.attempts, outbox.payloads, outbox.lanes, outbox.pending, outbox.dead");
  await client.query("set enable_nestloop = off");
  for (const { invariant, subject, detail } of await findViolations(client)) {
    findings.add(`${invariant}${when}`, `${subject} ${detail}`);
  }
}
