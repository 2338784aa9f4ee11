/**
 * What is kept of a Postal webhook: its id, its kind, and the few fields that account for it. Names, addresses and tokens are left out; ask
 * the provider for more by these ids.
 */
import { z } from "zod";
import { HeadroomError } from "../db/errors.ts";
import type { Json } from "../db/generated.gen.ts";
import { excessOf } from "../db/values/json-excess.ts";
import type { Received } from "./verify.ts";

export interface Kept {
  readonly deliveryId: string;
  readonly kind: string;
  readonly payload: Json;
}

const id = z.string().min(1).max(200);
/** Missing fields are kept as null. */
const orNull = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().transform((value) => value ?? null);
const short = orNull(z.string().max(200));
const number = orNull(z.number());

const postalMessage = orNull(z.object({ id: number, message_id: short, tag: short.catch(null), timestamp: number }));
const postalEvent = z.object({
  uuid: id,
  event: z.string().min(1).max(100),
  timestamp: number,
  payload: orNull(
    z
      .object({
        status: short,
        message: postalMessage,
        original_message: postalMessage,
        output: z.unknown().optional(),
        details: z.unknown().optional(),
      })
      .transform(({ output, details, ...kept }) => ({
        ...kept,
        reply: replyOf(output),
        suppressed: typeof details === "string" && details.includes("suppression list"),
      })),
  ),
});

/** The numbers at the beginning of the other server's reply, such as `550 5.1.1`: its words may quote the mail or its address. */
function replyOf(output: unknown): string | null {
  return typeof output === "string" ? (/^\d{3}(?:[ -]\d\.\d{1,3}\.\d{1,3})?/.exec(output)?.[0] ?? null) : null;
}

/** Postal nests four levels. */
const deepestLevel = 64;

/** Throws invalid_input for anything that the provider would not send. */
export function keptOf(received: Received): Kept {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(received.body);
    const excess = excessOf(text, deepestLevel);
    if (excess !== undefined) throw new RangeError(excess);
    const event = postalEvent.parse(JSON.parse(text));
    return { deliveryId: event.uuid, kind: event.event, payload: event };
  } catch (cause) {
    throw new HeadroomError("invalid_input", "The signature is valid, but the body is not in a known format.", {
      hint: "Nothing was stored.",
      cause,
    });
  }
}
