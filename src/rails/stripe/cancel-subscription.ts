/**
 * Ending a subscription immediately. Stripe reports an already cancelled one as missing; the rail then reads it, to report its true state.
 */
import type { LookupOutcome, RailOutcome } from "../../contract/rail.ts";
import type { StripeAnswer, StripeCall } from "./call.ts";
import type { CancelSubscription } from "./message.ts";
import { deliveredAs, foundAs, outcomeOf, unavailable, unreadable } from "./outcomes.ts";
import { compactOf, type Compact } from "./shapes.ts";

export async function cancelSubscription(
  call: StripeCall,
  { subscription_id: id }: CancelSubscription,
  signal: AbortSignal,
): Promise<RailOutcome> {
  const answer = await call((stripe) => stripe.subscriptions.cancel(id), signal);
  if (answer.kind === "data") return deliveredAs(compactOf("subscription", answer.data));
  if (answer.code !== "http_404") return outcomeOf(answer);
  const seen = await retrieve(call, id, signal);
  if (seen.kind === "data") return deliveredAs(compactOf("subscription", seen.data), "not_active");
  return seen.code === "http_404" ? deliveredAs(missing(id), "missing") : outcomeOf(seen);
}

export async function findCancelled(
  call: StripeCall,
  { subscription_id: id }: CancelSubscription,
  signal: AbortSignal,
): Promise<LookupOutcome> {
  const seen = await retrieve(call, id, signal);
  if (seen.kind === "failure") return seen.code === "http_404" ? foundAs(missing(id)) : unavailable(seen);
  const subscription = compactOf("subscription", seen.data);
  if (subscription === undefined) return unavailable(unreadable);
  return hasEnded(subscription) ? foundAs(subscription) : { kind: "absent" };
}

function retrieve(call: StripeCall, id: string, signal: AbortSignal): Promise<StripeAnswer> {
  return call((stripe) => stripe.subscriptions.retrieve(id), signal);
}

function hasEnded({ status }: Compact): boolean {
  return status === "canceled" || status === "incomplete_expired";
}

/** A subscription that does not exist charges nobody. */
function missing(id: string): Compact {
  return { object: "subscription", id, status: "canceled", metadata: {} };
}
