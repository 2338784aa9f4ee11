/** Stripe's own books, read like any client with the account's key: over HTTP, page by page. */
import { Stripe } from "stripe";
import type { LifeStage } from "./stage.ts";

export interface StripeBooks {
  readonly sessions: readonly Stripe.Checkout.Session[];
  readonly intents: readonly Stripe.PaymentIntent[];
  readonly refunds: readonly Stripe.Refund[];
  readonly disputes: readonly Stripe.Dispute[];
  readonly subscriptions: readonly Stripe.Subscription[];
  readonly invoices: readonly Stripe.Invoice[];
}

const limit = 100;

async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const read: T[] = [];
  for await (const each of list) read.push(each);
  return read;
}

export async function readBooks({ sandbox }: LifeStage, secretKey: string): Promise<StripeBooks> {
  const { hostname, port } = new URL(sandbox.url);
  const stripe = new Stripe(secretKey, { host: hostname, port, protocol: "http", maxNetworkRetries: 0 });
  return {
    sessions: await all(stripe.checkout.sessions.list({ limit, expand: ["data.invoice.payments"] })),
    intents: await all(stripe.paymentIntents.list({ limit })),
    refunds: await all(stripe.refunds.list({ limit })),
    disputes: await all(stripe.disputes.list({ limit })),
    subscriptions: await all(stripe.subscriptions.list({ limit, status: "all" })),
    invoices: await all(stripe.invoices.list({ limit, expand: ["data.payments"] })),
  };
}
