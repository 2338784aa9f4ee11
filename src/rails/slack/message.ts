/**
 * The payloads of rows for Slack: which methods they may call, and how a message is recognised among others.
 *
 * Owns: the form of payloads. Does not own: Block Kit; Slack itself checks the blocks.
 */
import { z } from "zod";
import type { RailMessage } from "../../contract/rail.ts";

const channel = z.string().regex(/^[A-Z0-9]{2,32}$/, "the id of a channel or a person, such as C024BE91L");
const timestamp = z.string().regex(/^\d{1,16}\.\d{1,10}$/, "a message's timestamp, as text");
/** With its own token, a payload could post as somebody else. */
const token = z.undefined("the rail has the token").optional();

const metadata = z.object({
  event_type: z.string().min(1),
  event_payload: z.record(z.string(), z.unknown()).refine((payload) => Object.keys(payload).length > 0, "is empty"),
});

export type Metadata = z.infer<typeof metadata>;

const postMessage = z.looseObject({
  method: z.literal("chat.postMessage"),
  channel,
  text: z.string().min(1),
  thread_ts: timestamp.optional(),
  metadata: metadata.optional(),
  token,
});

const update = z.looseObject({
  method: z.literal("chat.update"),
  channel,
  ts: timestamp,
  text: z.string().min(1),
  metadata: metadata.optional(),
  token,
});

export const messageSchema = z.discriminatedUnion("method", [postMessage, update]);

export type PostMessage = z.infer<typeof postMessage>;

const view = z.looseObject({ type: z.string() });

export const interactionSchema = z.discriminatedUnion("method", [
  z.looseObject({ method: z.literal("views.open"), trigger_id: z.string().min(1), view, token }),
  z.looseObject({ method: z.literal("views.push"), trigger_id: z.string().min(1), view, token }),
  z.looseObject({ method: z.literal("views.update"), view, token }),
  z.looseObject({
    method: z.literal("chat.postEphemeral"),
    channel,
    user: z.string().min(1),
    text: z.string().min(1),
    token,
  }),
]);

/**
 * How the message is recognised among others. The workflow's payloads have their own mark (request, instruction, effect); a
 * payload without one gets the row's id, so that every message can be found.
 */
export function markOf(payload: PostMessage, message: RailMessage): Metadata {
  return payload.metadata ?? { event_type: "headroom_outbox", event_payload: { outbox_id: message.outboxId } };
}

/** Whether a message of the channel carries the mark: all of its fields, and possibly others. */
export function bears(found: Metadata | undefined, mark: Metadata): boolean {
  if (found?.event_type !== mark.event_type) return false;
  return Object.entries(mark.event_payload).every(
    ([name, value]) => JSON.stringify(found.event_payload[name]) === JSON.stringify(value),
  );
}

export { metadata as metadataSchema };
