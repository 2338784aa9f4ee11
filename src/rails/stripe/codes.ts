/**
 * The Stripe rail's codes, by status and by Stripe's own error codes, in one table.
 *
 * A failure under an idempotency key may be the echo of an earlier one: Stripe repeats a key's first result, even a failure on its
 * side, and cannot say whether anything was done. Such an answer proves nothing, and the rail looks for the effect before the next try.
 *
 * Owns: which outcome an answer is. Does not own: making the call, or wording the reason.
 */
import { codeOfAnyStatus, exchangeCodes, statusCodes } from "../exchange-codes.ts";
import type { RailCode } from "../exchange-codes.ts";

export const stripeCodes = {
  ...exchangeCodes,
  ...statusCodes,
  http_3xx: { outcome: "rejected", meaning: "The address of the API answers with a redirect: it is not Stripe's." },
  http_400: { outcome: "rejected", meaning: "Stripe refuses the request." },
  http_401: { outcome: "retry", meaning: "Stripe does not accept the key." },
  http_402: { outcome: "rejected", meaning: "Stripe says that the request failed." },
  http_403: { outcome: "retry", meaning: "The key may not do this: a restricted key needs more permissions." },
  http_404: { outcome: "rejected", meaning: "Stripe has no such object in this account and mode." },
  http_409: { outcome: "retry", meaning: "Another request is changing the same object." },
  http_424: { outcome: "retry", meaning: "A party that Stripe depends on failed." },
  http_4xx: { outcome: "rejected", meaning: "Stripe refuses the request." },
  ratelimited: { outcome: "retry", meaning: "Stripe asks for quiet." },
  lock_timeout: { outcome: "retry", meaning: "The object was busy for too long." },
  key_in_use: { outcome: "unknown", meaning: "An earlier try under the same idempotency key is still in progress." },
  key_reused: { outcome: "rejected", meaning: "The idempotency key was used for another request." },
  replayed_failure: {
    outcome: "unknown",
    meaning:
      "Stripe failed at the first try, and repeats that answer until it forgets the idempotency key, after a day.",
  },
  never_made: {
    outcome: "rejected",
    meaning: "Stripe failed at it, says so again under the key, and has no such session: another checkout may begin.",
  },
  nothing_left: { outcome: "rejected", meaning: "Not enough is left of the payment: it was refunded already." },
  disputed: { outcome: "rejected", meaning: "The payment is disputed, and cannot be refunded." },
  not_refundable: { outcome: "rejected", meaning: "Stripe cannot refund this payment." },
  not_paid: { outcome: "rejected", meaning: "The payment did not succeed, so that nothing can be refunded." },
  balance_insufficient: { outcome: "retry", meaning: "Stripe's balance does not cover it yet." },
  amount_refused: { outcome: "rejected", meaning: "Stripe does not take this amount in this currency." },
  expiry_refused: { outcome: "rejected", meaning: "The session would end sooner or later than Stripe allows." },
  still_open: { outcome: "retry", meaning: "Stripe refuses to end the session, and says that it is open." },
  may_not_list: {
    outcome: "rejected",
    meaning: "The key may not list these: a restricted key needs more permissions.",
  },
  too_many_to_search: { outcome: "retry", meaning: "Stripe has more objects since then than a search can read." },
} as const satisfies Record<string, RailCode>;

export type StripeCodeName = keyof typeof stripeCodes;

/** An error's body. Every field may be missing. */
export interface StripeErrorFacts {
  readonly type?: string | undefined;
  readonly code?: string | undefined;
  readonly param?: string | undefined;
}

const codesByStatus: ReadonlyMap<number, StripeCodeName> = new Map([
  [400, "http_400"],
  [401, "http_401"],
  [402, "http_402"],
  [403, "http_403"],
  [404, "http_404"],
  [409, "http_409"],
  [424, "http_424"],
  [429, "ratelimited"],
]);

/** Stripe's own codes, as in its documentation (https://docs.stripe.com/error-codes). */
const codesByName: ReadonlyMap<string, StripeCodeName> = new Map([
  ["idempotency_key_in_use", "key_in_use"],
  ["lock_timeout", "lock_timeout"],
  ["rate_limit", "ratelimited"],
  ["resource_missing", "http_404"],
  ["charge_already_refunded", "nothing_left"],
  ["charge_disputed", "disputed"],
  ["refund_disputed_payment", "disputed"],
  ["charge_not_refundable", "not_refundable"],
  ["payment_intent_unexpected_state", "not_paid"],
  ["balance_insufficient", "balance_insufficient"],
  ["amount_too_large", "amount_refused"],
  ["amount_too_small", "amount_refused"],
  ["invalid_charge_amount", "amount_refused"],
  ["api_key_expired", "http_401"],
  ["platform_api_key_expired", "http_401"],
]);

/** For a status other than 2xx, without its body. */
export function codeOfStatus(status: number): StripeCodeName {
  const known = codesByStatus.get(status) ?? codeOfAnyStatus(status);
  if (known !== undefined) return known;
  return status >= 300 && status <= 399 ? "http_3xx" : "http_4xx";
}

/** For a status other than 2xx, with its body. A failure on Stripe's side is one whatever the body says. */
export function codeOfError(status: number, replayed: boolean, facts: StripeErrorFacts): StripeCodeName {
  if (status >= 500) return replayed ? "replayed_failure" : codeOfStatus(status);
  const named = facts.code === undefined ? undefined : codesByName.get(facts.code);
  if (named !== undefined) return named;
  if (status === 400 && facts.type === "idempotency_error") return "key_reused";
  if (status === 400 && facts.param === "expires_at") return "expiry_refused";
  return codeOfStatus(status);
}
