/**
 * The webhook rail's codes: the whole error taxonomy in one table, by explicit status and explicit error code.
 *
 * Owns: which outcome a status or a failure is. Does not own: making the call, or wording the reason.
 */

import { exchangeCodes } from "../exchange-codes.ts";
import type { RailCode } from "../exchange-codes.ts";

export const webhookCodes = {
  ...exchangeCodes,
  unknown_endpoint: { outcome: "rejected", meaning: "There is no endpoint for this message." },
  endpoint_disabled: { outcome: "rejected", meaning: "The endpoint is disabled." },
  endpoint_invalid: { outcome: "rejected", meaning: "The endpoint's settings cannot be used." },
  endpoint_unavailable: { outcome: "retry", meaning: "The endpoint's settings could not be read." },
  http_3xx: { outcome: "rejected", meaning: "A redirect; redirects are not followed." },
  http_408: { outcome: "retry", meaning: "The receiver gave up waiting for the request." },
  http_410: { outcome: "rejected", meaning: "The endpoint is gone for good." },
  http_425: { outcome: "retry", meaning: "The receiver thinks it too early." },
  http_429: { outcome: "retry", meaning: "The receiver asks for quiet." },
  http_4xx: { outcome: "rejected", meaning: "The receiver refuses the message." },
  http_503: { outcome: "retry", meaning: "The receiver is not available for now." },
  http_5xx: { outcome: "retry", meaning: "The receiver failed." },
} as const satisfies Record<string, RailCode>;

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
