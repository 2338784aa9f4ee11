/**
 * The Web API's chat methods: posting, updating, deleting, and ephemeral messages.
 */
import { z } from "zod";
import { flag, optionalText, parse, SlackError, text, type Arguments } from "./arguments.ts";
import { charsOf, complaints, maxBlocksChars, messageBlocks, named, type Block } from "./block-kit.ts";
import { ephemeralShape, messageShape } from "./shapes.ts";
import { app, type Channel, type Metadata, type SlackMessage, type SlackState } from "./state.ts";

type Answer = Record<string, unknown>;

/** Slack truncates at 40,000 characters and refuses much longer texts. */
const maxTextChars = 40_000;

const content = {
  channel: text,
  text: optionalText,
  blocks: z.unknown().optional(),
  metadata: z.unknown().optional(),
  attachments: z.unknown().optional(),
};
const postArguments = z.object({ ...content, thread_ts: optionalText, reply_broadcast: flag });
const updateArguments = z.object({ ...content, ts: text });
const ephemeralArguments = z.object({ ...content, user: text, thread_ts: optionalText });
const deleteArguments = z.object({ channel: text, ts: text });

export function postMessage(state: SlackState, given: Arguments): Answer {
  const wanted = parse(postArguments, given);
  const channel = writable(state, wanted.channel);
  const said = contentOf(state, wanted);
  const posted = state.post(channel, {
    user: app.userId,
    ...said,
    metadata: metadataOf(wanted.metadata),
    threadTs: rootOf(channel, wanted.thread_ts),
  });
  return { channel: channel.id, ts: posted.ts, message: messageShape(posted, channel, true) };
}

export function update(state: SlackState, given: Arguments): Answer {
  const wanted = parse(updateArguments, given);
  // A person's id opens a conversation only when something is posted; to update, Slack wants the conversation's own id.
  if (/^[UW]/.test(wanted.channel)) throw new SlackError("channel_not_found");
  const channel = writable(state, wanted.channel);
  const message = find(channel, wanted.ts);
  if (message.user !== app.userId) throw new SlackError("cant_update_message");
  const said = contentOf(state, wanted);
  message.text = said.text;
  message.blocks = said.blocks;
  if (wanted.metadata !== undefined) message.metadata = metadataOf(wanted.metadata);
  message.editedTs = state.nextTs();
  return {
    channel: channel.id,
    ts: message.ts,
    text: message.text,
    message: messageShape(message, channel, true),
  };
}

export function remove(state: SlackState, given: Arguments): Answer {
  const wanted = parse(deleteArguments, given);
  const channel = writable(state, wanted.channel);
  const message = find(channel, wanted.ts);
  if (message.user !== app.userId) throw new SlackError("cant_delete_message");
  channel.messages = channel.messages.filter((each) => each !== message);
  return { channel: channel.id, ts: message.ts };
}

export function postEphemeral(state: SlackState, given: Arguments): Answer {
  const wanted = parse(ephemeralArguments, given);
  const channel = writable(state, wanted.channel);
  if (state.person(wanted.user) === undefined) throw new SlackError("user_not_in_channel");
  const note = state.whisper({
    channel: channel.id,
    user: wanted.user,
    from: "app",
    threadTs: rootOf(channel, wanted.thread_ts),
    ...contentOf(state, wanted),
  });
  return { message_ts: note.ts, message: ephemeralShape(note) };
}

function writable(state: SlackState, idOrName: string): Channel {
  const channel = state.findChannel(idOrName);
  if (channel === undefined) throw new SlackError("channel_not_found");
  if (!channel.botIsMember) throw new SlackError("not_in_channel");
  return channel;
}

function find(channel: Channel, ts: string): SlackMessage {
  const message = channel.messages.find((each) => each.ts === ts);
  if (message === undefined) throw new SlackError("message_not_found");
  return message;
}

/** Slack threads under the root, even when the ts of a reply is given. */
function rootOf(channel: Channel, threadTs: string | undefined): string | undefined {
  if (threadTs === undefined || threadTs === "") return undefined;
  const root = channel.messages.find((each) => each.ts === threadTs);
  if (root === undefined) throw new SlackError("thread_not_found");
  return root.threadTs ?? root.ts;
}

export function contentOf(
  state: SlackState,
  given: { readonly text?: string | undefined; readonly blocks?: unknown; readonly attachments?: unknown },
): { text: string; blocks: Block[] | undefined } {
  const words = given.text ?? "";
  const blocks = blocksOf(state, given.blocks);
  if (words === "" && blocks === undefined && given.attachments === undefined) throw new SlackError("no_text");
  if (words.length > maxTextChars) throw new SlackError("msg_too_long");
  return { text: words, blocks };
}

function blocksOf(state: SlackState, given: unknown): Block[] | undefined {
  if (given === undefined || given === "") return undefined;
  if (!Array.isArray(given)) throw new SlackError("invalid_blocks_format");
  const checked = messageBlocks.safeParse(given);
  if (!checked.success) throw new SlackError("invalid_blocks", complaints(checked.error, "blocks"));
  if (charsOf(checked.data) > maxBlocksChars) throw new SlackError("msg_blocks_too_long");
  return checked.data.length === 0 ? undefined : named(checked.data, () => state.nextBlockId());
}

const metadataSchema = z.object({
  event_type: z.string().min(1).max(255),
  event_payload: z.record(z.string(), z.unknown()),
});

function metadataOf(given: unknown): Metadata | undefined {
  if (given === undefined || given === "") return undefined;
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw new SlackError("invalid_metadata_format");
  // An empty object removes the metadata.
  if (Object.keys(given).length === 0) return undefined;
  const checked = metadataSchema.safeParse(given);
  if (!checked.success) throw new SlackError("invalid_metadata_schema", complaints(checked.error, "metadata"));
  return checked.data;
}
