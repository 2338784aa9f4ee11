/**
 * What people do in Slack: press buttons, type commands, fill in modals, write messages. The page and the tests use this.
 *
 * Owns: turning an action into the signed payload that Slack would send, and giving the answer the effect it has in Slack.
 * Does not own: the payloads' form (interactions.ts) or their signature (outgoing.ts).
 */
import { HeadroomError } from "../../db/errors.ts";
import type { SendResult } from "../core/webhook-sender.ts";
import type { World } from "../core/world.ts";
import type { Block } from "./block-kit.ts";
import { SlackError } from "./arguments.ts";
import { actionShape, commandFields, findAction, sharedFields } from "./interactions.ts";
import { closeView, submitView, type SubmitResult } from "./modals.ts";
import type { FilledIn } from "./inputs.ts";
import { failureOf, sendEvent, sendForm } from "./outgoing.ts";
import { parseAnswer, say } from "./response-url.ts";
import { messageShape, viewShape } from "./shapes.ts";
import {
  app,
  isNote,
  team,
  type Channel,
  type Ephemeral,
  type OpenView,
  type SlackMessage,
  type SlackState,
} from "./state.ts";

/** The one command that the app's manifest has. */
const ownCommand = "/capacity";

export type ActResult =
  | { readonly kind: "acknowledged"; readonly status: number; readonly body: string }
  /** No app has this command: nothing was sent. */
  | { readonly kind: "unknown_command" }
  /** `error` is the code that Slack shows, e.g. operation_timeout. */
  | { readonly kind: "failed"; readonly error: string; readonly arrival: SendResult };

export interface Click {
  /** A Slack user id. */
  readonly user: string;
  readonly actionId: string;
  readonly blockId?: string | undefined;
  readonly channel?: string | undefined;
  readonly ts?: string | undefined;
  /** Instead of channel and ts: the button is in this modal. */
  readonly viewId?: string | undefined;
  /** The chosen value, for any element but a button. */
  readonly chosen?: string | undefined;
}

export interface Command {
  readonly user: string;
  /** The text after the command. */
  readonly text?: string | undefined;
  /** Default: `/capacity`. */
  readonly command?: string | undefined;
  /** Default: the first channel of the sample data. */
  readonly channel?: string | undefined;
}

export class SlackUserActions {
  readonly #world: World;
  readonly #state: SlackState;

  constructor(world: World, state: SlackState) {
    this.#world = world;
    this.#state = state;
  }

  /** Presses a button, or chooses from a menu, in a message or in a modal. */
  async click(click: Click): Promise<ActResult> {
    const { channel, message, view, blocks } = this.#placeOf(click);
    const found = findAction(blocks, click.actionId, click.blockId);
    if (found === undefined) throw missing(`There is no ${click.actionId} to press there.`, "It may have been used.");
    const origin = message === undefined ? undefined : { ts: message.ts, threadTs: message.threadTs };
    const payload = {
      type: "block_actions",
      ...sharedFields(this.#world, click.user),
      trigger_id: this.#state.newTrigger(click.user),
      state: { values: {} },
      actions: [actionShape(found, this.#state.nextTs(), click.chosen)],
      ...(view === undefined ? {} : { container: { type: "view", view_id: view.id }, view: viewShape(view) }),
      ...(channel === undefined || message === undefined
        ? {}
        : {
            container: containerOf(channel, message),
            channel: { id: channel.id, name: channel.kind === "im" ? "directmessage" : channel.name },
            // For an ephemeral message Slack sends its place, but not its text.
            ...(isNote(message) ? {} : { message: messageShape(message, channel, true) }),
            response_url: this.#state.newResponseUrl(click.user, channel.id, origin),
          }),
    };
    const arrival = await sendForm(this.#world, `press ${click.actionId}`, { payload: JSON.stringify(payload) });
    return this.#result(arrival, click.user, channel?.id, `The button did not work`);
  }

  /** Sends a slash command; the app's answer is shown as Slack shows it. */
  async command(given: Command): Promise<ActResult> {
    const channel = this.#channel(given.channel);
    const command = (given.command ?? ownCommand).toLowerCase();
    const text = given.text ?? "";
    this.#mustExist(given.user);
    if (command !== ownCommand) return this.#notACommand(command, given.user, channel.id);
    const arrival = await sendForm(
      this.#world,
      `${command} ${text}`.trim(),
      commandFields(this.#world, {
        user: given.user,
        channel: { id: channel.id, name: channel.kind === "im" ? "directmessage" : channel.name },
        command,
        text,
        triggerId: this.#state.newTrigger(given.user),
        responseUrl: this.#state.newResponseUrl(given.user, channel.id, undefined),
      }),
    );
    const result = this.#result(arrival, given.user, channel.id, `${command} failed`);
    if (result.kind === "acknowledged") this.#showAnswer(result.body, given.user, channel);
    return result;
  }

  /** Fills in and submits a modal. `values` are named by block id or action id. */
  submitView(given: {
    readonly user: string;
    readonly viewId: string;
    readonly values: FilledIn;
  }): Promise<SubmitResult> {
    const view = this.#view(given.user, given.viewId);
    return submitView(this.#world, this.#state, view, given.values);
  }

  closeView(given: { readonly user: string; readonly viewId: string }): Promise<void> {
    return closeView(this.#world, this.#state, this.#view(given.user, given.viewId));
  }

  /** Writes in a channel. A message that mentions the app causes an `app_mention` event. */
  async say(given: {
    readonly user: string;
    readonly text: string;
    readonly channel?: string | undefined;
    readonly threadTs?: string | undefined;
  }): Promise<SlackMessage> {
    this.#mustExist(given.user);
    const channel = this.#channel(given.channel);
    const { user, text, threadTs } = given;
    const said = this.#state.post(channel, { user, text, threadTs, blocks: undefined, metadata: undefined });
    if (text.includes(`<@${app.userId}>`)) {
      await this.event({ type: "app_mention", user, text, ts: said.ts, channel: channel.id, event_ts: said.ts });
    }
    return said;
  }

  /** Sends an event of the Events API, and retries it like Slack until it is acknowledged. */
  async event(event: Readonly<Record<string, unknown>>): Promise<SendResult> {
    return sendEvent(this.#world, `event ${String(event["type"])}`, {
      token: "sandbox-verification-token",
      team_id: team.id,
      api_app_id: app.id,
      event,
      type: "event_callback",
      event_id: this.#world.ids.next("Ev"),
      event_time: Math.floor(this.#world.now() / 1000),
      authorizations: [
        { enterprise_id: null, team_id: team.id, user_id: app.userId, is_bot: true, is_enterprise_install: false },
      ],
      is_ext_shared_channel: false,
    });
  }

  /** Oldest first, replies included. */
  messages(channel?: string): readonly SlackMessage[] {
    return [...this.#channel(channel).messages];
  }

  /** The root and its replies, oldest first. */
  thread(channel: string, ts: string): readonly SlackMessage[] {
    return this.#channel(channel).messages.filter((message) => message.ts === ts || message.threadTs === ts);
  }

  /** The ephemeral messages of this person, oldest first. */
  ephemerals(user: string): readonly Ephemeral[] {
    return this.#state.ephemerals.filter((note) => note.user === user);
  }

  /** The modals that this person has open, the topmost last. */
  openViews(user: string): readonly OpenView[] {
    return [...(this.#state.views.get(user) ?? [])];
  }

  channels(): readonly Channel[] {
    return [...this.#state.channels.values()];
  }

  #channel(idOrName: string | undefined): Channel {
    const wanted = idOrName ?? this.#world.sampleData.slackChannels[0]?.id ?? "";
    const channel = this.#state.findChannel(wanted);
    if (channel === undefined)
      throw missing(`There is no channel ${wanted}.`, "The channels are listed in the sample data.");
    return channel;
  }

  #view(user: string, viewId: string): OpenView {
    const view = this.#state.views.get(user)?.find(({ id }) => id === viewId);
    if (view === undefined) throw missing(`${user} has no modal ${viewId} open.`, "It may have been closed.");
    return view;
  }

  #mustExist(user: string): void {
    if (this.#state.person(user) === undefined)
      throw missing(`There is no person ${user}.`, "The people are listed in the sample data.");
  }

  #placeOf(click: Click): {
    channel?: Channel;
    message?: SlackMessage | Ephemeral;
    view?: OpenView;
    blocks: readonly Block[];
  } {
    this.#mustExist(click.user);
    if (click.viewId !== undefined) {
      const view = this.#view(click.user, click.viewId);
      return { view, blocks: view.view.blocks };
    }
    const channel = this.#channel(click.channel);
    const message =
      channel.messages.find(({ ts }) => ts === click.ts) ??
      this.#state.ephemerals.find(({ ts, user }) => ts === click.ts && user === click.user);
    if (message === undefined) throw missing(`There is no message ${click.ts} there.`, "Reload to see what is there.");
    return { channel, message, blocks: message.blocks ?? [] };
  }

  /** Slack tells the person in its own ephemeral message that the app did not answer. */
  #result(arrival: SendResult, user: string, channel: string | undefined, what: string): ActResult {
    const error = failureOf(arrival);
    if (error === undefined && arrival.kind === "answered") {
      return { kind: "acknowledged", status: arrival.status, body: arrival.body };
    }
    const failed = { kind: "failed", error: error ?? "dispatch_failed", arrival } as const;
    if (channel !== undefined) {
      const text = `${what} with the error "${failed.error}".`;
      this.#state.whisper({ channel, user, from: "slackbot", text, blocks: undefined, threadTs: undefined });
    }
    return failed;
  }

  /** The app installed one command; Slack itself answers every other text that begins with a slash. */
  #notACommand(command: string, user: string, channel: string): ActResult {
    const text = `${command.slice(0, 100)} is not a valid command. To say something that begins with a slash, put a space before it.`;
    this.#state.whisper({ channel, user, from: "slackbot", text, blocks: undefined, threadTs: undefined });
    return { kind: "unknown_command" };
  }

  #showAnswer(body: string, user: string, channel: Channel): void {
    const words = body.trim();
    if (words === "" || words === '""' || words === "null" || words === "{}") return;
    const answer = parseAnswer(words) ?? { text: words, blocks: undefined };
    if (answer.text === undefined && answer.blocks === undefined) return;
    try {
      say(this.#state, { user, channel: channel.id, origin: undefined }, answer);
    } catch (error) {
      if (!(error instanceof SlackError)) throw error;
      const text = `The app's answer could not be shown: ${error.error} ${error.messages.join(" ")}`.trim();
      this.#state.whisper({
        channel: channel.id,
        user,
        from: "slackbot",
        text,
        blocks: undefined,
        threadTs: undefined,
      });
    }
  }
}

function containerOf(channel: Channel, message: SlackMessage | Ephemeral): Record<string, unknown> {
  return {
    type: "message",
    message_ts: message.ts,
    channel_id: channel.id,
    is_ephemeral: isNote(message),
    ...(message.threadTs === undefined ? {} : { thread_ts: message.threadTs }),
  };
}

function missing(message: string, hint: string): HeadroomError {
  return new HeadroomError("not_found", message, { hint, httpStatus: 404 });
}
