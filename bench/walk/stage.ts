/**
 * A temporary server with a workspace that posts to Slack and asks customers, the HTTP application in front of it on one connection, and
 * one SQL login.
 */
import { createHmac } from "node:crypto";
import { Client } from "pg";
import { makeGatewayKeys, signToken } from "../../src/cli/make-keys.ts";
import { startEmbedded } from "../../src/db/embedded.ts";
import { openGatewayLogin } from "../../src/db/gateway-login.ts";
import { migrate } from "../../src/db/migrate.ts";
import { setSecret } from "../../src/db/secrets/index.ts";
import { createApp } from "../../src/http/app.ts";
import { createGatewayDatabase } from "../../src/http/database/gateway-database.ts";
import { copyRequest, prepareWorkspace, submitDelivered } from "../approvals.ts";
import { Meter } from "./meter.ts";

const SECRET_KEY = "a-key-of-thirty-two-bytes-or-more-to-walk";
const SIGNING_SECRET = "8f742231b10e8888abcd99yyyzzz85a5";
const SETTINGS = {
  shared_preload_libraries: "pg_stat_statements",
  "pg_stat_statements.track": "all",
  track_functions: "all",
  fsync: "off",
} as const;
const REQUESTS = 100;
const FLUSH = "select pg_stat_force_next_flush()";

export interface Stage extends AsyncDisposable {
  readonly meter: Meter;
  /** An SQL login, for actors without HTTP. */
  readonly sql: Client;
  /** A request that waits for both reviews and has not been returned before. */
  nextRequest(): string;
  /** Sends to the HTTP application as a machine or as a member; throws unless the answer is a success. */
  http(who: "service" | { readonly member: string }, method: string, path: string, body?: object): Promise<unknown>;
  /** A slash command, as Slack sends it. */
  slack(text: string, slackUserId: string): Promise<string>;
}

export async function openStage(): Promise<Stage> {
  await using undo = new AsyncDisposableStack();
  const server = await startEmbedded({ ephemeral: true, settings: SETTINGS });
  undo.defer(() => server.stop());
  const sql = new Client(server.url);
  await sql.connect();
  undo.defer(() => sql.end());
  await prepare(sql, server.url);
  const observer = new Client({
    connectionString: server.url,
    options: "-c pg_stat_statements.track=none -c track_functions=none",
  });
  await observer.connect();
  undo.defer(() => observer.end());

  const keys = await makeGatewayKeys();
  const database = createGatewayDatabase({
    url: await openGatewayLogin(sql, server.url, "for-this-run-only"),
    // One connection, so that the backend that is asked for its counts is the one that did the work.
    maxConnections: 1,
    secretKey: SECRET_KEY,
  });
  undo.defer(() => database.close());
  const app = createApp({ database, keys, publicUrl: "http://127.0.0.1", log: () => {} });
  const ask = async (path: string, init: RequestInit): Promise<string> => {
    const answer = await app.fetch(new Request(`http://127.0.0.1${path}`, init), { address: "127.0.0.1" });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${path} was answered with ${answer.status}: ${text}`);
    return text;
  };

  let given = 0;
  const owned = undo.move();
  return {
    meter: new Meter(observer, () => Promise.all([database.ask({ text: FLUSH }), sql.query(FLUSH)])),
    sql,
    nextRequest() {
      given += 1;
      if (given > REQUESTS) throw new Error("more requests are walked on than there are");
      return `CR-2000-${String(given).padStart(6, "0")}`;
    },
    async http(who, method, path, body) {
      const token = who === "service" ? keys.serviceKey : await memberToken(who.member, keys.jwtSecret);
      const headers = {
        apikey: who === "service" ? keys.serviceKey : keys.anonKey,
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
      };
      return JSON.parse(await ask(path, { method, headers, body: body === undefined ? null : JSON.stringify(body) }));
    },
    slack(text, slackUserId) {
      const body = commandBody(text, slackUserId);
      const timestamp = String(Math.floor(Date.now() / 1000));
      const digest = createHmac("sha256", SIGNING_SECRET).update(`v0:${timestamp}:${body}`).digest("hex");
      return ask("/webhooks/slack", {
        method: "POST",
        body,
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          "x-slack-request-timestamp": timestamp,
          "x-slack-signature": `v0=${digest}`,
        },
      });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function prepare(client: Client, url: string): Promise<void> {
  await migrate(client);
  // Not in public, because that schema is exposed over HTTP.
  await client.query("create schema walk; create extension pg_stat_statements schema walk");
  await prepareWorkspace(client);
  await client.query(
    "update directory.workspaces set slack_team_id = 'T0ACME', public_url = 'https://capacity.acme.example' where id = 'default'",
  );
  const secrets = { SLACK_SIGNING_SECRET: SIGNING_SECRET, CONFIRMATION_TOKEN_SECRET: "c".repeat(40) };
  for (const [name, value] of Object.entries(secrets)) await setSecret(client, { name, value, key: SECRET_KEY });
  const model = await submitDelivered(client, url, { name: "Acme", email: "buyer@acme.example" });
  await copyRequest(client, model, REQUESTS);
  await client.query("vacuum analyze");
}

function memberToken(memberId: string, jwtSecret: string): Promise<string> {
  const whoIs = { workspace_id: "default", member_id: memberId };
  return signToken({ role: "authenticated", sub: "7f9d", app_metadata: whoIs }, { jwtSecret, expiresAt: null });
}

let commands = 0;

/** The fields of Slack's request that are read. */
function commandBody(text: string, slackUserId: string): string {
  commands += 1;
  return new URLSearchParams({
    token: "xyzz0WbapA4vBCDEFasx0q6G",
    team_id: "T0ACME",
    team_domain: "acme",
    channel_id: "C0123456",
    channel_name: "capacity",
    user_id: slackUserId,
    user_name: slackUserId.toLowerCase(),
    command: "/capacity",
    text,
    api_app_id: "A0KRD7HC3",
    is_enterprise_install: "false",
    response_url: "https://hooks.slack.com/commands/T0ACME/397700885554/96rGlfmibIGlgcZRskXaIFfN",
    trigger_id: `${commands}.47445629121.0123456789abcdef`,
  }).toString();
}
