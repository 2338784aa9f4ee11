/**
 * I7, request by request. Every raw request names the claim and the archive line under which it was sent, so each can be matched
 * with the line that records its outcome:
 *
 * - DISPATCHED: this request took effect and was answered;
 * - an uncertain mark (ZOMBIE_REQUEUE, or RETRYABLE or FAILED with a code that means "nobody knows"): anything may be true;
 * - a definite answer (500, 429, 400, …): the receiver agrees that it had no effect;
 * - RELEASED: there was no request at all.
 *
 * So each request beyond the one that counts is matched by its own uncertain mark, or by a definite no on which
 * both sides agree.
 */
import { webhookCodes } from "../../../src/rails/webhook/codes.ts";
import type { ReceivedRequest } from "../../integration/rails/receiver/receiver-record.ts";
import { senderOf, type Evidence, type Line } from "./evidence.ts";
import type { Findings } from "../kit/findings.ts";

export interface RequestCounts {
  readonly raw: number;
  /** Requests with ids that had arrived before. */
  readonly beyondFirst: number;
  /** … of which the receiver had accepted more than one as a message. */
  readonly effectiveBeyondFirst: number;
  /** Requests whose line is an uncertain mark; whose line is a definite no. */
  readonly matchedByMark: number;
  readonly matchedByDefiniteNo: number;
  readonly unmatched: number;
  /** Lines that mark a row as possibly sent. */
  readonly uncertainMarks: number;
  readonly zombieMarks: number;
}

/** The engine's own codes of an unknown outcome; the rail's are in its table. */
const engineUnknownCodes = new Set(["timeout", "stopped", "rail_threw", "rail_garbage", "outcome_unknown"]);
const webhookOutcomes = new Map<string, string>(
  Object.entries(webhookCodes).map(([code, { outcome }]) => [code, outcome]),
);

/** Whether an outcome line says that the call under it may have arrived. The flag alone is not enough: it is kept. */
export function isUncertainMark(line: Line): boolean {
  if (!line.uncertain) return false;
  if (line.state === "ZOMBIE_REQUEUE") return true;
  if (line.state !== "RETRYABLE" && line.state !== "FAILED") return false;
  return line.code !== null && (engineUnknownCodes.has(line.code) || webhookOutcomes.get(line.code) === "unknown");
}

type Account = "delivery" | "mark" | "definite no" | "unmatched";

export function checkRequests(evidence: Evidence, findings: Findings): RequestCounts {
  const tally: Record<Account, number> = { delivery: 0, mark: 0, "definite no": 0, unmatched: 0 };
  let beyondFirst = 0;
  let effectiveBeyondFirst = 0;
  const sentUnder = new Set<string>();
  for (const [webhookId, requests] of evidence.requests) {
    beyondFirst += requests.length - 1;
    effectiveBeyondFirst += Math.max(0, requests.filter(({ effect }) => effect !== "none").length - 1);
    for (const request of requests) {
      const account = accountFor(request, evidence, findings);
      tally[account] += 1;
      const under = `${webhookId} ${request.path}`;
      if (sentUnder.has(under)) findings.add("I7", `two requests were sent under one line: ${under}`);
      sentUnder.add(under);
    }
  }
  checkDeliveries(evidence, findings);
  checkBytes(evidence, findings);
  const marks = [...evidence.lines.values()].flat().filter(isUncertainMark);
  return {
    raw: evidence.record.requests.length,
    beyondFirst,
    effectiveBeyondFirst,
    matchedByMark: tally.mark,
    matchedByDefiniteNo: tally["definite no"],
    unmatched: tally.unmatched,
    uncertainMarks: marks.length,
    zombieMarks: marks.filter(({ state }) => state === "ZOMBIE_REQUEUE").length,
  };
}

function accountFor(request: ReceivedRequest, evidence: Evidence, findings: Findings): Account {
  const sender = senderOf(request);
  const lines = evidence.lines.get(request.webhookId) ?? [];
  const sent = sender === undefined ? undefined : lines[sender.attemptNo - 1];
  const outcome = sender === undefined ? undefined : lines[sender.attemptNo];
  const what = `request ${request.seq} (${request.webhookId} ${request.path}, ${request.fault}, effect ${request.effect})`;
  if (sent?.state !== "DISPATCHING" || sent.claimId !== sender?.claimId) {
    findings.add("I7", `${what} was sent without a line in the archive`);
    return "unmatched";
  }
  if (outcome === undefined) {
    findings.add("I7", `${what} has no outcome in the archive`);
    return "unmatched";
  }
  if (outcome.state === "DISPATCHED") {
    if (request.effect !== "none") return "delivery";
    findings.add("I7", `${what} counts as delivered, and had no effect`);
    return "unmatched";
  }
  if (isUncertainMark(outcome)) return "mark";
  if (request.effect === "none" && outcome.state !== "RELEASED" && outcome.state !== "ZOMBIE_REQUEUE") {
    return "definite no";
  }
  findings.add("I7", `${what} is not matched by an uncertain mark: ${outcome.state} ${outcome.code ?? ""}`);
  return "unmatched";
}

/** No row is marked delivered unless the receiver confirmed it, under that same claim. */
function checkDeliveries(evidence: Evidence, findings: Findings): void {
  for (const [outboxId, lines] of evidence.lines) {
    for (const line of lines) {
      if (line.state !== "DISPATCHED") continue;
      const told = evidence.requests.get(outboxId)?.some((request) => {
        const sender = senderOf(request);
        return sender?.claimId === line.claimId && sender.attemptNo === line.attemptNo - 1 && request.effect !== "none";
      });
      if (told !== true)
        findings.add("I7", `row ${outboxId} is DISPATCHED by line ${line.attemptNo} without a request`);
    }
  }
}

/** Repeats are identical byte for byte, and signed. */
function checkBytes(evidence: Evidence, findings: Findings): void {
  for (const [webhookId, requests] of evidence.requests) {
    const bodies = new Set(requests.flatMap(({ body }) => (body === null ? [] : [body])));
    if (bodies.size > 1) findings.add("I7", `row ${webhookId} was sent with ${bodies.size} different bodies`);
    if (requests.some(({ signature }) => signature === "invalid")) {
      findings.add("requests are signed", `row ${webhookId} came with a bad signature`);
    }
  }
}
