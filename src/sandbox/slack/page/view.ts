/**
 * The Slack page: channels, messages with their threads, ephemeral messages, an open modal, and an input line.
 *
 * Owns: how it all looks to one person. Does not own: what a form does (routes.ts).
 */
import { html } from "hono/html";
import type { Person } from "../../sample-data.ts";
import type { World } from "../../core/world.ts";
import { page, time, type Fragment, type Html } from "../../pages/layout.ts";
import { app, type Channel, type Ephemeral, type OpenView, type SlackMessage, type SlackState } from "../state.ts";
import { blocksHtml, type Place } from "./blocks.ts";
import { inputHtml } from "./inputs.ts";
import { mrkdwn, plainText, spoken, type Names } from "./mrkdwn.ts";

export interface Visit {
  readonly person: Person;
  readonly channel: Channel;
}

/** How far back a page goes; the API has more. */
const maxShown = 60;

export function visitOf(world: World, state: SlackState, query: Readonly<Record<string, string>>): Visit | undefined {
  const person =
    world.sampleData.people.find(({ slackUserId }) => slackUserId === query["as"]) ?? world.sampleData.people[0];
  if (person === undefined) return undefined;
  const direct = state.directMessages(person.slackUserId);
  const asked = state.channels.get(query["channel"] ?? "");
  // A conversation with the app is private: a visitor who switches the person gets that person's conversation.
  const own = asked?.kind === "im" ? direct : asked;
  const channel = own ?? state.channels.get(world.sampleData.slackChannels[0]?.id ?? "");
  return channel === undefined ? undefined : { person, channel };
}

export function slackPage(world: World, state: SlackState, { person, channel }: Visit): Promise<Response> {
  const names = namesOf(world, state);
  const open = state.views.get(person.slackUserId)?.at(-1);
  const place = { user: person.slackUserId, channel: channel.id, names };
  return page({
    title: `${titleOf(channel)} as ${person.name}`,
    current: "/slack",
    mainClass: "slack",
    body: html`${rail(world, state, { person, channel })}
      <section class="channel" aria-label="${titleOf(channel)}">
        <header>
          <h1>${titleOf(channel)}</h1>
          <p class="quiet small">
            You see this as ${person.name}, ${person.title.toLowerCase()}.
            <noscript><a href="/slack?channel=${channel.id}&as=${person.slackUserId}">See what is new</a></noscript>
          </p>
        </header>
        <div id="messages" data-live data-follow class="messages">${messagesHtml(state, channel, person, place)}</div>
        ${composer(place)}
      </section>
      <div id="modal" data-live data-version="${open === undefined ? "" : `${open.id}:${open.hash}`}">
        ${open !== undefined && modalHtml(world, open, place)}
      </div>`,
  });
}

function titleOf(channel: Channel): string {
  return channel.kind === "im" ? "Headroom" : `#${channel.name}`;
}

function namesOf(world: World, state: SlackState): Names {
  return {
    user: (id) =>
      id === app.userId
        ? "Headroom"
        : (world.sampleData.people.find(({ slackUserId }) => slackUserId === id)?.name ?? id),
    channel: (id) => state.channels.get(id)?.name ?? id,
  };
}

function rail(world: World, state: SlackState, { person, channel }: Visit): Html {
  const link = (each: Channel): Fragment =>
    html`<li>
      <a
        href="/slack?channel=${each.id}&as=${person.slackUserId}"
        ${each.id === channel.id && html`aria-current="page"`}
      >
        ${titleOf(each)}
      </a>
    </li>`;
  const channels = [...state.channels.values()];
  return html`<nav class="rail" aria-label="Slack">
    <form method="get" action="/slack">
      <label for="as">You are</label>
      <select id="as" name="as" data-submit>
        ${world.sampleData.people.map(
          (each) =>
            html`<option value="${each.slackUserId}" ${each === person && html`selected`}>
              ${each.name}, ${each.title}
            </option>`,
        )}
      </select>
      <input type="hidden" name="channel" value="${channel.id}" />
      <noscript><button class="small">Switch</button></noscript>
    </form>
    <h2>Channels</h2>
    <ul>
      ${channels.filter(({ kind }) => kind === "channel").map(link)}
    </ul>
    <div id="direct" data-live>
      <h2>Direct messages</h2>
      <ul>
        ${link(state.directMessages(person.slackUserId))}
      </ul>
    </div>
  </nav>`;
}

type Shown =
  { readonly kind: "message"; readonly message: SlackMessage } | { readonly kind: "note"; readonly note: Ephemeral };

function messagesHtml(state: SlackState, channel: Channel, person: Person, place: Place): Fragment {
  const roots = channel.messages.filter(({ ts, threadTs }) => threadTs === undefined || threadTs === ts);
  const notes = state.ephemerals.filter((note) => note.channel === channel.id && note.user === person.slackUserId);
  const shown: Shown[] = [
    ...roots.map((message) => ({ kind: "message", message }) as const),
    ...notes.filter(({ threadTs }) => threadTs === undefined).map((note) => ({ kind: "note", note }) as const),
  ];
  if (shown.length === 0) {
    return html`<p class="empty">Nothing here yet. Write <code>/capacity</code> below to ask for capacity.</p>`;
  }
  const tsOf = (each: Shown): string => (each.kind === "message" ? each.message.ts : each.note.ts);
  const latest = shown.toSorted((left, right) => Number(tsOf(left)) - Number(tsOf(right))).slice(-maxShown);
  return html`${shown.length > maxShown && html`<p class="quiet small">${shown.length - maxShown} earlier ones are not shown.</p>`}
  ${latest.map((each) =>
    each.kind === "note" ? noteHtml(each.note, place) : rootHtml(each.message, channel, notes, place),
  )}`;
}

function rootHtml(root: SlackMessage, channel: Channel, notes: readonly Ephemeral[], place: Place): Html {
  const replies = channel.messages.filter(({ ts, threadTs }) => threadTs === root.ts && ts !== root.ts);
  const whispers = notes.filter(({ threadTs }) => threadTs === root.ts);
  const thread =
    replies.length + whispers.length > 0 &&
    html`<div
      class="thread"
      role="group"
      aria-label="Thread, ${replies.length} ${replies.length === 1 ? "reply" : "replies"}"
    >
      ${replies.map((reply) => messageHtml(reply, place))} ${whispers.map((note) => noteHtml(note, place))}
    </div>`;
  return messageHtml(root, place, thread);
}

function messageHtml(message: SlackMessage, place: Place, thread: Fragment = null): Html {
  const name = place.names.user(message.user);
  const byBot = message.user === app.userId;
  return html`<article class="message" id="m-${message.ts}" aria-label="${name}: ${spoken(message.text, place.names)}">
    <div class="avatar ${!byBot && "person"}" aria-hidden="true">${initials(name)}</div>
    <div>
      <div class="byline">
        <strong>${name}</strong> ${byBot && html`<span class="badge">app</span>`} ${time(Number(message.ts) * 1000)}
        ${message.editedTs !== undefined && html`<span class="quiet">(edited)</span>`}
      </div>
      ${contentHtml(message, { ...place, ts: message.ts })} ${thread}
    </div>
  </article>`;
}

function noteHtml(note: Ephemeral, place: Place): Html {
  const name = note.from === "app" ? "Headroom" : "Slackbot";
  return html`<article
    class="message whisper"
    id="m-${note.ts}"
    aria-label="Only visible to you: ${spoken(note.text, place.names)}"
  >
    <div class="avatar" aria-hidden="true">${initials(name)}</div>
    <div>
      <div class="byline">
        <strong>${name}</strong> ${time(Number(note.ts) * 1000)} <span class="quiet">Only visible to you</span>
      </div>
      ${contentHtml(note, { ...place, ts: note.ts })}
    </div>
  </article>`;
}

function contentHtml(said: Pick<SlackMessage, "text" | "blocks">, place: Place): Html {
  if (said.blocks !== undefined) return blocksHtml(said.blocks, place);
  return html`<div class="blocks">${mrkdwn(said.text, place.names)}</div>`;
}

function initials(name: string): string {
  return name
    .split(" ")
    .map((part) => part.slice(0, 1))
    .join("")
    .slice(0, 2);
}

function composer(place: Place): Html {
  return html`<form class="composer" method="post" action="/slack/act/write">
    <input type="hidden" name="as" value="${place.user}" />
    <input type="hidden" name="channel" value="${place.channel}" />
    <label for="text" class="visually-hidden">Message or command</label>
    <div class="row">
      <input id="text" name="text" autocomplete="off" placeholder="/capacity, or a message" maxlength="3000" required />
      <button class="primary tight">Send</button>
    </div>
    <p class="hint">
      Try <code>/capacity</code>, <code>/capacity create 32XL x4 us-east-1</code>, <code>/capacity list</code> or
      <code>/capacity help</code>.
    </p>
  </form>`;
}

function modalHtml(world: World, open: OpenView, place: Place): Html {
  const within = { ...place, ts: undefined, viewId: open.id };
  const { submit, close, title } = open.view;
  const general = open.errors[""];
  return html`<div class="shade"></div>
    <dialog class="modal" open aria-labelledby="modal-title">
      <header><h2 id="modal-title">${plainText(title.text)}</h2></header>
      ${general !== undefined && html`<div class="inside"><p class="note bad" role="alert">${general}</p></div>`}
      <form id="modal-form" method="post" action="/slack/act/submit" novalidate>
        <input type="hidden" name="as" value="${place.user}" />
        <input type="hidden" name="channel" value="${place.channel}" />
        <input type="hidden" name="view" value="${open.id}" />
        ${submit !== undefined && html`<button class="visually-hidden" tabindex="-1" aria-hidden="true">Enter submits</button>`}
        <div class="inside">
          ${blocksHtml(open.view.blocks, within, (block) => block.type === "input" && inputHtml(block, open, world.sampleData))}
        </div>
        <footer>
          <button formaction="/slack/act/close" data-close>${plainText(close?.text ?? "Close")}</button>
          ${submit !== undefined && html`<button class="primary" type="submit">${plainText(submit.text)}</button>`}
        </footer>
      </form>
    </dialog>`;
}
