/**
 * Reads what a rail answered. Rails may be written in plain JavaScript and pass on anything that a receiver says, so nothing
 * about an answer is assumed: the database would refuse what cannot be stored when the row is settled, and the row would be sent
 * again although its outcome was known.
 *
 * Owns: turning any answer into an outcome that can be stored. Does not own: what the outcome leads to.
 */
import { parseToPassOn } from "../../db/values/exact-json.ts";
import type { Json, LookupOutcome, RailOutcome, PauseRequest } from "../../contract/rail.ts";
import { type Captured, readCaptures } from "../settle/captures.ts";
import type { Message } from "../claim/message.ts";
import type { RowOutcome } from "../settle/row-outcome.ts";
import type { CallEnd } from "./calls.ts";

const maxCodeChars = 100;
const maxReferenceChars = 500;
const maxReasonChars = 2_000;
const maxCaptureChars = 65_536;
const maxAfterMs = 86_400_000;

/** A rail that throws, hangs or answers nonsense may still have sent: the outcome is unknown. */
export function rowOutcomeOf(
  message: Message,
  end: CallEnd<RailOutcome>,
  latencyMs: number,
  absent: boolean,
): RowOutcome {
  if (end.kind === "abandoned") {
    const reason = `The call was abandoned (${end.why}).`;
    return { message, kind: "unknown", latencyMs, code: end.why, reason };
  }
  if (end.kind === "threw") {
    return { message, kind: "unknown", latencyMs, code: "rail_threw", reason: reasonOf(end.error) };
  }
  try {
    const read = readOutcome(message, end.value, latencyMs, absent);
    if (read !== null) return read;
  } catch {
    // A getter of the answer threw: this is not an outcome either.
  }
  const reason = "The rail's answer is not an outcome.";
  return { message, kind: "unknown", latencyMs, code: "rail_garbage", reason };
}

function readOutcome(
  message: Message,
  value: RailOutcome | null | undefined,
  latencyMs: number,
  absent: boolean,
): RowOutcome | null {
  switch (value?.kind) {
    case "delivered":
      return deliveredOf(message, value, latencyMs, value.code);
    case "retry":
      return { message, kind: "retry", latencyMs, ...whyOf(value), ...pauseRequestOf(value), absent };
    case "rejected":
      return { message, kind: "rejected", latencyMs, ...whyOf(value), absent };
    case "unknown":
      return { message, kind: "unknown", latencyMs, ...whyOf(value), ...pauseRequestOf(value) };
    default:
      return null;
  }
}

/** The result of a lookup; null when the receiver has no trace of the row, so that it may be sent. */
export function rowOutcomeOfLookup(
  message: Message,
  end: CallEnd<LookupOutcome>,
  latencyMs: number,
): RowOutcome | null {
  if (end.kind === "answered") {
    try {
      const read = readLookup(message, end.value, latencyMs);
      if (read !== undefined) return read;
    } catch {
      // As above.
    }
  }
  const reason = end.kind === "threw" ? reasonOf(end.error) : "The lookup gave no usable answer.";
  return { message, kind: "retry", latencyMs, code: "lookup_failed", reason };
}

function readLookup(
  message: Message,
  value: LookupOutcome | null | undefined,
  latencyMs: number,
): RowOutcome | null | undefined {
  switch (value?.kind) {
    case "found":
      return deliveredOf(message, value, latencyMs, "found");
    case "absent":
      return null;
    case "unavailable":
      return { message, kind: "retry", latencyMs, ...whyOf(value), afterMs: millisecondsOf(value.afterMs) };
    default:
      return undefined;
  }
}

function deliveredOf(
  message: Message,
  value: { readonly reference?: string; readonly response?: Json },
  latencyMs: number,
  code: string | undefined,
): RowOutcome {
  return {
    message,
    kind: "delivered",
    latencyMs,
    code: textOf(code, maxCodeChars),
    reference: textOf(value.reference, maxReferenceChars),
    captured: capturesOf(message, value.response),
  };
}

function capturesOf(message: Message, response: Json | undefined): Captured | undefined {
  if (message.row.captures === null) return undefined;
  const storable = Object.entries(readCaptures(message.row.captures, response)).flatMap(([name, value]) => {
    const clean = storableJson(value);
    return clean === undefined ? [] : [[name, clean] as const];
  });
  return Object.fromEntries(storable);
}

/** The value without what Postgres cannot store; undefined if it is not JSON, or too large to bind. Its digits stay as they are. */
function storableJson(value: Json): Json | undefined {
  const text = JSON.stringify(value, (_name, part: unknown) =>
    typeof part === "string" ? part.replaceAll("\u0000", "").toWellFormed() : part,
  ) as string | undefined;
  if (text === undefined || text.length > maxCaptureChars) return undefined;
  // Names of fields stay as they are; one that cannot be stored makes the whole value unusable.
  if (/\\u0000|\\ud[89a-f]/i.test(text.replaceAll("\\\\", ""))) return undefined;
  return parseToPassOn(text);
}

function whyOf(value: { readonly code?: unknown; readonly reason?: unknown }): { code: string; reason: string } {
  return { code: textOf(value.code, maxCodeChars) ?? "no_code", reason: textOf(value.reason, maxReasonChars) ?? "" };
}

function pauseRequestOf({ afterMs, throttled }: PauseRequest): Pick<RowOutcome, "afterMs" | "throttled"> {
  return { afterMs: millisecondsOf(afterMs), throttled: throttled === true };
}

/** Numbers are accepted too, because people often give one as the code (`code: 200`). */
function textOf(value: unknown, maxChars: number): string | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  return String(value).slice(0, maxChars);
}

function millisecondsOf(value: unknown): number | undefined {
  if (typeof value !== "number" || Number.isNaN(value)) return undefined;
  return Math.min(Math.max(0, value), maxAfterMs);
}

/** What was thrown, in one line that can be stored. */
export function reasonOf(error: unknown): string {
  try {
    return (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, maxReasonChars);
  } catch {
    return "something was thrown that cannot be shown";
  }
}
