/**
 * Incoming webhooks, which people create for themselves: anyone who knows the address posts to the conversation that it was created for.
 * Here the second part of the path names that conversation, or the person whose conversation with the app it is.
 */
import { z } from "zod";
import { contentOf } from "./api-chat.ts";
import { SlackError } from "./arguments.ts";
import { app, type SlackState } from "./state.ts";

const messageSchema = z.object({ text: z.string().optional(), blocks: z.unknown().optional() });

export function receiveWebhook(state: SlackState, place: string, body: string): Response {
  const channel = state.findChannel(place);
  if (channel === undefined) return said("no_service", 404);
  const parsed = parse(body);
  if (parsed === undefined) return said("invalid_payload", 400);
  try {
    state.post(channel, { user: app.userId, ...contentOf(state, parsed), threadTs: undefined, metadata: undefined });
    return said("ok", 200);
  } catch (error) {
    if (error instanceof SlackError) return said(error.error, 400);
    throw error;
  }
}

function parse(body: string): z.infer<typeof messageSchema> | undefined {
  try {
    return messageSchema.safeParse(JSON.parse(body)).data;
  } catch {
    return undefined;
  }
}

function said(word: string, status: number): Response {
  return new Response(word, { status });
}
