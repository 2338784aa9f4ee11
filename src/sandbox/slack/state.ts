/**
 * The state of the stand-in's Slack workspace: channels, messages, ephemeral messages, triggers, response URLs and modals.
 *
 * Owns: the state and its bounds. Does not own: the methods (api-*.ts) or what people do (user-actions.ts).
 */
import { z } from "zod";
import { listOf, type Saveable } from "../core/state-file.ts";
import type { World } from "../core/world.ts";
import type { Block, ViewInput } from "./block-kit.ts";

export interface Metadata {
  readonly event_type: string;
  readonly event_payload: Readonly<Record<string, unknown>>;
}

export interface SlackMessage {
  readonly ts: string;
  readonly channel: string;
  /** The sender: the app's bot or a person. */
  readonly user: string;
  readonly threadTs: string | undefined;
  text: string;
  blocks: Block[] | undefined;
  metadata: Metadata | undefined;
  editedTs: string | undefined;
}

export interface Ephemeral {
  readonly ts: string;
  readonly channel: string;
  /** The only person who sees it. */
  readonly user: string;
  /** Written by the app, or by Slack about the app. */
  readonly from: "app" | "slackbot";
  readonly threadTs: string | undefined;
  text: string;
  blocks: Block[] | undefined;
}

/** The content: a note has its own sender, a message has an author. */
export function isNote(said: SlackMessage | Ephemeral): said is Ephemeral {
  return "from" in said;
}

export interface Channel {
  readonly id: string;
  readonly name: string;
  readonly kind: "channel" | "im";
  readonly botIsMember: boolean;
  /** Oldest first. */
  messages: SlackMessage[];
}

export interface Trigger {
  readonly user: string;
  readonly expiresAt: number;
  used: boolean;
}

export interface ResponseUrl {
  readonly user: string;
  readonly channel: string;
  readonly expiresAt: number;
  /** The message where the interaction started, if any. */
  readonly origin: { readonly ts: string; readonly threadTs: string | undefined } | undefined;
  uses: number;
}

export interface OpenView {
  readonly id: string;
  readonly user: string;
  readonly rootId: string;
  readonly previousId: string | undefined;
  view: ViewInput;
  hash: string;
  /** The errors of the last submission, by block. */
  errors: Readonly<Record<string, string>>;
  /** The refused values, so that nobody has to type them again. */
  values: Readonly<Record<string, string | readonly string[]>>;
}

export const team = { id: "T0SANDBOX", name: "Headroom sandbox", domain: "headroom-sandbox" } as const;
export const app = { id: "A0HEADROOM", botId: "B0HEADROOM", userId: "U0HEADROOM", name: "headroom" } as const;

/** Slack's own limits. */
export const triggerLifeMs = 3_000;
export const responseUrlLifeMs = 30 * 60_000;
export const responseUrlUses = 5;
const maxMessagesPerChannel = 5_000;
const maxEphemerals = 500;
const maxTokens = 5_000;

const savedSchema = z.object({
  channels: listOf<Channel>(),
  ephemerals: listOf<Ephemeral>(),
  views: listOf<OpenView>(),
  lastMicros: z.number(),
});

export class SlackState implements Saveable {
  readonly #world: World;
  channels = new Map<string, Channel>();
  ephemerals: Ephemeral[] = [];
  triggers = new Map<string, Trigger>();
  responseUrls = new Map<string, ResponseUrl>();
  /** The stack of modals that each person has open, the topmost last. */
  views = new Map<string, OpenView[]>();
  #lastMicros = 0;

  constructor(world: World) {
    this.#world = world;
    this.reset();
  }

  reset(): void {
    this.channels = new Map(
      this.#world.sampleData.slackChannels.map(({ id, name, botIsMember }) => [
        id,
        { id, name, kind: "channel", botIsMember: botIsMember ?? true, messages: [] },
      ]),
    );
    this.ephemerals = [];
    this.triggers.clear();
    this.responseUrls.clear();
    this.views.clear();
  }

  save(): z.input<typeof savedSchema> {
    return {
      channels: [...this.channels.values()],
      ephemerals: this.ephemerals,
      views: [...this.views.values()].flat(),
      lastMicros: this.#lastMicros,
    };
  }

  load(saved: unknown): void {
    const { channels, ephemerals, views, lastMicros } = savedSchema.parse(saved);
    for (const channel of channels) this.channels.set(channel.id, channel);
    this.ephemerals = ephemerals;
    this.views = new Map();
    for (const view of views) this.views.set(view.user, [...(this.views.get(view.user) ?? []), view]);
    this.#lastMicros = lastMicros;
  }

  /** Unique and increasing: seconds, a dot, and six digits. */
  nextTs(): string {
    this.#lastMicros = Math.max(this.#lastMicros + 1, Math.floor(this.#world.now() * 1000));
    const digits = String(this.#lastMicros).padStart(7, "0");
    return `${digits.slice(0, -6)}.${digits.slice(-6)}`;
  }

  nextBlockId(): string {
    return this.#world.ids.next("b", 5);
  }

  person(slackUserId: string): World["sampleData"]["people"][number] | undefined {
    return this.#world.sampleData.people.find((person) => person.slackUserId === slackUserId);
  }

  /** By id, by name, or, for a person, their conversation with the app, which is created if it does not exist. */
  findChannel(idOrName: string): Channel | undefined {
    const found = this.channels.get(idOrName);
    if (found !== undefined) return found;
    const name = idOrName.replace(/^#/, "");
    for (const channel of this.channels.values()) if (channel.name === name) return channel;
    return this.person(idOrName) === undefined ? undefined : this.directMessages(idOrName);
  }

  directMessages(slackUserId: string): Channel {
    const id = `D${slackUserId.slice(1)}`;
    const existing = this.channels.get(id);
    if (existing !== undefined) return existing;
    const opened: Channel = { id, name: slackUserId, kind: "im", botIsMember: true, messages: [] };
    this.channels.set(id, opened);
    return opened;
  }

  post(channel: Channel, message: Omit<SlackMessage, "ts" | "channel" | "editedTs">): SlackMessage {
    const posted = { ...message, ts: this.nextTs(), channel: channel.id, editedTs: undefined };
    channel.messages.push(posted);
    if (channel.messages.length > maxMessagesPerChannel) {
      channel.messages.splice(0, channel.messages.length - maxMessagesPerChannel);
    }
    this.#world.changed();
    return posted;
  }

  whisper(note: Omit<Ephemeral, "ts">): Ephemeral {
    const whispered = { ...note, ts: this.nextTs() };
    this.ephemerals.push(whispered);
    if (this.ephemerals.length > maxEphemerals) this.ephemerals.shift();
    this.#world.changed();
    return whispered;
  }

  newTrigger(user: string): string {
    const number = this.#world.ids.number("trigger");
    const trigger = `${10_000 + number}.${number}.${number.toString(16).padStart(12, "0")}`;
    this.triggers.set(trigger, { user, expiresAt: this.#world.now() + triggerLifeMs, used: false });
    dropOldest(this.triggers);
    return trigger;
  }

  newResponseUrl(user: string, channel: string, origin: ResponseUrl["origin"]): string {
    const id = this.#world.ids.next("R", 12);
    this.responseUrls.set(id, { user, channel, origin, uses: 0, expiresAt: this.#world.now() + responseUrlLifeMs });
    dropOldest(this.responseUrls);
    return `${this.#world.url()}/slack/response/${id}`;
  }

  viewsOf(user: string): OpenView[] {
    const open = this.views.get(user) ?? [];
    this.views.set(user, open);
    return open;
  }

  findView(wanted: (view: OpenView) => boolean): OpenView | undefined {
    for (const stack of this.views.values()) {
      const found = stack.find(wanted);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

function dropOldest(map: Map<string, unknown>): void {
  const oldest = map.size > maxTokens ? map.keys().next().value : undefined;
  if (oldest !== undefined) map.delete(oldest);
}
