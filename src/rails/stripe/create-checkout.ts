/**
 * Making a Checkout session: one line, our marks on everything that will come of it.
 *
 * An answer that was lost is made good twice over: the session is looked for by its mark, and a try again under the same idempotency key
 * is answered with the first one's session. Where Stripe repeats a failure instead, that key will bring nothing for a day: the session is
 * looked for, and when there is none the row is given up, so that whoever wants to pay begins another checkout.
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

/** Stripe may not list a session at once: two searches, this far apart, must miss it before it counts as never made. */
const lookAgainAfterMs = 5_000;
/** The first try whose search decides: such a pause came before it. */
const decisiveTry = 3;

/** The call under the key has ended, so it makes no session any more; only the list says whether it has made one. */
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
 * Who pays is told for convenience, and must keep nobody from paying: where Stripe does not take the customer, because they were deleted
 * there or have a subscription in another currency, they pay as a new one; where it does not take the address, they type one. Stripe has no
 * code for either, so whatever it refuses without one is tried. Other parameters need another key.
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

/** Without a language: Stripe goes by the customer's browser. */
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
    // What was offered is what is paid: Stripe must not turn it into a currency of the customer's.
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
    // A subscription makes one by itself.
    ...(mode === "payment" ? { customer_creation: "always" } : {}),
  };
}

/** Stripe's clock and the database's differ by seconds; a session that is overlooked would be made a second time. */
const clockMarginSeconds = 600;
/** Within this time Stripe knows the key of every try, and answers its first result again. */
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

/** The session of a checkout of ours, whether or not anybody was told of it. */
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
