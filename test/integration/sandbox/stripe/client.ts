/** Stripe's own SDK, pointed at a sandbox, and sessions for tests. */
import { Stripe } from "stripe";
import type { Sandbox } from "../../../../src/sandbox/sandbox.ts";

export function client(sandbox: Pick<Sandbox, "url">, key = "sk_test_sandbox"): Stripe {
  const { hostname, port } = new URL(sandbox.url);
  return new Stripe(key, { host: hostname, port, protocol: "http", maxNetworkRetries: 0 });
}

export const order = {
  mode: "payment",
  line_items: [
    { quantity: 4, price_data: { currency: "usd", unit_amount: 1_200_00, product_data: { name: "32XL, us-east-1" } } },
  ],
  success_url: "https://headroom.example/paid?session={CHECKOUT_SESSION_ID}",
  cancel_url: "https://headroom.example/back",
  client_reference_id: "CR-2026-000001",
  metadata: { cr_id: "CR-2026-000001" },
} satisfies Stripe.Checkout.SessionCreateParams;

export const monthly = {
  ...order,
  mode: "subscription",
  subscription_data: { metadata: order.metadata },
  line_items: order.line_items.map((line) => ({
    ...line,
    price_data: { ...line.price_data, recurring: { interval: "month" } },
  })),
} satisfies Stripe.Checkout.SessionCreateParams;

/** What a session costs in a currency. */
export function priced(currency: string, amount: number): Stripe.Checkout.SessionCreateParams {
  const price = { currency, unit_amount: amount, product_data: { name: "32XL" } };
  return { ...order, line_items: [{ quantity: 1, price_data: price }] };
}
