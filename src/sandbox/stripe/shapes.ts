/**
 * The form of the stand-in's objects in Stripe's answers and events, in the API version that our rail uses.
 */
import type { World } from "../core/world.ts";
import { holdsMoney } from "./money/dispute-status.ts";
import type { StripeState } from "./state.ts";
import type {
  Customer,
  Dispute,
  Invoice,
  Line,
  Payment,
  Refund,
  Session,
  StripeEvent,
  Subscription,
} from "./things.ts";

export type Shape = Record<string, unknown>;

export const apiVersion = "2026-10-28.endive";

export function sessionShape(world: World, session: Session): Shape {
  const isComplete = session.status === "complete";
  const { email, name } = world.sampleData.customer;
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
    customer_creation: session.mode === "payment" ? (session.createsCustomer ? "always" : "if_required") : null,
    customer_details: isComplete ? { email: session.customerEmail ?? email, name } : null,
    customer_email: session.customerEmail ?? null,
    expires_at: session.expiresAt,
    invoice: isComplete ? (session.invoice ?? null) : null,
    livemode: session.livemode,
    metadata: session.metadata,
    mode: session.mode,
    payment_intent: isComplete && session.mode === "payment" ? session.paymentIntent : null,
    payment_method_types: ["card", "us_bank_account"],
    payment_status: session.paymentStatus,
    status: session.status,
    subscription: isComplete ? (session.subscription ?? null) : null,
    success_url: session.successUrl,
    ui_mode: "hosted",
    url: session.status === "open" ? `${world.url()}/stripe/checkout/${session.id}` : null,
  };
}

export function intentShape(payment: Payment): Shape {
  const hasSucceeded = payment.status === "succeeded";
  return {
    id: payment.id,
    object: "payment_intent",
    amount: payment.amount,
    amount_received: hasSucceeded ? payment.amount : 0,
    created: payment.created,
    currency: payment.currency,
    customer: payment.customer ?? null,
    latest_charge: payment.status === "failed" ? null : chargeId(payment.id),
    livemode: payment.livemode,
    metadata: payment.metadata,
    status: payment.status === "failed" ? "requires_payment_method" : payment.status,
  };
}

export function chargeId(paymentIntent: string): string {
  return paymentIntent.replace(/^pi_/, "ch_");
}

export function paymentOfCharge(charge: string): string {
  return charge.replace(/^ch_/, "pi_");
}

export function chargeShape(state: StripeState, payment: Payment): Shape {
  const refunded = state.refundedOf(payment.id);
  return {
    id: chargeId(payment.id),
    object: "charge",
    amount: payment.amount,
    amount_refunded: refunded,
    captured: payment.status === "succeeded",
    created: payment.created,
    currency: payment.currency,
    customer: payment.customer ?? null,
    disputed: state.disputesOf(payment.id).length > 0,
    livemode: payment.livemode,
    metadata: payment.metadata,
    paid: payment.status !== "failed",
    payment_intent: payment.id,
    refunded: refunded === payment.amount,
    status: payment.status === "processing" ? "pending" : payment.status,
  };
}

export function refundShape(refund: Refund): Shape {
  return {
    id: refund.id,
    object: "refund",
    amount: refund.amount,
    charge: chargeId(refund.paymentIntent),
    created: refund.created,
    currency: refund.currency,
    ...(refund.failureReason === undefined ? {} : { failure_reason: refund.failureReason }),
    metadata: refund.metadata,
    payment_intent: refund.paymentIntent,
    ...(refund.status === "pending" ? { pending_reason: "processing" } : {}),
    reason: refund.reason ?? null,
    status: refund.status,
  };
}

export function disputeShape(dispute: Dispute): Shape {
  return {
    id: dispute.id,
    object: "dispute",
    amount: dispute.amount,
    charge: chargeId(dispute.paymentIntent),
    created: dispute.created,
    currency: dispute.currency,
    is_charge_refundable: !holdsMoney(dispute),
    livemode: dispute.livemode,
    metadata: {},
    payment_intent: dispute.paymentIntent,
    reason: dispute.reason,
    status: dispute.status,
  };
}

export function customerShape(customer: Customer): Shape {
  return {
    ...customer,
    object: "customer",
    email: customer.email ?? null,
    name: customer.name ?? null,
  };
}

export function subscriptionShape(subscription: Subscription): Shape {
  const { periodStart, periodEnd, currency } = subscription;
  return {
    id: subscription.id,
    object: "subscription",
    cancel_at: subscription.cancelAtPeriodEnd ? periodEnd : null,
    cancel_at_period_end: subscription.cancelAtPeriodEnd,
    canceled_at: subscription.canceledAt ?? null,
    created: subscription.created,
    currency,
    customer: subscription.customer ?? null,
    ended_at: subscription.endedAt ?? null,
    items: {
      object: "list",
      data: subscription.lines.map((line, at) => ({
        id: `${subscription.id.replace(/^sub_/, "si_")}${at}`,
        object: "subscription_item",
        current_period_end: periodEnd,
        current_period_start: periodStart,
        price: priceShape(line, currency),
        quantity: line.quantity,
        subscription: subscription.id,
      })),
      has_more: false,
      url: `/v1/subscription_items?subscription=${subscription.id}`,
    },
    latest_invoice: subscription.latestInvoice,
    livemode: subscription.livemode,
    metadata: subscription.metadata,
    status: subscription.status,
  };
}

function priceShape(line: Line, currency: string): Shape {
  const recurring = { interval: "month", interval_count: 1, usage_type: "licensed" };
  return { object: "price", currency, recurring, type: "recurring", unit_amount: line.unitAmount };
}

/** Its payments are included only on request, so never in an event. */
export function invoiceShape(state: StripeState, invoice: Invoice): Shape {
  const subscription = state.subscriptions.get(invoice.subscription);
  const isFirst = invoice.billingReason === "subscription_create";
  return {
    id: invoice.id,
    object: "invoice",
    amount_due: invoice.amount,
    amount_paid: invoice.status === "paid" ? invoice.amount : 0,
    amount_remaining: invoice.status === "paid" ? 0 : invoice.amount,
    attempt_count: invoice.attempts,
    billing_reason: invoice.billingReason,
    collection_method: "charge_automatically",
    created: invoice.created,
    currency: invoice.currency,
    customer: invoice.customer ?? null,
    lines: {
      object: "list",
      data: linesOf(invoice, subscription),
      has_more: false,
      url: `/v1/invoices/${invoice.id}/lines`,
    },
    livemode: invoice.livemode,
    metadata: {},
    parent: {
      type: "subscription_details",
      subscription_details: { subscription: invoice.subscription, metadata: subscription?.metadata ?? {} },
      quote_details: null,
    },
    // As at Stripe: the previous period, not the one that is paid for; the lines have that.
    period_end: invoice.periodStart,
    period_start: isFirst ? invoice.periodStart : (subscription?.created ?? invoice.periodStart),
    status: invoice.status,
    status_transitions: {
      finalized_at: invoice.created,
      marked_uncollectible_at: invoice.uncollectibleAt ?? null,
      paid_at: invoice.paidAt ?? null,
      voided_at: invoice.voidedAt ?? null,
    },
    total: invoice.amount,
  };
}

function linesOf(invoice: Invoice, subscription: Subscription | undefined): Shape[] {
  return (subscription?.lines ?? []).map((line, at) => ({
    id: `${invoice.id.replace(/^in_/, "il_")}${at}`,
    object: "line_item",
    amount: line.quantity * line.unitAmount,
    currency: invoice.currency,
    description: line.name,
    period: { start: invoice.periodStart, end: invoice.periodEnd },
    quantity: line.quantity,
  }));
}

export function invoicePaymentShape(invoice: Invoice): Shape {
  const isPaid = invoice.status === "paid";
  return {
    id: invoice.id.replace(/^in_/, "inpay_"),
    object: "invoice_payment",
    amount_paid: isPaid ? invoice.amount : null,
    amount_requested: invoice.amount,
    created: invoice.created,
    currency: invoice.currency,
    invoice: invoice.id,
    is_default: true,
    livemode: invoice.livemode,
    payment: { type: "payment_intent", payment_intent: invoice.paymentIntent },
    status: isPaid ? "paid" : "open",
  };
}

export function eventShape(event: StripeEvent): Shape {
  return {
    id: event.id,
    object: "event",
    api_version: apiVersion,
    created: event.created,
    data: { object: event.object },
    livemode: event.livemode,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type: event.type,
  };
}

export function listShape(url: string, items: readonly Shape[], hasMore: boolean): Shape {
  return { object: "list", data: items, has_more: hasMore, url };
}
