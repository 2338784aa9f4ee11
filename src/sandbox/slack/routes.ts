/**
 * Answers the Web API, the response URLs and incoming webhooks.
 *
 * Owns: the method table, the caller's token, and Slack's envelope. Does not own: the methods, or the page.
 */
import { Hono } from "hono";
import { answer, type Dialect, type ProviderCall, type SandboxContext, type SandboxEnv } from "../core/exchange.ts";
import type { World } from "../core/world.ts";
import * as chat from "./api-chat.ts";
import * as reading from "./api-reading.ts";
import * as views from "./api-views.ts";
import { readArguments, SlackError, type Arguments } from "./arguments.ts";
import { receiveWebhook } from "./incoming-webhook.ts";
import { respond } from "./response-url.ts";
import type { SlackState } from "./state.ts";

type Method = (given: Arguments) => Record<string, unknown>;

export function slackRoutes(world: World, state: SlackState): Hono<SandboxEnv> {
  const methods = methodTable(world, state);
  const routes = new Hono<SandboxEnv>();
  routes.on(["POST", "GET"], "/slack/api/:method", (context) => serve(context, world, methods));
  routes.post("/slack/response/:id", async (context) => {
    const body = await context.req.text();
    const call: ProviderCall = { provider: "slack", method: "response_url", body };
    return answer(context, world, call, dialect, () => respond(world, state, context.req.param("id"), body));
  });
  routes.post("/slack/hooks/services/:team/:place/:secret", async (context) => {
    const body = await context.req.text();
    const place = context.req.param("place");
    const call: ProviderCall = { provider: "slack", method: "incoming_webhook", channel: place, body };
    return answer(context, world, call, webhookDialect, () => receiveWebhook(state, place, body));
  });
  return routes;
}

function methodTable(world: World, state: SlackState): ReadonlyMap<string, Method> {
  return new Map<string, Method>([
    ["api.test", (given) => ({ args: given })],
    ["auth.test", () => reading.authTest(world)],
    ["chat.postMessage", (given) => chat.postMessage(state, given)],
    ["chat.update", (given) => chat.update(state, given)],
    ["chat.delete", (given) => chat.remove(state, given)],
    ["chat.postEphemeral", (given) => chat.postEphemeral(state, given)],
    ["conversations.history", (given) => reading.history(state, given)],
    ["conversations.replies", (given) => reading.replies(state, given)],
    ["conversations.info", (given) => reading.conversationInfo(state, given)],
    ["conversations.list", (given) => reading.conversationList(state, given)],
    ["conversations.open", (given) => reading.conversationOpen(state, given)],
    ["users.info", (given) => reading.userInfo(state, given)],
    ["users.list", (given) => reading.userList(world, given)],
    ["users.lookupByEmail", (given) => reading.lookupByEmail(world, given)],
    ["views.open", (given) => views.open(world, state, given)],
    ["views.push", (given) => views.push(world, state, given)],
    ["views.update", (given) => views.update(world, state, given)],
  ]);
}

async function serve(context: SandboxContext, world: World, methods: ReadonlyMap<string, Method>): Promise<Response> {
  const name = context.req.param("method") ?? "";
  let given: Arguments;
  try {
    const type = context.req.header("content-type") ?? "";
    given = readArguments(type, await context.req.text(), new URL(context.req.url).searchParams);
  } catch (error) {
    return refusal(error);
  }
  const channel = typeof given["channel"] === "string" ? given["channel"] : undefined;
  return answer(context, world, { provider: "slack", method: name, channel, body: given }, dialect, () => {
    try {
      authenticate(context, world, given);
      const method = methods.get(name);
      if (method === undefined) throw new SlackError("unknown_method");
      const result = method(given);
      world.changed();
      return Response.json({ ok: true, ...result }, { headers: { "x-oauth-scopes": scopes } });
    } catch (error) {
      return refusal(error);
    }
  });
}

const scopes =
  "chat:write,chat:write.public,commands,channels:history,groups:history,channels:read,im:write,im:history,im:read,users:read,users:read.email";

function authenticate(context: SandboxContext, world: World, given: Arguments): void {
  const bearer = /^Bearer (.+)$/i.exec(context.req.header("authorization") ?? "")?.[1];
  const token = bearer ?? given["token"];
  if (typeof token !== "string" || token === "") throw new SlackError("not_authed");
  const wanted = world.secrets.slackBotToken;
  if (wanted === undefined ? !token.startsWith("xoxb-") : token !== wanted) throw new SlackError("invalid_auth");
}

function refusal(error: unknown): Response {
  if (!(error instanceof SlackError)) throw error;
  return Response.json({
    ok: false,
    error: error.error,
    ...(error.messages.length === 0 ? {} : { errors: error.messages, response_metadata: { messages: error.messages } }),
  });
}

const dialect: Dialect = {
  failed: () => new Response("Internal Server Error", { status: 500 }),
  rateLimited: (seconds) =>
    Response.json({ ok: false, error: "ratelimited" }, { status: 429, headers: { "retry-after": String(seconds) } }),
  refused: (words) => Response.json({ ok: false, error: "restricted_action", detail: words }),
};

/** Webhooks answer with one word instead of an envelope. */
const webhookDialect: Dialect = {
  failed: () => new Response("rollup_error", { status: 500 }),
  rateLimited: (seconds) => new Response("rate_limited", { status: 429, headers: { "retry-after": String(seconds) } }),
  refused: (words) => new Response(`action_prohibited ${words}`, { status: 403 }),
};
