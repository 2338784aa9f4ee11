/**
 * Stripe's events: kept, and sent as webhooks that sign their time and their bytes.
 */
import { hmacSha256 } from "../../db/hash.ts";
import type { World } from "../core/world.ts";
import { eventShape } from "./shapes.ts";
import type { StripeEvent, StripeState } from "./state.ts";

const timeoutMs = 10_000;
/** Stripe tries for days; these are the first of its tries. */
const repeatsMs = [60_000, 300_000, 3_600_000] as const;

export function signature(secret: string, timestamp: number, body: string): string {
  return `t=${timestamp},v1=${hmacSha256(secret, `${timestamp}.${body}`)}`;
}

export function happen(world: World, state: StripeState, type: string, object: Record<string, unknown>): StripeEvent {
  const event: StripeEvent = { id: state.id("evt_"), type, created: state.now(), object };
  state.record(event);
  tell(world, event);
  return event;
}

export function tell(world: World, event: StripeEvent): void {
  const body = JSON.stringify(eventShape(event), null, 2);
  world.webhooks.dispatch({
    provider: "stripe",
    title: event.type,
    path: "/webhooks/stripe",
    body,
    headers: () => ({
      "content-type": "application/json; charset=utf-8",
      "user-agent": "Stripe/1.0 (+https://stripe.com/docs/webhooks)",
      "stripe-signature": signature(world.secrets.stripeWebhookSecret, Math.floor(world.now() / 1000), body),
    }),
    timeoutMs,
    retryAfterMs: repeatsMs,
  });
}
