/**
 * Subscriptions: started by a session, renewed by a monthly invoice, and ended by anyone who cancels them.
 */
import type { World } from "../../core/world.ts";
import { happen } from "../outgoing.ts";
import { invoiceShape, subscriptionShape } from "../shapes.ts";
import type { StripeState } from "../state.ts";
import type { Invoice, Payment, Session, Subscription } from "../things.ts";

/** Its first invoice; undefined if the session is for one payment. */
export function beginSubscription(state: StripeState, session: Session): Invoice | undefined {
  if (session.subscription === undefined || session.invoice === undefined) return undefined;
  const now = state.now();
  const subscription = state.put<Subscription>(state.subscriptions, {
    id: session.subscription,
    livemode: session.livemode,
    customer: session.customer,
    metadata: session.passedOn,
    currency: session.currency,
    lines: session.lines,
    created: now,
    status: "active",
    periodStart: now,
    periodEnd: aMonthAfter(now),
    cancelAtPeriodEnd: false,
    canceledAt: undefined,
    endedAt: undefined,
    latestInvoice: session.invoice,
  });
  return billFor(state, subscription, session.invoice, session.paymentIntent, "subscription_create");
}

/** A month has passed: the next one is billed, and the payment succeeds or fails. One that was set to end with the month ends. */
export function renew(
  world: World,
  state: StripeState,
  subscription: Subscription,
  how: "succeeded" | "failed",
): Invoice | undefined {
  if (subscription.cancelAtPeriodEnd) {
    end(world, state, subscription);
    return undefined;
  }
  subscription.periodStart = subscription.periodEnd;
  subscription.periodEnd = aMonthAfter(subscription.periodStart);
  const payment = charge(state, subscription, how);
  const id = payment.invoice ?? "";
  subscription.latestInvoice = id;
  const invoice = billFor(state, subscription, id, payment.id, "subscription_cycle");
  if (how === "succeeded") invoicePaid(world, state, invoice);
  else invoiceFailed(world, state, invoice);
  if (how === "succeeded") tell(world, state, subscription, "updated");
  return invoice;
}

/** Retries an invoice whose payment failed. */
export function payAgain(world: World, state: StripeState, invoice: Invoice, how: "succeeded" | "failed"): void {
  const subscription = state.subscriptions.get(invoice.subscription);
  if (subscription === undefined) return;
  invoice.paymentIntent = charge(state, subscription, how, invoice.id).id;
  if (how === "failed") {
    invoiceFailed(world, state, invoice);
    return;
  }
  invoicePaid(world, state, invoice);
  if (subscription.status === "canceled") return;
  subscription.status = "active";
  tell(world, state, subscription, "updated");
}

export function invoicePaid(world: World, state: StripeState, invoice: Invoice): void {
  invoice.status = "paid";
  invoice.paidAt = state.now();
  invoice.attempts += 1;
  happen(world, state, "invoice.payment_succeeded", invoiceShape(state, invoice));
  happen(world, state, "invoice.paid", invoiceShape(state, invoice));
}

export function invoiceFailed(world: World, state: StripeState, invoice: Invoice): void {
  invoice.attempts += 1;
  happen(world, state, "invoice.payment_failed", invoiceShape(state, invoice));
  const subscription = state.subscriptions.get(invoice.subscription);
  if (subscription === undefined || subscription.status !== "active") return;
  subscription.status = "past_due";
  tell(world, state, subscription, "updated");
}

/** Voids an invoice. */
export function voidInvoice(world: World, state: StripeState, invoice: Invoice): void {
  invoice.status = "void";
  invoice.voidedAt = state.now();
  happen(world, state, "invoice.voided", invoiceShape(state, invoice));
}

/** Marks an invoice as uncollectible. It can still be paid. */
export function giveUpInvoice(world: World, state: StripeState, invoice: Invoice): void {
  invoice.status = "uncollectible";
  invoice.uncollectibleAt = state.now();
  happen(world, state, "invoice.marked_uncollectible", invoiceShape(state, invoice));
}

export function cancelAtPeriodEnd(world: World, state: StripeState, subscription: Subscription, isTo: boolean): void {
  subscription.cancelAtPeriodEnd = isTo;
  subscription.canceledAt = isTo ? state.now() : undefined;
  tell(world, state, subscription, "updated");
}

/** Stripe stops retrying: what it does then is a setting of the account. */
export function leaveUnpaid(world: World, state: StripeState, subscription: Subscription): void {
  subscription.status = "unpaid";
  tell(world, state, subscription, "updated");
}

export function end(world: World, state: StripeState, subscription: Subscription): void {
  subscription.status = "canceled";
  subscription.canceledAt ??= state.now();
  subscription.endedAt = state.now();
  tell(world, state, subscription, "deleted");
}

function billFor(
  state: StripeState,
  subscription: Subscription,
  id: string,
  paymentIntent: string,
  billingReason: Invoice["billingReason"],
): Invoice {
  return state.put<Invoice>(state.invoices, {
    id,
    livemode: subscription.livemode,
    subscription: subscription.id,
    customer: subscription.customer,
    amount: monthlyOf(subscription),
    currency: subscription.currency,
    billingReason,
    created: state.now(),
    periodStart: subscription.periodStart,
    periodEnd: subscription.periodEnd,
    paymentIntent,
    attempts: 0,
    status: "open",
  });
}

function charge(
  state: StripeState,
  subscription: Subscription,
  how: "succeeded" | "failed",
  invoice = state.id("in_"),
): Payment {
  return state.put<Payment>(state.payments, {
    id: state.id("pi_"),
    livemode: subscription.livemode,
    amount: monthlyOf(subscription),
    currency: subscription.currency,
    customer: subscription.customer,
    // As at Stripe: a renewal's payment does not have the subscription's metadata.
    metadata: {},
    created: state.now(),
    invoice,
    how: "succeeds",
    status: how,
  });
}

function monthlyOf({ lines }: Subscription): number {
  return lines.reduce((sum, { quantity, unitAmount }) => sum + quantity * unitAmount, 0);
}

/** The same day of the next month, or its last day. */
function aMonthAfter(seconds: number): number {
  const from = new Date(seconds * 1000);
  const month = from.getUTCMonth() + 1;
  const lastDay = new Date(Date.UTC(from.getUTCFullYear(), month + 1, 0)).getUTCDate();
  const next = new Date(from);
  next.setUTCMonth(month, Math.min(from.getUTCDate(), lastDay));
  return Math.floor(next.getTime() / 1000);
}

function tell(world: World, state: StripeState, subscription: Subscription, what: string): void {
  happen(world, state, `customer.subscription.${what}`, subscriptionShape(subscription));
}
