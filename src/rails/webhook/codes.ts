/**
 * The webhook rail's codes: the whole error taxonomy in one table, by explicit status and explicit error code.
 *
 * Owns: which outcome a status or a failure is. Does not own: making the call, or wording the reason.
 */

export interface WebhookCode {
  readonly outcome: "retry" | "rejected" | "unknown";
  readonly meaning: string;
}

export const webhookCodes = {
  unknown_endpoint: { outcome: "rejected", meaning: "There is no endpoint for this message." },
  endpoint_invalid: { outcome: "rejected", meaning: "The endpoint's settings cannot be used." },
  endpoint_unavailable: { outcome: "retry", meaning: "The endpoint's settings could not be read." },
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
  http_3xx: { outcome: "rejected", meaning: "A redirect; redirects are not followed." },
  http_408: { outcome: "retry", meaning: "The receiver gave up waiting for the request." },
  http_410: { outcome: "rejected", meaning: "The endpoint is gone for good." },
  http_425: { outcome: "retry", meaning: "The receiver thinks it too early." },
  http_429: { outcome: "retry", meaning: "The receiver asks for quiet." },
  http_4xx: { outcome: "rejected", meaning: "The receiver refuses the message." },
  http_503: { outcome: "retry", meaning: "The receiver is not available for now." },
  http_5xx: { outcome: "retry", meaning: "The receiver failed." },
} as const satisfies Record<string, WebhookCode>;

export type WebhookCodeName = keyof typeof webhookCodes;

/** Statuses with a code of their own; the others share the code of their class. */
const codesByStatus: ReadonlyMap<number, WebhookCodeName> = new Map([
  [408, "http_408"],
  [410, "http_410"],
  [425, "http_425"],
  [429, "http_429"],
  [503, "http_503"],
]);

/** Null for a delivered status (2xx). A status outside 200 to 599 is no answer that HTTP knows. */
export function codeOfStatus(status: number): WebhookCodeName | null {
  if (status >= 200 && status <= 299) return null;
  const own = codesByStatus.get(status);
  if (own !== undefined) return own;
  if (status >= 300 && status <= 399) return "http_3xx";
  if (status >= 400 && status <= 499) return "http_4xx";
  if (status >= 500 && status <= 599) return "http_5xx";
  return "bad_answer";
}

/** What the platform calls a failure to connect. Whatever is not listed is `connect_failed`. */
const codesByConnectError: ReadonlyMap<string, WebhookCodeName> = new Map([
  ["ECONNREFUSED", "connect_refused"],
  ["ENOTFOUND", "dns_failed"],
  ["ENODATA", "dns_failed"],
  ["ESERVFAIL", "dns_failed"],
  ["EAI_AGAIN", "dns_failed"],
  ["EAI_FAIL", "dns_failed"],
  ["EAI_NODATA", "dns_failed"],
  ["EAI_NONAME", "dns_failed"],
]);

export function codeOfConnectError(errorCode: string | undefined): WebhookCodeName {
  return (errorCode === undefined ? undefined : codesByConnectError.get(errorCode)) ?? "connect_failed";
}

/** The HTTP parser's error codes share this prefix; everything else after sending is a broken connection. */
export function codeOfAnswerError(errorCode: string | undefined): WebhookCodeName {
  return errorCode?.startsWith("HPE_") === true ? "bad_answer" : "connection_lost";
}
