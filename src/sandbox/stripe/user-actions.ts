/**
 * What customers, banks, people in the dashboard and time do at Stripe. The pages and the tests use this.
 */
import { HeadroomError } from "../../db/errors.ts";
import type { World } from "../core/world.ts";
import type { DeliveryInput, DeliveryPlan, HeldEvent, ReleaseOrder } from "./delivery.ts";
import { cardOf, declineOf, goodCard, type HowPaid } from "./money/cards.ts";
import { complete, expire, settle } from "./money/checkout.ts";
import { holdsMoney, isOpen } from "./money/dispute-status.ts";
import { advance, closeDispute, openDispute, type DisputeTerms } from "./money/disputes.ts";
import { refund, settleRefund, type RefundWord } from "./money/refunds.ts";
import {
  cancelAtPeriodEnd,
  end,
  giveUpInvoice,
  leaveUnpaid,
  payAgain,
  renew,
  voidInvoice,
} from "./money/subscriptions.ts";
import { tellAgain } from "./outgoing.ts";
import { StripeRefusal } from "./refusal.ts";
import type { StripeState } from "./state.ts";
import type { Dispute, Invoice, Payment, Refund, Session, StripeEvent, Subscription } from "./things.ts";

export type Paying =
  | { readonly kind: "complete"; readonly sendTo: string }
  | { readonly kind: "declined"; readonly code: string; readonly message: string };

/** The account's balance in a currency, in minor units. */
export interface Books {
  readonly currency: string;
  readonly taken: number;
  readonly refunded: number;
  /** The amount that banks hold because of open or lost disputes. */
  readonly disputed: number;
}

export class StripeUserActions {
  readonly #world: World;
  readonly #state: StripeState;

  constructor(world: World, state: StripeState) {
    this.#world = world;
    this.#state = state;
  }

  /** Oldest first; likewise below. */
  sessions(): readonly Session[] {
    return [...this.#state.sessions.values()];
  }

  payments(): readonly Payment[] {
    return [...this.#state.payments.values()];
  }

  refunds(paymentIntent?: string): readonly Refund[] {
    return paymentIntent === undefined ? [...this.#state.refunds.values()] : this.#state.refundsOf(paymentIntent);
  }

  disputes(paymentIntent?: string): readonly Dispute[] {
    return paymentIntent === undefined ? [...this.#state.disputes.values()] : this.#state.disputesOf(paymentIntent);
  }

  subscriptions(): readonly Subscription[] {
    return [...this.#state.subscriptions.values()];
  }

  invoices(): readonly Invoice[] {
    return [...this.#state.invoices.values()];
  }

  events(): readonly StripeEvent[] {
    return [...this.#state.events];
  }

  session(id: string): Session {
    return known("session", this.#state.sessions.get(id), id);
  }

  subscription(id: string): Subscription | undefined {
    return this.#state.subscriptions.get(id);
  }

  /** By its own id or its session's. */
  payment(id: string): Payment {
    const own = this.#state.sessions.get(id)?.paymentIntent ?? id;
    return known("payment", this.#state.payments.get(own), id);
  }

  /** Its own, and those of its subscription's invoices. */
  paymentsOf({ paymentIntent, subscription }: Session): readonly Payment[] {
    const invoices =
      subscription === undefined ? [] : this.invoices().filter((each) => each.subscription === subscription);
    const ids = new Set([paymentIntent, ...invoices.map((invoice) => invoice.paymentIntent)]);
    return [...ids].flatMap((id) => this.#state.payments.get(id) ?? []);
  }

  /** By currency, of all that succeeded. */
  books(): readonly Books[] {
    const books = new Map<string, Books>();
    for (const { id, amount, currency, status } of this.#state.payments.values()) {
      if (status !== "succeeded") continue;
      const before = books.get(currency) ?? { currency, taken: 0, refunded: 0, disputed: 0 };
      const held = this.#state.disputesOf(id).filter(holdsMoney);
      books.set(currency, {
        currency,
        taken: before.taken + amount,
        refunded: this.#state
          .refundsOf(id)
          .reduce((sum, made) => sum + (made.status === "succeeded" ? made.amount : 0), before.refunded),
        disputed: held.reduce((sum, dispute) => sum + dispute.amount, before.disputed),
      });
    }
    return [...books.values()];
  }

  /** Pays at once, with a card that succeeds. Returns where the customer is sent. */
  pay(id: string, card = goodCard): string {
    const paid = this.tryToPay(id, card);
    if (paid.kind === "declined") throw refused("conflict", paid.message, 402);
    return paid.sendTo;
  }

  /** Pays with one of Stripe's test cards; a declined card leaves the session open. */
  tryToPay(id: string, number: string): Paying {
    const session = this.#open(id);
    const declined = declineOf(number);
    if (declined !== undefined) return { kind: "declined", ...declined };
    return { kind: "complete", sendTo: this.#complete(session, cardOf(number)?.behaviour ?? "succeeds") };
  }

  /** Pays in a way that takes days: the session is complete and unpaid. */
  payLater(id: string): string {
    return this.#complete(this.#open(id), "bank_debit");
  }

  /** Sets the outcome of a payment that took days. */
  settle(id: string, how: "succeeded" | "failed"): void {
    const session = this.session(id);
    if (session.later !== "processing") throw refused("conflict", "No payment of this session is in progress.", 409);
    settle(this.#world, this.#state, session, how);
  }

  expire(id: string): void {
    expire(this.#world, this.#state, this.#open(id));
  }

  /** Refunds in the dashboard, without our metadata, by the session or the payment. Default: all that is left. */
  refundOutside(id: string, amount?: number): Refund {
    try {
      return refund(this.#world, this.#state, this.payment(id), { amount, reason: "requested_by_customer" });
    } catch (error) {
      if (error instanceof StripeRefusal) throw refused("conflict", error.message, 409);
      throw error;
    }
  }

  /** Reduces the price of an open session, like a coupon of the account. */
  discount(id: string, amount: number): void {
    this.#open(id).amount = amount;
    this.#world.changed();
  }

  /** Sets the outcome of a refund: the bank's decision, which may come after it had succeeded, or a cancellation while it is pending. */
  settleRefund(id: string, how: RefundWord): void {
    const made = known("refund", this.#state.refunds.get(id), id);
    const isOver = made.status === "failed" || made.status === "canceled";
    const isTooLate = made.status === "succeeded" && how !== "failed";
    if (made.status === how || isOver || isTooLate)
      throw refused("conflict", `The refund ${refundWords[made.status]}.`, 409);
    settleRefund(this.#world, this.#state, made, how);
  }

  /** The customer disputes a payment with the bank, or the bank inquires. By the session or the payment. */
  dispute(id: string, terms: DisputeTerms = {}): Dispute {
    const payment = this.payment(id);
    if (payment.status !== "succeeded") throw refused("conflict", "This payment has not succeeded.", 409);
    if (this.#state.disputesOf(payment.id).some(isOpen)) throw refused("conflict", "It is disputed already.", 409);
    return openDispute(this.#world, this.#state, payment, terms);
  }

  /** Submits evidence, or turns an inquiry into a dispute. */
  advanceDispute(id: string): void {
    advance(this.#world, this.#state, this.#openDispute(id));
  }

  closeDispute(id: string, how: "won" | "lost"): void {
    closeDispute(this.#world, this.#state, this.#openDispute(id), how);
  }

  /** A month passes. Undefined when the subscription ended with it. */
  renew(subscriptionId: string, how: "succeeded" | "failed"): Invoice | undefined {
    return renew(this.#world, this.#state, this.#live(subscriptionId), how);
  }

  /** Retries the failed payment of an invoice. */
  payAgain(invoiceId: string, how: "succeeded" | "failed"): void {
    payAgain(this.#world, this.#state, this.#unpaid(invoiceId), how);
  }

  /** Voids an unpaid invoice. */
  voidInvoice(invoiceId: string): void {
    voidInvoice(this.#world, this.#state, this.#unpaid(invoiceId));
  }

  /** Marks an invoice as uncollectible. */
  giveUpInvoice(invoiceId: string): void {
    const invoice = this.#unpaid(invoiceId);
    if (invoice.status === "uncollectible") throw refused("conflict", "This invoice is uncollectible.", 409);
    giveUpInvoice(this.#world, this.#state, invoice);
  }

  /** Cancels the subscription at the end of its month, or undoes that. */
  cancelAtPeriodEnd(subscriptionId: string, isTo = true): void {
    cancelAtPeriodEnd(this.#world, this.#state, this.#live(subscriptionId), isTo);
  }

  /** Cancels it in the dashboard. */
  cancelOutside(subscriptionId: string): void {
    end(this.#world, this.#state, this.#live(subscriptionId));
  }

  /** Stripe stops retrying an invoice. */
  leaveUnpaid(subscriptionId: string): void {
    leaveUnpaid(this.#world, this.#state, this.#live(subscriptionId));
  }

  /** A day passes for the idempotency keys: Stripe forgets them and their answers. */
  forgetKeys(): void {
    this.#state.remembered.clear();
  }

  /** From now on lists omit objects made within this many seconds. 0: they omit nothing. */
  lagLists(seconds: number): void {
    this.#state.listLagSeconds = seconds;
  }

  /** Sends an event again, as Stripe occasionally does on its own. */
  resend(eventId: string): void {
    const event = this.#state.events.find(({ id }) => id === eventId);
    tellAgain(this.#world, this.#state, known("event", event, eventId));
  }

  /** Sets how events are sent from now on; fields left out get their defaults. */
  deliver(plan: DeliveryInput): DeliveryPlan {
    return this.#state.delivery.set(plan);
  }

  delivery(): { readonly plan: DeliveryPlan; readonly held: number; readonly lost: number } {
    return { plan: this.#state.delivery.plan, ...this.#state.delivery.counts };
  }

  /** Sends the events that were held back, in order; resolves when all were sent. */
  release(order: ReleaseOrder = "as_made"): Promise<number> {
    return this.#state.delivery.release(order);
  }

  /** Takes over the events that are held back, in the order they were made; the caller sends them. */
  takeHeld(): readonly HeldEvent[] {
    return this.#state.delivery.take();
  }

  /** Resolves when each event that is not held back was sent once. */
  delivered(): Promise<void> {
    return this.#state.delivery.done();
  }

  #complete(session: Session, how: HowPaid): string {
    complete(this.#world, this.#state, session, how);
    return session.successUrl.replaceAll("{CHECKOUT_SESSION_ID}", session.id);
  }

  #open(id: string): Session {
    const session = this.session(id);
    if (session.status === "open" && this.#world.now() / 1000 > session.expiresAt) {
      expire(this.#world, this.#state, session);
    }
    if (session.status !== "open") throw refused("conflict", `This session is ${session.status}.`, 409);
    return session;
  }

  #openDispute(id: string): Dispute {
    const dispute = known("dispute", this.#state.disputes.get(id), id);
    if (!isOpen(dispute)) throw refused("conflict", `This dispute is ${dispute.status}.`, 409);
    return dispute;
  }

  #unpaid(id: string): Invoice {
    const invoice = known("invoice", this.#state.invoices.get(id), id);
    if (invoice.status === "open" || invoice.status === "uncollectible") return invoice;
    throw refused("conflict", `This invoice is ${invoice.status}.`, 409);
  }

  #live(id: string): Subscription {
    const subscription = known("subscription", this.#state.subscriptions.get(id), id);
    if (subscription.status === "canceled") throw refused("conflict", "This subscription is cancelled.", 409);
    return subscription;
  }
}

const refundWords: Readonly<Record<Refund["status"], string>> = {
  pending: "is on its way",
  requires_action: "waits for the customer",
  succeeded: "has succeeded",
  failed: "has failed",
  canceled: "was cancelled",
};

function known<T>(what: string, thing: T | undefined, id: string): T {
  if (thing === undefined) throw refused("not_found", `There is no ${what} ${id.slice(0, 100)}.`, 404);
  return thing;
}

function refused(code: string, message: string, httpStatus: number): HeadroomError {
  return new HeadroomError(code, message, { hint: "Nothing was changed.", httpStatus });
}
