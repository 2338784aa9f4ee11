/**
 * What a failed HTTP exchange is called, for every rail that speaks HTTP.
 *
 * Owns: the names and which outcome each leads to. Does not own: what an answer means; that differs by receiver.
 */

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

/** What the platform calls a failure to connect. Whatever is not listed is `connect_failed`. */
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
