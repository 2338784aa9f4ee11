/** Ending an open Checkout session. One that is no longer open has ended already, in whatever way. */
import type { LookupOutcome, RailMessage, RailOutcome } from "../../contract/rail.ts";
import type { StripeAnswer, StripeCall } from "./call.ts";
import { keyOf, type ExpireCheckout } from "./message.ts";
import { deliveredAs, foundAs, outcomeOf, unavailable, unreadable } from "./outcomes.ts";
import { compactOf } from "./shapes.ts";

/** A second try does no harm, so each has its own key: Stripe must not answer with the remembered result of an earlier one. */
export async function expireCheckout(
  call: StripeCall,
  { session_id: id }: ExpireCheckout,
  message: RailMessage,
  signal: AbortSignal,
): Promise<RailOutcome> {
  const options = { idempotencyKey: `${keyOf(message)}:${message.tryNo}`.slice(-255) };
  const answer = await call((stripe) => stripe.checkout.sessions.expire(id, {}, options), signal);
  if (answer.kind === "data") return deliveredAs(compactOf("session", answer.data));
  if (answer.code !== "http_400") return outcomeOf(answer);
  const seen = await retrieve(call, id, signal);
  if (seen.kind === "failure") return outcomeOf(seen);
  const session = compactOf("session", seen.data);
  if (session?.["status"] !== "open") return deliveredAs(session, "not_open");
  return outcomeOf({ ...answer, code: "still_open" });
}

export async function findExpired(
  call: StripeCall,
  { session_id: id }: ExpireCheckout,
  signal: AbortSignal,
): Promise<LookupOutcome> {
  const seen = await retrieve(call, id, signal);
  if (seen.kind === "failure") return unavailable(seen);
  const session = compactOf("session", seen.data);
  if (session === undefined) return unavailable(unreadable);
  return session["status"] === "open" ? { kind: "absent" } : foundAs(session);
}

function retrieve(call: StripeCall, id: string, signal: AbortSignal): Promise<StripeAnswer> {
  return call((stripe) => stripe.checkout.sessions.retrieve(id), signal);
}
