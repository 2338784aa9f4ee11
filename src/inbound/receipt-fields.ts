/**
 * What is kept of a webhook: its id, its kind, and the few fields that account for it. Names, addresses and tokens are left out; whoever
 * needs more asks the provider by these ids.
 */
import { z } from "zod";
import { HeadroomError } from "../db/errors.ts";
import type { Json } from "../db/generated.gen.ts";
import type { Provider, Received } from "./verify.ts";

export interface Kept {
  readonly deliveryId: string;
  readonly kind: string;
  readonly payload: Json;
}

const id = z.string().min(1).max(200);
/** What is missing is kept as null. */
const orNull = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().transform((value) => value ?? null);
const short = orNull(z.string().max(200));
const number = orNull(z.number());

const stripeEvent = z.object({
  id,
  type: z.string().min(1).max(100),
  created: number,
  livemode: orNull(z.boolean()),
  api_version: short,
  data: z.object({
    object: z.object({
      id: short,
      object: short,
      status: short,
      payment_status: short,
      mode: short,
      client_reference_id: short,
      payment_intent: short.catch(null),
      subscription: short.catch(null),
      customer: short.catch(null),
      amount_total: number,
      currency: short,
      metadata: z.record(z.string().max(40), z.string().max(500)).nullable().catch(null),
    }),
  }),
});

const postalMessage = orNull(z.object({ id: number, message_id: short, timestamp: number }));
const postalEvent = z.object({
  uuid: id,
  event: z.string().min(1).max(100),
  timestamp: number,
  payload: orNull(z.object({ status: short, message: postalMessage, original_message: postalMessage })),
});

const readers: Readonly<Record<Provider, (sent: unknown) => Kept>> = {
  stripe(sent) {
    const event = stripeEvent.parse(sent);
    return { deliveryId: event.id, kind: event.type, payload: event };
  },
  postal(sent) {
    const event = postalEvent.parse(sent);
    return { deliveryId: event.uuid, kind: event.event, payload: event };
  },
};

/** Throws invalid_input for what the provider would not send. */
export function keptOf(provider: Provider, received: Received): Kept {
  try {
    const sent: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(received.body));
    return readers[provider](sent);
  } catch (cause) {
    throw new HeadroomError("invalid_input", "The signature is valid, but the body is not in a known format.", {
      hint: "Nothing was stored.",
      cause,
    });
  }
}
