/**
 * The codes of a failed HTTP exchange, for every rail that speaks HTTP, and what a status alone proves.
 *
 * - Nothing was sent: certain, and tried again.
 * - 3xx and 4xx: certain. The receiver, or a proxy in front of it, read the request and did not accept it. Three of them are temporary
 *   and not about the message, and are tried again: 408 (the request did not arrive whole), 425 (it came too early) and 429 (too
 *   many requests).
 * - 5xx: no proof, 503 included. Servers fail after they have done their work, and a balancer answers 502, 503 or 504 when it loses
 *   a server that is still at work. The outcome is unknown, unless the provider's own answer in the body says that nothing was done.
 * - A pause that the receiver asks for is separate, and respected with any status: 429 pauses the whole destination, and so does 503 if
 *   it says for how long.
 *
 * One rail deviates from this for 5xx, and says why: slack-interaction.
 *
 * Owns: the names and which outcome each leads to. Does not own: what a body means; that differs by receiver.
 */
import type { RailOutcome, PauseRequest } from "../contract/rail.ts";

/** A line of a rail's table of codes. */
export interface RailCode {
  readonly outcome: "retry" | "rejected" | "unknown";
  readonly meaning: string;
}

export const exchangeCodes = {
  blocked_address: { outcome: "rejected", meaning: "The URL leads to an address that webhooks may not reach." },
  request_invalid: { outcome: "rejected", meaning: "No HTTP request can be made of this message." },
  aborted_before_send: { outcome: "retry", meaning: "The time was up before anything was sent." },
  dns_failed: { outcome: "retry", meaning: "The host name could not be resolved." },
  connect_refused: { outcome: "retry", meaning: "The host refused the connection." },
  connect_failed: { outcome: "retry", meaning: "No connection could be made." },
  tls_failed: { outcome: "retry", meaning: "The TLS handshake failed, or the certificate is not trusted." },
  timed_out: { outcome: "unknown", meaning: "The request was sent and no whole answer came in time." },
  connection_lost: { outcome: "unknown", meaning: "The connection broke after the request may have been sent." },
  bad_answer: { outcome: "unknown", meaning: "The answer was not HTTP that can be understood." },
} as const satisfies Record<string, RailCode>;

export type ExchangeCode = keyof typeof exchangeCodes;

/** Statuses that mean the same from every receiver. A rate limit has its own code at some providers. */
export const statusCodes = {
  http_408: { outcome: "retry", meaning: "The receiver did not get the whole request in time." },
  http_425: { outcome: "retry", meaning: "The receiver thinks it too early." },
  http_5xx: { outcome: "unknown", meaning: "The receiver failed, perhaps after it had taken the message." },
} as const satisfies Record<string, RailCode>;

export type StatusCode = keyof typeof statusCodes;

/** Undefined for a status that each rail judges itself. */
export function codeOfAnyStatus(status: number): StatusCode | undefined {
  if (status === 408) return "http_408";
  if (status === 425) return "http_425";
  return status >= 500 && status <= 599 ? "http_5xx" : undefined;
}

/** Whether the pause that an answer asks for applies to the whole destination. */
export function asksForQuiet(status: number, afterMs: number | undefined): boolean {
  return status === 429 || (status === 503 && afterMs !== undefined);
}

/** The outcome of a code. A refusal is final, so a pause request that comes with it is ignored. */
export function outcomeOfCode(
  kind: RailCode["outcome"],
  code: string,
  reason: string,
  { afterMs, throttled }: PauseRequest = {},
): Exclude<RailOutcome, { kind: "delivered" }> {
  if (kind === "rejected") return { kind, code, reason };
  return {
    kind,
    code,
    reason,
    ...(afterMs === undefined ? {} : { afterMs }),
    ...(throttled === true ? { throttled } : {}),
  };
}

/** The platform's error codes for a failure to connect. Any other is `connect_failed`. */
const codesByConnectError: ReadonlyMap<string, ExchangeCode> = new Map([
  ["ECONNREFUSED", "connect_refused"],
  ["ENOTFOUND", "dns_failed"],
  ["ENODATA", "dns_failed"],
  ["ESERVFAIL", "dns_failed"],
  ["EAI_AGAIN", "dns_failed"],
  ["EAI_FAIL", "dns_failed"],
  ["EAI_NODATA", "dns_failed"],
  ["EAI_NONAME", "dns_failed"],
]);

export function codeOfConnectError(errorCode: string | undefined): ExchangeCode {
  return (errorCode === undefined ? undefined : codesByConnectError.get(errorCode)) ?? "connect_failed";
}

/** The HTTP parser's error codes share this prefix; everything else after sending is a broken connection. */
export function codeOfAnswerError(errorCode: string | undefined): ExchangeCode {
  return errorCode?.startsWith("HPE_") === true ? "bad_answer" : "connection_lost";
}
