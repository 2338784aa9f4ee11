/**
 * One row to its rail: validate it, ask about an uncertain earlier try, call, and state the outcome.
 *
 * Owns: what may be done after an unknown outcome, by what the rail can prove. Does not own: order, leases and retries.
 */
import type { LookupOutcome, Rail, Validation } from "../../contract/rail.ts";
import { hasInexactNumber } from "../../db/values/exact-json.ts";
import { validatePayment } from "../../contract/payment.ts";
import type { Message } from "../claim/message.ts";
import { rowOutcomeOfLookup, reasonOf, rowOutcomeOf } from "./read-outcome.ts";
import { released, type RowOutcome } from "../settle/row-outcome.ts";
import { type Calls, isPromise } from "./calls.ts";
import type { Stream } from "../claim/streams.ts";

/** Sends one row. Returns its outcome synchronously if the rail does, so that a fast rail costs no promise. */
export function send(
  message: Message,
  stream: Stream,
  rail: Rail,
  calls: Calls,
  sinceClaimMs: number,
): RowOutcome | Promise<RowOutcome> {
  const bad = problemOf(message, stream, rail);
  if (bad !== null) return { message, kind: "rejected", latencyMs: 0, code: "payload_invalid", reason: bad };
  if (!message.uncertain) return callRail(message, rail, calls, false);
  if (rail.capability === "idempotent") {
    const ageMs = (message.row.sent_ago_ms ?? 0) + sinceClaimMs;
    // The receiver may get it as late as the time-out, and must still remember the first one then.
    if (rail.dedupWindowMs === undefined || ageMs + rail.timeoutMs < rail.dedupWindowMs) {
      return callRail(message, rail, calls, false);
    }
  }
  if (rail.capability === "lookup") return lookFirst(message, rail, calls);
  if (stream.resendBlind) return callRail(message, rail, calls, false);
  return {
    message,
    kind: "rejected",
    latencyMs: 0,
    code: "outcome_unknown",
    reason: "An earlier try may have arrived, and the rail can neither tell nor deduplicate.",
  };
}

function problemOf(message: Message, stream: Stream, rail: Rail): string | null {
  try {
    if ((rail.sends !== "text" || stream.carriesMoney) && hasInexactNumber(message.body)) {
      return "A number in it has more digits than JavaScript can hold, and would change on the way. Write it as a text.";
    }
    if (!stream.carriesMoney && rail.validate === undefined) return null;
    const money: Validation = stream.carriesMoney ? validatePayment(message.payload, rail.name) : { ok: true };
    if (!money.ok) return money.reason;
    const own: Validation = rail.validate === undefined ? { ok: true } : rail.validate(message);
    return own.ok ? null : reasonOf(own.reason);
  } catch (error) {
    return `The check of the payload failed: ${reasonOf(error)}`;
  }
}

function callRail(message: Message, rail: Rail, calls: Calls, absent: boolean): RowOutcome | Promise<RowOutcome> {
  const started = performance.now();
  message.sentHash = message.filledHash;
  const end = calls.run(rail.timeoutMs, (context) => rail.send(message, context));
  return isPromise(end)
    ? end.then((ended) => rowOutcomeOf(message, ended, performance.now() - started, absent))
    : rowOutcomeOf(message, end, performance.now() - started, absent);
}

async function lookFirst(message: Message, rail: Rail, calls: Calls): Promise<RowOutcome> {
  const started = performance.now();
  const end = await calls.run<LookupOutcome>(rail.timeoutMs, async (context) => {
    if (rail.lookup === undefined) return { kind: "unavailable", code: "no_lookup", reason: "the rail has no lookup" };
    return await rail.lookup(message, context);
  });
  const known = rowOutcomeOfLookup(message, end, performance.now() - started);
  if (known !== null) return known;
  // The relay gave up its calls while the receiver was being asked: no call may begin any more.
  if (calls.over) return released(message, "relay_stopping");
  return callRail(message, rail, calls, true);
}
