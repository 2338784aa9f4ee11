/**
 * Making a Checkout session: one line item, and our marks on everything that Stripe makes from it.
 *
 * A lost answer is recovered in two ways: the rail looks for the session by its mark, and a second try under the same idempotency key
 * gets the session of the first. If Stripe repeats a failure instead, that key is useless for a day: the rail looks for the session, and if
 * there is none gives the row up, so that the customer can begin another checkout.
 */
import type { Stripe } from "stripe";
import type { LookupOutcome, RailMessage, RailOutcome } from "../../contract/rail.ts";
import type { StripeAnswer, StripeCall } from "./call.ts";
import { keyOf, type CreateCheckout } from "./message.ts";
import { deliveredAs, foundAs, outcomeOf, unavailable } from "./outcomes.ts";
import { findMarked, type Found } from "./search.ts";
import { compactOf } from "./shapes.ts";

export async function createCheckout(
  call: StripeCall,
  wanted: CreateCheckout,
  message: RailMessage,
  signal: AbortSignal,
): Promise<RailOutcome> {
  const answer = await createOnce(call, wanted, keyOf(message), signal);
  if (answer.kind === "data") return deliveredAs(compactOf("session", answer.data));
  return answer.code === "replayed_failure" ? afterReplay(call, wanted, message, signal) : outcomeOf(answer);
}

/** Stripe may not list a session immediately: it is treated as never made once two searches, this far apart, miss it. */
const lookAgainAfterMs = 5_000;
/** The first try whose search decides, because such a pause came before it. */
const decisiveTry = 3;

/** The call under the key has ended, so it can no longer make a session; only the list says whether it made one. */
async function afterReplay(
  call: StripeCall,
  wanted: CreateCheckout,
  message: RailMessage,
  signal: AbortSignal,
): Promise<RailOutcome> {
  const found = await findSession(call, markedSince(wanted.checkout_id, message), signal);
  if (found.kind === "found") return deliveredAs(found.object, "found");
  if (found.kind === "failure") return outcomeOf({ ...found, code: "replayed_failure", afterMs: lookAgainAfterMs });
  if (found.whole && message.tryNo >= decisiveTry) return outcomeOf({ kind: "failure", code: "never_made" });
  return outcomeOf({ kind: "failure", code: "replayed_failure", afterMs: lookAgainAfterMs });
}

/**
 * The customer is prefilled for convenience, which must not keep anybody from paying. If Stripe refuses the customer, who was deleted there
 * or has a subscription in another currency, they pay as a new customer; if it refuses the e-mail address, they type one. Stripe has no code
 * for either, so any refusal without a code is tried again without them. Other parameters need another key.
 */
async function createOnce(
  call: StripeCall,
  wanted: CreateCheckout,
  idempotencyKey: string,
  signal: AbortSignal,
): Promise<StripeAnswer> {
  const ask = (terms: CreateCheckout, key: string) =>
    call((stripe) => stripe.checkout.sessions.create(sessionOf(terms), { idempotencyKey: key }), signal);
  let answer = await ask(wanted, idempotencyKey);
  if (isPayerRefused(answer) && typeof wanted.customer === "string") {
    answer = await ask({ ...wanted, customer: null }, `${idempotencyKey}:new-customer`.slice(-255));
  }
  if (isPayerRefused(answer) && typeof wanted.customer_email === "string") {
    const unnamed = { ...wanted, customer: null, customer_email: null };
    answer = await ask(unnamed, `${idempotencyKey}:no-address`.slice(-255));
  }
  return answer;
}

function isPayerRefused(answer: StripeAnswer): boolean {
  if (answer.kind !== "failure") return false;
  return answer.code === "http_400" || (answer.code === "http_404" && answer.facts?.param === "customer");
}

/** Without a language: Stripe uses that of the customer's browser. */
function sessionOf(wanted: CreateCheckout): Stripe.Checkout.SessionCreateParams {
  const metadata = {
    headroom_installation: wanted.installation_id,
    headroom_checkout: wanted.checkout_id,
    headroom_request: wanted.request_id,
    headroom_workspace: wanted.workspace_id,
  };
  const isSubscription = wanted.mode === "subscription";
  const price = {
    currency: wanted.currency.toLowerCase(),
    unit_amount: wanted.unit_amount,
    product_data: { name: wanted.description },
    ...(isSubscription ? { recurring: { interval: "month" as const } } : {}),
  };
  return {
    mode: wanted.mode,
    line_items: [{ quantity: wanted.quantity, price_data: price }],
    success_url: wanted.success_url,
    cancel_url: wanted.cancel_url,
    client_reference_id: wanted.checkout_id,
    expires_at: wanted.expires_at,
    // The customer pays the price that was offered: Stripe must not convert it into another currency.
    adaptive_pricing: { enabled: false },
    metadata,
    ...(isSubscription ? { subscription_data: { metadata } } : { payment_intent_data: { metadata } }),
    ...payerOf(wanted),
  };
}

function payerOf({ mode, customer, customer_email: email }: CreateCheckout): Stripe.Checkout.SessionCreateParams {
  if (typeof customer === "string") return { customer };
  return {
    ...(typeof email === "string" ? { customer_email: email } : {}),
    // A subscription makes one automatically.
    ...(mode === "payment" ? { customer_creation: "always" } : {}),
  };
}

/** Stripe's clock and the database's differ by seconds; a session that is missed would be made a second time. */
const clockMarginSeconds = 600;
/** Within this time Stripe knows the key of every try, and repeats the first result. */
const keyLifeMs = 23 * 60 * 60 * 1000;

export async function findCheckout(
  call: StripeCall,
  wanted: CreateCheckout,
  message: RailMessage,
  signal: AbortSignal,
): Promise<LookupOutcome> {
  const found = await findSession(call, markedSince(wanted.checkout_id, message), signal);
  if (found.kind === "failure") return unavailable(found);
  if (found.kind === "found") return foundAs(found.object);
  const isKeyKnown = Date.now() - message.createdAt.getTime() < keyLifeMs;
  return found.whole || isKeyKnown ? { kind: "absent" } : unavailable({ kind: "failure", code: "too_many_to_search" });
}

interface Marked {
  readonly checkoutId: string;
  /** Seconds since 1970. */
  readonly since: number;
}

function markedSince(checkoutId: string, { createdAt }: RailMessage): Marked {
  return { checkoutId, since: Math.floor(createdAt.getTime() / 1000) };
}

/** The session of one of our checkouts, whether or not its answer arrived. */
export function findSession(call: StripeCall, { checkoutId, since }: Marked, signal: AbortSignal): Promise<Found> {
  const created = { gte: Math.max(since - clockMarginSeconds, 0) };
  return findMarked(
    call,
    {
      kind: "session",
      name: "headroom_checkout",
      mark: checkoutId,
      page: (stripe, window) => stripe.checkout.sessions.list({ ...window, created }),
    },
    signal,
  );
}
