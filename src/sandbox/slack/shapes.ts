/**
 * The form of the stand-in's objects in Slack's answers and payloads.
 */
import type { World } from "../core/world.ts";
import type { Person } from "../sample-data.ts";
import { app, team, type Channel, type Ephemeral, type OpenView, type SlackMessage } from "./state.ts";

type Shape = Record<string, unknown>;

/** A message as history, answers and payloads show it. Metadata is shown to those who ask for it. */
export function messageShape(message: SlackMessage, channel: Channel, withMetadata: boolean): Shape {
  const replies = channel.messages.filter((each) => each.threadTs === message.ts && each.ts !== message.ts);
  const byBot = message.user === app.userId;
  return {
    type: "message",
    user: message.user,
    ts: message.ts,
    text: message.text,
    team: team.id,
    ...(byBot ? { bot_id: app.botId, app_id: app.id, bot_profile: botProfile() } : {}),
    ...(message.blocks === undefined ? {} : { blocks: message.blocks }),
    ...(message.threadTs === undefined ? {} : { thread_ts: message.threadTs }),
    ...(message.editedTs === undefined ? {} : { edited: { user: message.user, ts: message.editedTs } }),
    ...(withMetadata && message.metadata !== undefined ? { metadata: message.metadata } : {}),
    ...(replies.length === 0
      ? {}
      : {
          thread_ts: message.ts,
          reply_count: replies.length,
          reply_users_count: new Set(replies.map(({ user }) => user)).size,
          reply_users: [...new Set(replies.map(({ user }) => user))],
          latest_reply: replies.at(-1)?.ts,
          is_locked: false,
          subscribed: false,
        }),
  };
}

export function ephemeralShape(note: Ephemeral): Shape {
  return {
    type: "message",
    subtype: "bot_message",
    text: note.text,
    ts: note.ts,
    bot_id: app.botId,
    is_ephemeral: true,
    ...(note.blocks === undefined ? {} : { blocks: note.blocks }),
    ...(note.threadTs === undefined ? {} : { thread_ts: note.threadTs }),
  };
}

function botProfile(): Shape {
  return { id: app.botId, app_id: app.id, name: app.name, deleted: false, updated: 0, team_id: team.id };
}

export function channelShape(channel: Channel): Shape {
  const im = channel.kind === "im";
  return {
    id: channel.id,
    created: 0,
    is_im: im,
    is_archived: false,
    is_org_shared: false,
    ...(im
      ? { user: channel.name }
      : {
          name: channel.name,
          name_normalized: channel.name,
          is_channel: true,
          is_group: false,
          is_private: false,
          is_member: channel.botIsMember,
          is_general: channel.name === "general",
          creator: app.userId,
          topic: { value: "", creator: "", last_set: 0 },
          purpose: { value: "", creator: "", last_set: 0 },
        }),
  };
}

export function userShape(person: Person): Shape {
  return {
    id: person.slackUserId,
    team_id: team.id,
    name: person.memberId,
    real_name: person.name,
    deleted: false,
    tz: "Etc/UTC",
    tz_offset: 0,
    is_bot: false,
    is_admin: false,
    profile: {
      real_name: person.name,
      display_name: person.name,
      title: person.title,
      email: person.email,
      team: team.id,
    },
  };
}

export function botShape(): Shape {
  return {
    id: app.userId,
    team_id: team.id,
    name: app.name,
    real_name: "Headroom",
    deleted: false,
    is_bot: true,
    profile: { real_name: "Headroom", display_name: "headroom", bot_id: app.botId, api_app_id: app.id, team: team.id },
  };
}

export function viewShape(open: OpenView, values: Shape = {}): Shape {
  return {
    id: open.id,
    team_id: team.id,
    type: "modal",
    blocks: open.view.blocks,
    private_metadata: open.view.private_metadata ?? "",
    callback_id: open.view.callback_id ?? "",
    state: { values },
    hash: open.hash,
    title: open.view.title,
    clear_on_close: open.view.clear_on_close ?? false,
    notify_on_close: open.view.notify_on_close ?? false,
    close: open.view.close ?? null,
    submit: open.view.submit ?? null,
    previous_view_id: open.previousId ?? null,
    root_view_id: open.rootId,
    app_id: app.id,
    external_id: open.view.external_id ?? "",
    app_installed_team_id: team.id,
    bot_id: app.botId,
  };
}

/** The acting person, as interactive payloads name them. */
export function actorShape(world: World, slackUserId: string): Shape {
  const person = world.sampleData.people.find((each) => each.slackUserId === slackUserId);
  const name = person?.memberId ?? slackUserId.toLowerCase();
  return { id: slackUserId, username: name, name, team_id: team.id };
}
