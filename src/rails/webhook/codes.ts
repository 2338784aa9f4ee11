/**
 * The webhook rail's codes: the whole error taxonomy in one table, by explicit status and explicit error code.
 *
 * Owns: which outcome a status or a failure is. Does not own: making the call, or wording the reason.
 */

import { codeOfAnyStatus, exchangeCodes, statusCodes } from "../exchange-codes.ts";
import type { RailCode } from "../exchange-codes.ts";

export const webhookCodes = {
  ...exchangeCodes,
  ...statusCodes,
  unknown_endpoint: { outcome: "rejected", meaning: "There is no endpoint for this message." },
  endpoint_disabled: { outcome: "rejected", meaning: "The endpoint is disabled." },
  endpoint_invalid: { outcome: "rejected", meaning: "The endpoint's settings cannot be used." },
  endpoint_unavailable: { outcome: "retry", meaning: "The endpoint's settings could not be read." },
  http_3xx: { outcome: "rejected", meaning: "A redirect; redirects are not followed." },
  http_410: { outcome: "rejected", meaning: "The endpoint is gone for good." },
  http_429: { outcome: "retry", meaning: "The receiver asks for quiet." },
  http_4xx: { outcome: "rejected", meaning: "The receiver refuses the message." },
} as const satisfies Record<string, RailCode>;

export type WebhookCodeName = keyof typeof webhookCodes;

/** Statuses with a code of their own; the others share the code of their class. */
const codesByStatus: ReadonlyMap<number, WebhookCodeName> = new Map([
  [410, "http_410"],
  [429, "http_429"],
]);

/** Null for a delivered status (2xx). A status outside 200 to 599 is not valid HTTP. */
export function codeOfStatus(status: number): WebhookCodeName | null {
  if (status >= 200 && status <= 299) return null;
  const known = codesByStatus.get(status) ?? codeOfAnyStatus(status);
  if (known !== undefined) return known;
  if (status >= 300 && status <= 399) return "http_3xx";
  return status >= 400 && status <= 499 ? "http_4xx" : "bad_answer";
}
