/**
 * Asks Slack whether a message arrived. Slack has no idempotency keys, but keeps the metadata of a message; so the channel's
 * (or thread's) messages since the row was made are read until one carries the row's mark.
 *
 * Owns: the search and its bounds. Does not own: what becomes of the row.
 */
import { z } from "zod";
import type { LookupOutcome, RailMessage } from "../../contract/rail.ts";
import type { SlackCall, SlackFailure } from "./call.ts";
import { bears, markOf, metadataSchema } from "./message.ts";
import type { Metadata, PostMessage } from "./message.ts";

/** Slack's clock and the database's differ by seconds; minutes cost little here. */
const clockMarginSeconds = 300;
const pageSize = 200;
const maxPages = 20;

const pageSchema = z.object({
  messages: z.array(
    z.object({
      ts: z.string(),
      // Other apps' metadata may have any form.
      metadata: metadataSchema.optional().catch(undefined),
    }),
  ),
  response_metadata: z.object({ next_cursor: z.string().optional() }).optional(),
});

const openedSchema = z.object({ channel: z.object({ id: z.string() }) });

export type Search = LookupOutcome | SlackFailure;

export async function findMessage(
  call: SlackCall,
  payload: PostMessage,
  message: RailMessage,
  signal: AbortSignal,
): Promise<Search> {
  const conversation = await conversationOf(call, payload.channel, signal);
  if (typeof conversation !== "string") return conversation;
  const mark = markOf(payload, message);
  const inThread = payload.thread_ts !== undefined;
  const where = {
    channel: conversation,
    oldest: String(Math.floor(message.createdAt.getTime() / 1000) - clockMarginSeconds),
    inclusive: true,
    include_all_metadata: true,
    limit: pageSize,
    ...(inThread ? { ts: payload.thread_ts } : {}),
  };
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const method = inThread ? "conversations.replies" : "conversations.history";
    const answer = await call(method, cursor === undefined ? where : { ...where, cursor }, signal);
    // A deleted thread has no replies left.
    if (answer.kind === "failure") return answer.code === "thread_not_found" ? { kind: "absent" } : answer;
    const read = pageSchema.safeParse(answer.result);
    if (!read.success) return { kind: "failure", code: "bad_answer" };
    const ts = tsOf(read.data.messages, mark);
    if (ts !== undefined) {
      return { kind: "found", reference: `${conversation}/${ts}`, response: { ok: true, channel: conversation, ts } };
    }
    cursor = read.data.response_metadata?.next_cursor;
    if (cursor === undefined || cursor === "") return { kind: "absent" };
  }
  // A list that was not read to the end proves nothing.
  return { kind: "failure", code: "too_many_to_search" };
}

function tsOf(
  messages: readonly { readonly ts: string; readonly metadata?: Metadata | undefined }[],
  mark: Metadata,
): string | undefined {
  return messages.find((each) => bears(each.metadata, mark))?.ts;
}

/** A message may be posted to a person, but only a conversation can be read; opening it again changes nothing. */
async function conversationOf(call: SlackCall, channel: string, signal: AbortSignal): Promise<string | SlackFailure> {
  if (!/^[UW]/.test(channel)) return channel;
  const answer = await call("conversations.open", { users: channel }, signal);
  if (answer.kind === "failure") return answer;
  const opened = openedSchema.safeParse(answer.result);
  return opened.success ? opened.data.channel.id : { kind: "failure", code: "bad_answer" };
}
