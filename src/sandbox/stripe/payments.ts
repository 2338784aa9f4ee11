/**
 * What becomes of a Checkout session: paid at once, paid later, failed, or left to expire. Each tells its event.
 */
import type { World } from "../core/world.ts";
import { happen } from "./outgoing.ts";
import { sessionShape } from "./shapes.ts";
import type { Session, StripeState } from "./state.ts";

export function complete(world: World, state: StripeState, session: Session, when: "now" | "later"): void {
  session.status = "complete";
  session.paymentStatus = when === "now" ? "paid" : "unpaid";
  session.later = when === "later" ? "processing" : undefined;
  tellOf(world, state, session, "checkout.session.completed");
}

export function settle(world: World, state: StripeState, session: Session, how: "succeeded" | "failed"): void {
  session.later = how;
  if (how === "succeeded") session.paymentStatus = "paid";
  tellOf(world, state, session, `checkout.session.async_payment_${how}`);
}

export function expire(world: World, state: StripeState, session: Session): void {
  session.status = "expired";
  tellOf(world, state, session, "checkout.session.expired");
}

function tellOf(world: World, state: StripeState, session: Session, type: string): void {
  world.changed();
  happen(world, state, type, sessionShape(world, state, session));
}
