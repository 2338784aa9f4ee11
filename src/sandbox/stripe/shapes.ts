/**
 * How the stand-in's things look in Stripe's answers and events.
 */
import type { World } from "../core/world.ts";
import type { Customer, Refund, Session, StripeEvent, StripeState } from "./state.ts";

type Shape = Record<string, unknown>;

export const apiVersion = "2026-10-28.endive";

export function sessionShape(
  world: World,
  state: StripeState,
  session: Session,
  expand: readonly string[] = [],
): Shape {
  const complete = session.status === "complete";
  const intent = complete && session.mode === "payment" ? session.paymentIntent : null;
  return {
    id: session.id,
    object: "checkout.session",
    amount_subtotal: session.amount,
    amount_total: session.amount,
    cancel_url: session.cancelUrl ?? null,
    client_reference_id: session.clientReferenceId ?? null,
    created: session.created,
    currency: session.currency,
    customer: session.customer ?? null,
    customer_details: complete
      ? { email: session.customerEmail ?? world.sampleData.customer.email, name: world.sampleData.customer.name }
      : null,
    customer_email: session.customerEmail ?? null,
    expires_at: session.expiresAt,
    livemode: false,
    metadata: session.metadata,
    mode: session.mode,
    payment_intent: intent !== null && expand.includes("payment_intent") ? intentShape(state, session) : intent,
    payment_method_types: ["card", "us_bank_account"],
    payment_status: session.paymentStatus,
    status: session.status,
    subscription: complete ? (session.subscription ?? null) : null,
    success_url: session.successUrl,
    ui_mode: "hosted",
    url: session.status === "open" ? `${world.url()}/stripe/checkout/${session.id}` : null,
  };
}

export function intentShape(state: StripeState, session: Session): Shape {
  const status =
    session.paymentStatus === "paid"
      ? "succeeded"
      : session.later === "processing"
        ? "processing"
        : "requires_payment_method";
  return {
    id: session.paymentIntent,
    object: "payment_intent",
    amount: session.amount,
    amount_received: session.paymentStatus === "paid" ? session.amount : 0,
    created: session.created,
    currency: session.currency,
    customer: session.customer ?? null,
    latest_charge: session.paymentStatus === "paid" ? chargeId(session.paymentIntent) : null,
    livemode: false,
    metadata: session.metadata,
    status,
    amount_refunded: state.refundedOf(session.paymentIntent),
  };
}

export function chargeId(paymentIntent: string): string {
  return paymentIntent.replace(/^pi_/, "ch_");
}

export function refundShape(refund: Refund): Shape {
  return {
    id: refund.id,
    object: "refund",
    amount: refund.amount,
    charge: chargeId(refund.paymentIntent),
    created: refund.created,
    currency: refund.currency,
    metadata: refund.metadata,
    payment_intent: refund.paymentIntent,
    reason: refund.reason ?? null,
    status: "succeeded",
  };
}

export function customerShape(customer: Customer): Shape {
  return {
    ...customer,
    object: "customer",
    email: customer.email ?? null,
    name: customer.name ?? null,
    livemode: false,
  };
}

export function subscriptionShape(state: StripeState, session: Session): Shape {
  return {
    id: session.subscription,
    object: "subscription",
    created: session.created,
    currency: session.currency,
    customer: session.customer ?? null,
    livemode: false,
    metadata: session.metadata,
    status: state.cancelledSubscriptions.has(session.subscription ?? "") ? "canceled" : "active",
  };
}

export function eventShape(event: StripeEvent): Shape {
  return {
    id: event.id,
    object: "event",
    api_version: apiVersion,
    created: event.created,
    data: { object: event.object },
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type: event.type,
  };
}

export function listShape(url: string, items: readonly Shape[], hasMore: boolean): Shape {
  return { object: "list", data: items, has_more: hasMore, url };
}
