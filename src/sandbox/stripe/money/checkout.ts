/**
 * What happens to a Checkout session: paid immediately, paid later, failed, or left to expire.
 */
import type { World } from "../../core/world.ts";
import { happen } from "../outgoing.ts";
import { sessionShape } from "../shapes.ts";
import type { StripeState } from "../state.ts";
import type { Payment, Session } from "../things.ts";
import type { HowPaid } from "./cards.ts";
import { openDispute } from "./disputes.ts";
import { beginSubscription, invoiceFailed, invoicePaid } from "./subscriptions.ts";

/** The session is complete; whether it is paid depends on how. */
export function complete(world: World, state: StripeState, session: Session, how: HowPaid): void {
  const isLater = how === "bank_debit";
  session.status = "complete";
  session.paymentStatus = isLater ? "unpaid" : "paid";
  session.later = isLater ? "processing" : undefined;
  session.customer ??= customerFor(world, state, session);
  const payment = state.put<Payment>(state.payments, {
    id: session.paymentIntent,
    livemode: session.livemode,
    amount: session.amount,
    currency: session.currency,
    customer: session.customer,
    metadata: session.mode === "payment" ? session.passedOn : {},
    created: state.now(),
    invoice: session.invoice,
    how,
    status: isLater ? "processing" : "succeeded",
  });
  const invoice = beginSubscription(state, session);
  if (invoice !== undefined && !isLater) invoicePaid(world, state, invoice);
  tellOf(world, state, session, "checkout.session.completed");
  if (how === "disputed") openDispute(world, state, payment, { reason: "fraudulent" });
  if (how === "inquiry") openDispute(world, state, payment, { isInquiry: true });
}

/** The bank's decision about a payment that took days. */
export function settle(world: World, state: StripeState, session: Session, how: "succeeded" | "failed"): void {
  session.later = how;
  if (how === "succeeded") session.paymentStatus = "paid";
  const payment = state.payments.get(session.paymentIntent);
  if (payment !== undefined) payment.status = how;
  const invoice = state.invoices.get(session.invoice ?? "");
  if (invoice !== undefined && how === "succeeded") invoicePaid(world, state, invoice);
  if (invoice !== undefined && how === "failed") invoiceFailed(world, state, invoice);
  tellOf(world, state, session, `checkout.session.async_payment_${how}`);
}

export function expire(world: World, state: StripeState, session: Session): void {
  session.status = "expired";
  tellOf(world, state, session, "checkout.session.expired");
}

function customerFor(world: World, state: StripeState, session: Session): string | undefined {
  if (!session.createsCustomer) return undefined;
  const { email, name } = world.sampleData.customer;
  const { livemode } = session;
  const customer = { id: state.id("cus_"), livemode, email: session.customerEmail ?? email, name, metadata: {} };
  return state.put(state.customers, { ...customer, created: state.now() }).id;
}

function tellOf(world: World, state: StripeState, session: Session, type: string): void {
  world.changed();
  happen(world, state, type, sessionShape(world, session));
}
