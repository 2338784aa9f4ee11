/** Subscriptions in tests: bought by the month, with the invoices that the stand-in for Stripe has. */
import { oneOf } from "../capacity/harness.ts";
import type { Money } from "./harness.ts";
import { textOf, type Thing } from "./stand-in.ts";

/** Seconds, as Stripe's timestamps are. */
export const now = (): number => Math.floor(Date.now() / 1000);
export const inDays = (days: number): number => now() + days * 86_400;

export interface Subscribing {
  readonly monthly: { readonly size: "MONTHLY"; readonly quantity: number; readonly durationDays: number };
  readonly bought: () => Promise<{ id: string; session: Thing; stripeId: string }>;
  /** An invoice that was paid for a later month. */
  readonly invoiceOf: (subscription: string, changes?: Partial<Thing>) => Thing;
  readonly subscriptionOf: (id: string) => Promise<Record<string, unknown>>;
  /** The first invoice of a subscription, as Stripe has it. */
  readonly firstInvoice: (session: Thing) => Thing;
}

export function subscribingWith(m: Money): Subscribing {
  const monthly = { size: "MONTHLY", quantity: 2, durationDays: 90 } as const;
  const bought = async (): Promise<{ id: string; session: Thing; stripeId: string }> => {
    const { id, session } = await m.bought(monthly);
    return { id, session, stripeId: textOf(session["subscription"]) };
  };
  const invoiceOf = (subscription: string, changes: Partial<Thing> = {}): Thing =>
    m.stripe.put({
      object: "invoice",
      id: m.stripe.nextId("in"),
      status: "paid",
      amount_paid: 20_000,
      currency: "usd",
      billing_reason: "subscription_cycle",
      subscription,
      payment_intent: m.stripe.nextId("pi"),
      period_end: inDays(60),
      metadata: {},
      ...changes,
    });
  const subscriptionOf = (id: string): Promise<Record<string, unknown>> =>
    oneOf(m.superuser, "select * from billing.subscriptions where request_id = $1", [id]);
  const firstInvoice = (session: Thing): Thing =>
    invoiceOf(textOf(session["subscription"]), {
      id: textOf(session["invoice"]),
      billing_reason: "subscription_create",
      period_end: inDays(30),
    });
  return { monthly, bought, invoiceOf, firstInvoice, subscriptionOf };
}
