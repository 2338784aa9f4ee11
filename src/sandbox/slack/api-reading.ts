/**
 * The Web API's methods that only read: conversations, their history and threads, people, and who the caller is.
 */
import { z } from "zod";
import type { World } from "../core/world.ts";
import { cursorOf, flag, limit, optionalText, parse, placeOf, SlackError, text, type Arguments } from "./arguments.ts";
import { botShape, channelShape, messageShape, userShape } from "./shapes.ts";
import { app, team, type Channel, type SlackState } from "./state.ts";

type Answer = Record<string, unknown>;

const bounds = { oldest: optionalText, latest: optionalText, inclusive: flag, include_all_metadata: flag };
const historyArguments = z.object({ channel: text, ...bounds, limit: limit(100, 999), cursor: z.string().optional() });
const repliesArguments = z.object({
  channel: text,
  ts: text,
  ...bounds,
  limit: limit(1000, 1000),
  cursor: z.string().optional(),
});
const listArguments = z.object({ limit: limit(100, 1000), cursor: z.string().optional(), types: optionalText });

export function authTest(world: World): Answer {
  return {
    url: `${world.url()}/slack/`,
    team: team.name,
    user: app.name,
    team_id: team.id,
    user_id: app.userId,
    bot_id: app.botId,
    is_enterprise_install: false,
  };
}

/** Newest first, without the replies of threads. */
export function history(state: SlackState, given: Arguments): Answer {
  const wanted = parse(historyArguments, given);
  const channel = readable(state, wanted.channel);
  const before = placeOf(wanted.cursor);
  const candidates = channel.messages
    .filter((message) => message.threadTs === undefined || message.threadTs === message.ts)
    .filter((message) => within(message.ts, wanted))
    .filter((message) => before === undefined || compareTs(message.ts, before) < 0)
    .toReversed();
  const page = candidates.slice(0, wanted.limit);
  const more = candidates.length > page.length;
  return {
    messages: page.map((message) => messageShape(message, channel, wanted.include_all_metadata)),
    has_more: more,
    pin_count: 0,
    response_metadata: { next_cursor: more ? cursorOf(page.at(-1)?.ts ?? "") : "" },
  };
}

/** The root and its replies, oldest first. */
export function replies(state: SlackState, given: Arguments): Answer {
  const wanted = parse(repliesArguments, given);
  const channel = readable(state, wanted.channel);
  const root = channel.messages.find((message) => message.ts === wanted.ts);
  if (root === undefined) throw new SlackError("thread_not_found");
  const after = placeOf(wanted.cursor);
  const candidates = channel.messages
    .filter((message) => message.ts === root.ts || (message.threadTs === root.ts && within(message.ts, wanted)))
    .filter((message) => after === undefined || compareTs(message.ts, after) > 0);
  const page = candidates.slice(0, wanted.limit);
  const more = candidates.length > page.length;
  return {
    messages: page.map((message) => messageShape(message, channel, wanted.include_all_metadata)),
    has_more: more,
    response_metadata: { next_cursor: more ? cursorOf(page.at(-1)?.ts ?? "") : "" },
  };
}

export function conversationInfo(state: SlackState, given: Arguments): Answer {
  const { channel: id } = parse(z.object({ channel: text }), given);
  const channel = state.channels.get(id);
  if (channel === undefined) throw new SlackError("channel_not_found");
  return { channel: channelShape(channel) };
}

export function conversationList(state: SlackState, given: Arguments): Answer {
  const wanted = parse(listArguments, given);
  const types = (wanted.types ?? "public_channel").split(",").map((type) => type.trim());
  const all = [...state.channels.values()].filter(({ kind }) =>
    types.includes(kind === "im" ? "im" : "public_channel"),
  );
  const page = pageOf(all, wanted, ({ id }) => id);
  return { channels: page.items.map(channelShape), response_metadata: { next_cursor: page.next } };
}

export function conversationOpen(state: SlackState, given: Arguments): Answer {
  const { users } = parse(z.object({ users: text }), given);
  if (state.person(users) === undefined) throw new SlackError("user_not_found");
  return { channel: channelShape(state.directMessages(users)) };
}

export function userInfo(state: SlackState, given: Arguments): Answer {
  const { user } = parse(z.object({ user: text }), given);
  if (user === app.userId) return { user: botShape() };
  const person = state.person(user);
  if (person === undefined) throw new SlackError("user_not_found");
  return { user: userShape(person) };
}

export function userList(world: World, given: Arguments): Answer {
  const wanted = parse(listArguments, given);
  const all = [...world.sampleData.people.map(userShape), botShape()];
  const page = pageOf(all, wanted, ({ id }) => String(id));
  return {
    members: page.items,
    cache_ts: Math.floor(world.now() / 1000),
    response_metadata: { next_cursor: page.next },
  };
}

export function lookupByEmail(world: World, given: Arguments): Answer {
  const { email } = parse(z.object({ email: text }), given);
  const person = world.sampleData.people.find((each) => each.email === email.toLowerCase());
  if (person === undefined) throw new SlackError("users_not_found");
  return { user: userShape(person) };
}

function readable(state: SlackState, id: string): Channel {
  const channel = state.channels.get(id);
  if (channel === undefined) throw new SlackError("channel_not_found");
  if (!channel.botIsMember) throw new SlackError("not_in_channel");
  return channel;
}

function within(
  ts: string,
  span: { readonly oldest?: string | undefined; readonly latest?: string | undefined; readonly inclusive: boolean },
): boolean {
  const edge = span.inclusive ? 0 : 1;
  return (
    (span.oldest === undefined || span.oldest === "" || compareTs(ts, span.oldest) >= edge) &&
    (span.latest === undefined || span.latest === "" || compareTs(span.latest, ts) >= edge)
  );
}

/** By value: a caller may send fewer digits after the dot than Slack writes. */
export function compareTs(left: string, right: string): number {
  return Math.sign(microsOf(left) - microsOf(right));
}

function microsOf(ts: string): number {
  const [seconds = "0", fraction = ""] = ts.split(".");
  const micros = Number(seconds) * 1_000_000 + Number(fraction.padEnd(6, "0").slice(0, 6));
  if (Number.isNaN(micros)) throw new SlackError("invalid_ts_latest");
  return micros;
}

function pageOf<Item>(
  all: readonly Item[],
  wanted: { readonly limit: number; readonly cursor?: string | undefined },
  idOf: (item: Item) => string,
): { items: Item[]; next: string } {
  const place = placeOf(wanted.cursor);
  const start = place === undefined ? 0 : all.findIndex((item) => idOf(item) === place) + 1;
  if (place !== undefined && start === 0) throw new SlackError("invalid_cursor");
  const items = all.slice(start, start + wanted.limit);
  const last = items.at(-1);
  return { items, next: last !== undefined && start + items.length < all.length ? cursorOf(idOf(last)) : "" };
}
