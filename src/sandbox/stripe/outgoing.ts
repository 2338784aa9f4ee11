/**
 * Stripe's events: kept, and sent as webhooks that sign their time and their bytes.
 */
import { hmacSha256 } from "../../db/hash.ts";
import type { OutgoingWebhook } from "../core/webhook-sender.ts";
import type { World } from "../core/world.ts";
import { eventShape } from "./shapes.ts";
import type { StripeState } from "./state.ts";
import type { StripeEvent } from "./things.ts";

const timeoutMs = 10_000;

export function signature(secret: string, timestamp: number, body: string): string {
  return `t=${timestamp},v1=${hmacSha256(secret, `${timestamp}.${body}`)}`;
}

export function happen(world: World, state: StripeState, type: string, object: Record<string, unknown>): StripeEvent {
  const event: StripeEvent = {
    id: state.id("evt_"),
    livemode: isLive(state, object),
    type,
    created: state.now(),
    object,
  };
  state.record(event);
  state.delivery.send(event, webhookOf(world, event));
  world.changed();
  return event;
}

/** A refund does not carry it; its payment does. */
function isLive(state: StripeState, object: Record<string, unknown>): boolean {
  if (typeof object["livemode"] === "boolean") return object["livemode"];
  return state.payments.get(String(object["payment_intent"]))?.livemode === true;
}

/** Sends it again, whatever is planned for other events. */
export function tellAgain(world: World, state: StripeState, event: StripeEvent): void {
  state.delivery.sendNow(webhookOf(world, event));
}

function webhookOf(world: World, event: StripeEvent): OutgoingWebhook {
  const body = JSON.stringify(eventShape(event), null, 2);
  return {
    provider: "stripe",
    title: event.type,
    path: "/webhooks/stripe",
    body,
    // Signed for each attempt, however late it is.
    headers: () => ({
      "content-type": "application/json; charset=utf-8",
      "user-agent": "Stripe/1.0 (+https://stripe.com/docs/webhooks)",
      "stripe-signature": signature(world.secrets.stripeWebhookSecret, Math.floor(world.now() / 1000), body),
    }),
    timeoutMs,
  };
}
