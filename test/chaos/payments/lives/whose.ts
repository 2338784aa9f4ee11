/** Finds the request of an object at Stripe, by the metadata on its session or its subscription. */
import type { Sandbox } from "../../../../src/sandbox/sandbox.ts";

export function requestOfEvent({ stripe }: Sandbox, object: Readonly<Record<string, unknown>>): string | undefined {
  const marked = (object["metadata"] as Record<string, string> | undefined)?.["headroom_request"];
  if (marked !== undefined) return marked;
  const parent = object["parent"] as { subscription_details?: { subscription?: string } } | undefined;
  const subscription = parent?.subscription_details?.subscription;
  if (subscription !== undefined) return stripe.subscription(subscription)?.metadata["headroom_request"];
  const intent = object["payment_intent"];
  return typeof intent === "string" ? requestOfIntent(stripe, intent) : undefined;
}

function requestOfIntent(stripe: Sandbox["stripe"], intent: string): string | undefined {
  const session = stripe.sessions().find(({ paymentIntent }) => paymentIntent === intent);
  if (session !== undefined) return session.metadata["headroom_request"];
  const invoice = stripe.payments().find(({ id }) => id === intent)?.invoice;
  const subscription = stripe.invoices().find(({ id }) => id === invoice)?.subscription;
  return subscription === undefined ? undefined : stripe.subscription(subscription)?.metadata["headroom_request"];
}
