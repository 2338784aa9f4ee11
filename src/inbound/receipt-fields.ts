/**
 * What is kept of a webhook of Postal's: its id, its kind, and the few fields that account for it. Names, addresses and tokens are left out; whoever
 * needs more asks the provider by these ids.
 */
import { z } from "zod";
import { HeadroomError } from "../db/errors.ts";
import type { Json } from "../db/generated.gen.ts";
import type { Received } from "./verify.ts";

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

const postalMessage = orNull(z.object({ id: number, message_id: short, timestamp: number }));
const postalEvent = z.object({
  uuid: id,
  event: z.string().min(1).max(100),
  timestamp: number,
  payload: orNull(z.object({ status: short, message: postalMessage, original_message: postalMessage })),
});

/** Throws invalid_input for what the provider would not send. */
export function keptOf(received: Received): Kept {
  try {
    const sent: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(received.body));
    const event = postalEvent.parse(sent);
    return { deliveryId: event.uuid, kind: event.event, payload: event };
  } catch (cause) {
    throw new HeadroomError("invalid_input", "The signature is valid, but the body is not in a known format.", {
      hint: "Nothing was stored.",
      cause,
    });
  }
}
