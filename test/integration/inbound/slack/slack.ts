/**
 * Calls the receiver as Slack does: payloads as Slack makes them, encoded as a form, signed over the bytes, and delivered to the database
 * in a transaction of the gateway with the request's headers.
 *
 * Owns: Slack's side. Does not own: the workflow's people (capacity/harness.ts), nor what is asserted.
 */
import { createHmac, randomBytes } from "node:crypto";
import { beforeAll } from "vitest";
import type { ClientBase } from "pg";
import type { EmbeddedVersion } from "../../../../src/db/embedded.ts";
import type { Block } from "../../capacity/story/block-kit.ts";
import { anonymous, enter, overHttp } from "../../capacity/gateway.ts";
import { oneOf, rowsOf, startWorkflow, type Workflow } from "../../capacity/harness.ts";

export const signingSecret = "8f742231b10e8888abcd99yyyzzz85a5";
/** The value of HEADROOM_SECRET_KEY. */
export const secretKey = "k".repeat(44);
export const team = "T0ACME";
export const channel = "C024BE91L";

/** What Slack shows: the body of the answer. */
export interface SlackAnswer {
  readonly response_type?: string;
  readonly text?: string;
  readonly blocks?: readonly Block[];
  readonly response_action?: string;
  readonly errors?: Record<string, string>;
  readonly challenge?: string;
}

export interface Signed {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Signs a body as Slack does. */
export function sign(body: string, options: { secret?: string; at?: number } = {}): Signed {
  const timestamp = String(options.at ?? Math.floor(Date.now() / 1000));
  const digest = createHmac("sha256", options.secret ?? signingSecret)
    .update(`v0:${timestamp}:${body}`)
    .digest("hex");
  return { body, headers: { "x-slack-request-timestamp": timestamp, "x-slack-signature": `v0=${digest}` } };
}

export const form = (fields: Record<string, string>): string => new URLSearchParams(fields).toString();

const trigger = (): string => `${Date.now()}.47445629121.${randomBytes(16).toString("hex")}`;

/** A slash command's form, with all of Slack's fields. */
export function commandBody(text: string, user = "U0RITA", more: Record<string, string> = {}): string {
  return form({
    token: "xyzz0WbapA4vBCDEFasx0q6G",
    team_id: team,
    team_domain: "acme",
    channel_id: channel,
    channel_name: "capacity",
    user_id: user,
    user_name: user.toLowerCase(),
    command: "/capacity",
    text,
    api_app_id: "A0KRD7HC3",
    is_enterprise_install: "false",
    response_url: "https://hooks.slack.com/commands/T0ACME/397700885554/96rGlfmibIGlgcZRskXaIFfN",
    trigger_id: trigger(),
    ...more,
  });
}

const person = (user: string, userTeam = team): object => ({
  id: user,
  username: user.toLowerCase(),
  name: user.toLowerCase(),
  team_id: userTeam,
});

/** A click on a button of a request's message. */
export function clickBody(action: string, request: string, user: string, more: object = {}): string {
  const payload = {
    type: "block_actions",
    user: person(user),
    api_app_id: "A0KRD7HC3",
    token: "xyzz0WbapA4vBCDEFasx0q6G",
    container: { type: "message", message_ts: "1718000000.000100", channel_id: channel, is_ephemeral: false },
    trigger_id: trigger(),
    team: { id: team, domain: "acme" },
    enterprise: null,
    channel: { id: channel, name: "capacity" },
    message: { type: "message", ts: "1718000000.000100", text: "…" },
    response_url: "https://hooks.slack.com/actions/T0ACME/1/2",
    actions: [{ type: "button", action_id: action, block_id: "b", value: request, action_ts: "1718000001.000000" }],
    ...more,
  };
  return form({ payload: JSON.stringify(payload) });
}

type Entered = Readonly<Record<string, object>>;

/** A submitted form. It has no channel, like all forms. */
export function submissionBody(callback: string, entered: Entered, metadata: object, user: string): string {
  const values = Object.fromEntries(Object.entries(entered).map(([field, element]) => [field, { value: element }]));
  const payload = {
    type: "view_submission",
    team: { id: team, domain: "acme" },
    user: person(user),
    api_app_id: "A0KRD7HC3",
    trigger_id: trigger(),
    view: {
      id: "V1",
      type: "modal",
      callback_id: callback,
      private_metadata: JSON.stringify(metadata),
      state: { values },
      hash: "1.2",
    },
    response_urls: [],
  };
  return form({ payload: JSON.stringify(payload) });
}

export const typed = (value: string | null): object => ({ type: "plain_text_input", value });

export interface Interaction {
  readonly method: string;
  readonly text?: string;
  readonly user?: string;
  readonly channel?: string;
  readonly trigger_id?: string;
  readonly view?: View;
  readonly rail: string;
  readonly expires_in: number;
}

export interface View {
  readonly callback_id: string;
  readonly private_metadata: string;
  readonly blocks: readonly {
    readonly block_id: string;
    readonly element: { readonly [property: string]: unknown; readonly type: string };
  }[];
}

export interface Delivery {
  readonly receipt_id: string;
  readonly kind: string;
  readonly outcome: string;
  readonly refusal: string | null;
  readonly member_id: string | null;
  readonly request_id: string | null;
  readonly payload: Record<string, unknown>;
}

/** Acme's Slack: everything goes through the gateway's login, as anon. */
export class Slack {
  readonly workflow: Workflow;

  constructor(workflow: Workflow) {
    this.workflow = workflow;
  }

  /** Delivers a signed body in its own transaction. */
  send(signed: Signed): Promise<SlackAnswer> {
    return overHttp(this.workflow.db, anonymous, (client) => this.sendIn(client, signed));
  }

  /** Delivers inside a transaction that the test has begun and will end. */
  async sendIn(client: ClientBase, { body, headers }: Signed): Promise<SlackAnswer> {
    await client.query(
      "select set_config('request.headers', $1, true), set_config('request.path', '/rpc/handle_slack_webhook', true)",
      [JSON.stringify(headers)],
    );
    await client.query("select public.check_request()");
    const { answer } = await oneOf<{ answer: SlackAnswer }>(
      client,
      "select public.handle_slack_webhook($1) as answer",
      [body],
    );
    return answer;
  }

  /** A separate connection in a transaction as anon, for interleavings. */
  async begin() {
    const client = await this.workflow.db.as("authenticator").connect();
    await client.query("begin");
    await enter(client, anonymous);
    return client;
  }

  command(text: string, user?: string, more?: Record<string, string>): Promise<SlackAnswer> {
    return this.send(sign(commandBody(text, user, more)));
  }

  click(action: string, request: string, user: string, more?: object): Promise<SlackAnswer> {
    return this.send(sign(clickBody(action, request, user, more)));
  }

  /** Signed ahead of the clock unless a time is given, so that a form is not late on a slow machine. */
  submit(callback: string, entered: Entered, metadata: object, user: string, secondsAgo = -60): Promise<SlackAnswer> {
    const at = Math.floor(Date.now() / 1000) - secondsAgo;
    return this.send(sign(submissionBody(callback, entered, metadata, user), { at }));
  }

  /** The forms and notes that wait to be sent, oldest first, without earlier ones. */
  async takeInteractions(): Promise<Interaction[]> {
    const rows = await rowsOf<{ payload: Omit<Interaction, "rail" | "expires_in">; rail: string; expires_in: number }>(
      this.workflow.superuser,
      `with taken as (
         delete from outbox.pending_unordered u using outbox.payloads m, outbox.streams s
          where m.outbox_id = u.outbox_id and s.stream_id = u.stream_id and s.name = 'interactions'
         returning m.payload, m.outbox_id, (select r.name from outbox.rails r where r.rail_id = m.rail_id) as rail, extract(epoch from m.expires_at - m.created_at)::float8 as expires_in)
       select payload, rail, expires_in from taken order by outbox_id`,
    );
    return rows.map(({ payload, rail, expires_in }) => ({ ...payload, rail, expires_in }));
  }

  deliveries(): Promise<Delivery[]> {
    return rowsOf<Delivery>(
      this.workflow.superuser,
      "select receipt_id, kind, outcome, refusal, member_id, request_id, payload from inbound.receipts order by received_at",
    );
  }

  /** Everything that a delivery could have written. */
  async written(): Promise<Record<string, unknown>> {
    return {
      ...(await this.workflow.size()),
      ...(await oneOf<object>(
        this.workflow.superuser,
        "select (select count(*) from inbound.receipts) as deliveries, (select count(*) from directory.members) as members",
      )),
    };
  }
}

/** A database with the directory, connected to Acme's Slack. Call it while tests are collected. */
export async function startSlack(version: EmbeddedVersion): Promise<Slack> {
  const workflow = await startWorkflow(version);
  beforeAll(async () => {
    const superuser = workflow.db.superuser.pool;
    await superuser.query(`alter database ${workflow.db.name} set headroom.secret_key = '${secretKey}'`);
    await superuser.query(
      "update directory.workspaces set slack_team_id = $1, slack_channel_id = $2 where id = 'acme'",
      [team, channel],
    );
    await setSecret(workflow, "SLACK_SIGNING_SECRET", signingSecret);
  });
  return new Slack(workflow);
}

export async function setSecret(workflow: Workflow, name: string, value: string): Promise<void> {
  const control = await workflow.db.as("headroom_control").connect();
  await control.query("select headroom.set_secret($1, $2)", [name, value]);
  await control.end();
}
