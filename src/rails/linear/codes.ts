/**
 * The Linear rail's codes: what Linear's own error codes and types mean, in one table.
 *
 * Linear answers errors with HTTP 200, and a rate limit with HTTP 400. So the body's code decides, and the
 * status only if there is none.
 *
 * Owns: which outcome a code or a status is. Does not own: making the call, or wording the reason.
 */
import { codeOfAnyStatus, exchangeCodes, statusCodes } from "../exchange-codes.ts";
import type { RailCode } from "../exchange-codes.ts";

export const linearCodes = {
  ...exchangeCodes,
  ...statusCodes,
  ratelimited: { outcome: "retry", meaning: "Linear asks for quiet." },
  not_authenticated: { outcome: "retry", meaning: "Linear does not accept the key." },
  forbidden: { outcome: "retry", meaning: "The key may not do this." },
  usage_limit: { outcome: "retry", meaning: "The workspace has used up what its plan allows." },
  lock_timeout: { outcome: "retry", meaning: "Linear was busy with the same issue." },
  feature_not_accessible: { outcome: "rejected", meaning: "The workspace's plan does not have this feature." },
  invalid_input: { outcome: "rejected", meaning: "Linear refuses the input, or what it refers to is not there." },
  graphql_invalid: { outcome: "rejected", meaning: "Linear does not understand the request." },
  not_done: { outcome: "rejected", meaning: "Linear says, without a reason, that it was not done." },
  linear_error: { outcome: "rejected", meaning: "Linear refuses with a code that is not on our list." },
  states_unavailable: { outcome: "retry", meaning: "The team's workflow states could not be read." },
  state_changed: { outcome: "retry", meaning: "The input was refused; the team's workflow states are read again." },
  internal_error: { outcome: "unknown", meaning: "Linear failed, perhaps after it had done it." },
  http_other: { outcome: "retry", meaning: "A status that Linear does not use: a proxy, or the wrong address?" },
} as const satisfies Record<string, RailCode>;

export type LinearCodeName = keyof typeof linearCodes;

/** `extensions.code` of an error. */
const codesByCode: ReadonlyMap<string, LinearCodeName> = new Map([
  ["RATELIMITED", "ratelimited"],
  ["AUTHENTICATION_ERROR", "not_authenticated"],
  ["UNAUTHENTICATED", "not_authenticated"],
  ["FORBIDDEN", "forbidden"],
  ["INPUT_ERROR", "invalid_input"],
  ["INVALID_INPUT", "invalid_input"],
  ["BAD_USER_INPUT", "invalid_input"],
  ["USER_ERROR", "invalid_input"],
  ["ENTITY_NOT_FOUND", "invalid_input"],
  ["FEATURE_NOT_ACCESSIBLE", "feature_not_accessible"],
  ["USAGE_LIMIT_EXCEEDED", "usage_limit"],
  ["LOCK_TIMEOUT", "lock_timeout"],
  ["GRAPHQL_PARSE_FAILED", "graphql_invalid"],
  ["GRAPHQL_VALIDATION_FAILED", "graphql_invalid"],
  ["INTERNAL_SERVER_ERROR", "internal_error"],
  ["INTERNAL_ERROR", "internal_error"],
]);

/** `extensions.type` of an error, used if it has no code. */
const codesByType: ReadonlyMap<string, LinearCodeName> = new Map([
  ["ratelimited", "ratelimited"],
  ["authentication error", "not_authenticated"],
  ["forbidden", "forbidden"],
  ["invalid input", "invalid_input"],
  ["user error", "invalid_input"],
  ["feature not accessible", "feature_not_accessible"],
  ["usage limit exceeded", "usage_limit"],
  ["lock timeout", "lock_timeout"],
  ["graphql error", "graphql_invalid"],
  ["internal error", "internal_error"],
  ["network error", "internal_error"],
]);

export function codeOfError(code: string | undefined, type: string | undefined): LinearCodeName {
  const byCode = code === undefined ? undefined : codesByCode.get(code);
  return byCode ?? (type === undefined ? undefined : codesByType.get(type)) ?? "linear_error";
}

/** For an answer whose body has no code that we know. */
export function codeOfStatus(status: number): LinearCodeName {
  if (status === 429) return "ratelimited";
  if (status === 401) return "not_authenticated";
  if (status === 403) return "forbidden";
  return codeOfAnyStatus(status) ?? "http_other";
}
