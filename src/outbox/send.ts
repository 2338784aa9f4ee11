/**
 * One row to its rail: validate, settle what is uncertain about it, call, and say plainly what came of it.
 *
 * Owns: the rules of what an unknown outcome allows, by what the rail can prove. Does not own: order, leases and retries.
 */
import type { LookupOutcome, Rail, RailOutcome, Validation } from "../rails/rail.ts";
import { validatePayment } from "../rails/payment.ts";
import { readCaptures } from "./bind.ts";
import type { Message } from "./message.ts";
import type { Result } from "./result.ts";
import { type Calls, isPromise, type Timed } from "./timed.ts";
import type { Stream } from "./streams.ts";

const maxReasonChars = 2_000;

/** Sends one row. Answers at once when the rail does, so that a fast rail costs no promise. */
export function send(
  message: Message,
  stream: Stream,
  rail: Rail,
  calls: Calls,
  sinceClaimMs: number,
): Result | Promise<Result> {
  const bad = problemOf(message, stream, rail);
  if (bad !== null) return { message, outcome: "rejected", latencyMs: 0, code: "payload_invalid", reason: bad };
  if (!message.uncertain) return callRail(message, rail, calls, false);
  if (rail.capability === "idempotent") {
    const ageMs = (message.row.sent_ago_ms ?? 0) + sinceClaimMs;
    if (rail.dedupWindowMs === undefined || ageMs < rail.dedupWindowMs) return callRail(message, rail, calls, false);
  }
  if (rail.capability === "lookup") return lookFirst(message, rail, calls);
  if (stream.resendBlind) return callRail(message, rail, calls, false);
  return {
    message,
    outcome: "rejected",
    latencyMs: 0,
    code: "outcome_unknown",
    reason: "An earlier try may have arrived, and the rail can neither tell nor deduplicate.",
  };
}

function problemOf(message: Message, stream: Stream, rail: Rail): string | null {
  if (!stream.carriesMoney && rail.validate === undefined) return null;
  try {
    const money: Validation = stream.carriesMoney ? validatePayment(message.payload, rail.name) : { ok: true };
    if (!money.ok) return money.reason;
    const own = rail.validate?.(message) ?? { ok: true };
    return own.ok ? null : own.reason;
  } catch (error) {
    return `validation failed: ${reasonOf(error)}`;
  }
}

function callRail(message: Message, rail: Rail, calls: Calls, absent: boolean): Result | Promise<Result> {
  const started = performance.now();
  const timed = calls.run(rail.timeoutMs, (context) => rail.send(message, context));
  return isPromise(timed)
    ? timed.then((settled) => resultOf(message, settled, started, absent))
    : resultOf(message, timed, started, absent);
}

async function lookFirst(message: Message, rail: Rail, calls: Calls): Promise<Result> {
  const started = performance.now();
  const timed = await calls.run<LookupOutcome>(rail.timeoutMs, async (context) => {
    if (rail.lookup === undefined) return { kind: "unavailable", code: "no_lookup", reason: "the rail has no lookup" };
    return await rail.lookup(message, context);
  });
  const found = timed.kind === "answer" ? timed.value : undefined;
  if (found?.kind === "absent") return callRail(message, rail, calls, true);
  const latencyMs = performance.now() - started;
  if (found?.kind === "found") {
    return {
      message,
      outcome: "delivered",
      latencyMs,
      code: "found",
      reference: found.reference,
      captured: capturesOf(message, found.response),
    };
  }
  const unavailable = found?.kind === "unavailable" ? found : undefined;
  return {
    message,
    outcome: "retry",
    latencyMs,
    code: unavailable?.code ?? "lookup_failed",
    reason: cut(
      unavailable?.reason ?? (timed.kind === "threw" ? reasonOf(timed.error) : "the lookup gave no usable answer"),
    ),
    afterMs: unavailable?.afterMs,
  };
}

/** A rail that throws, hangs or answers nonsense may still have sent: the outcome is unknown. */
function resultOf(message: Message, timed: Timed<RailOutcome>, started: number, absent: boolean): Result {
  const latencyMs = performance.now() - started;
  if (timed.kind === "abandoned") {
    return {
      message,
      outcome: "unknown",
      latencyMs,
      code: timed.why,
      reason: `The call was abandoned (${timed.why}).`,
    };
  }
  if (timed.kind === "threw")
    return { message, outcome: "unknown", latencyMs, code: "rail_threw", reason: cut(reasonOf(timed.error)) };
  const value: RailOutcome | null | undefined = timed.value;
  switch (value?.kind) {
    case "delivered":
      return {
        message,
        outcome: "delivered",
        latencyMs,
        code: value.code,
        reference: value.reference,
        captured: capturesOf(message, value.response),
      };
    case "retry":
      return {
        message,
        outcome: "retry",
        latencyMs,
        code: value.code,
        reason: cut(value.reason),
        afterMs: value.afterMs,
        throttled: value.throttled,
        absent,
      };
    case "rejected":
      return { message, outcome: "rejected", latencyMs, code: value.code, reason: cut(value.reason), absent };
    case "unknown":
      return { message, outcome: "unknown", latencyMs, code: value.code, reason: cut(value.reason) };
    default:
      return {
        message,
        outcome: "unknown",
        latencyMs,
        code: "rail_garbage",
        reason: "The rail answered with something that is no outcome.",
      };
  }
}

function capturesOf(message: Message, response: Parameters<typeof readCaptures>[1]): Result["captured"] {
  return message.row.captures === null ? undefined : readCaptures(message.row.captures, response);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

function cut(reason: unknown): string {
  return String(reason).slice(0, maxReasonChars);
}
