/**
 * The URL that comes with an interaction; the app may post answers to it up to five times within half an hour.
 */
import { z } from "zod";
import type { World } from "../core/world.ts";
import { contentOf } from "./api-chat.ts";
import { SlackError } from "./arguments.ts";
import { app, responseUrlUses, type ResponseUrl, type SlackState } from "./state.ts";

const answerSchema = z.object({
  text: z.string().optional(),
  blocks: z.unknown().optional(),
  response_type: z.enum(["in_channel", "ephemeral"]).optional(),
  replace_original: z.union([z.boolean(), z.stringbool()]).optional(),
  delete_original: z.union([z.boolean(), z.stringbool()]).optional(),
  thread_ts: z.string().optional(),
});
export type InteractionAnswer = z.infer<typeof answerSchema>;

export function respond(world: World, state: SlackState, id: string, body: string): Response {
  const target = state.responseUrls.get(id);
  if (target === undefined) return refusal("invalid_url");
  if (world.now() > target.expiresAt) return refusal("expired_url");
  if (target.uses >= responseUrlUses) return refusal("used_url");
  const parsed = parseAnswer(body);
  if (parsed === undefined) return new Response("invalid_payload", { status: 400 });
  try {
    say(state, target, parsed);
  } catch (error) {
    if (error instanceof SlackError) return refusal(error.error);
    throw error;
  }
  target.uses += 1;
  world.changed();
  return new Response("ok");
}

/** Undefined if Slack would not accept it. */
export function parseAnswer(body: string): InteractionAnswer | undefined {
  try {
    const parsed = answerSchema.safeParse(JSON.parse(body));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

export function say(
  state: SlackState,
  target: Pick<ResponseUrl, "user" | "channel" | "origin">,
  answer: InteractionAnswer,
): void {
  const channel = state.channels.get(target.channel);
  if (channel === undefined) throw new SlackError("channel_not_found");
  const origin = target.origin;
  if (origin !== undefined && answer.delete_original === true) {
    channel.messages = channel.messages.filter(({ ts }) => ts !== origin.ts);
    state.ephemerals = state.ephemerals.filter(({ ts }) => ts !== origin.ts);
    return;
  }
  const said = contentOf(state, answer);
  if (origin !== undefined && answer.replace_original === true) {
    const original =
      channel.messages.find(({ ts }) => ts === origin.ts) ?? state.ephemerals.find(({ ts }) => ts === origin.ts);
    if (original === undefined) throw new SlackError("message_not_found");
    original.text = said.text;
    original.blocks = said.blocks;
    return;
  }
  const threadTs = answer.thread_ts ?? origin?.threadTs;
  if (answer.response_type === "in_channel") {
    state.post(channel, { user: app.userId, ...said, threadTs, metadata: undefined });
  } else {
    state.whisper({ channel: channel.id, user: target.user, from: "app", ...said, threadTs });
  }
}

function refusal(error: string): Response {
  return Response.json({ ok: false, error }, { status: 404 });
}
