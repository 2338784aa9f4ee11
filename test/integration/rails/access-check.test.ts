/** What a harmless call to a provider shows about the settings; nothing is sent to anybody, and no secret is repeated. */
import { createServer, type Socket } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { checkEmailAccess } from "../../../src/rails/email/access-check.ts";
import { checkGithubAccess } from "../../../src/rails/github-actions/access-check.ts";
import { checkLinearAccess } from "../../../src/rails/linear/access-check.ts";
import type { AccessCheck } from "../../../src/rails/access-check.ts";
import { checkSlackAccess } from "../../../src/rails/slack/access-check.ts";
import { checkStripeAccess } from "../../../src/rails/stripe/access-check.ts";
import { startScriptedServer, type ScriptedServer } from "./scripted-server.ts";

const secret = "a-very-secret-token";
const patience = (): AbortSignal => AbortSignal.timeout(5_000);

let provider: ScriptedServer;

beforeEach(async () => {
  provider = await startScriptedServer();
});

afterEach(async () => {
  await provider.close();
});

const identity = { ok: true, team: "Acme", user: "headroom" };
const allScopes = "chat:write,im:write,channels:history,groups:history,im:history";

function slack(scopes: string, ...channels: readonly string[]): Promise<AccessCheck> {
  provider.script.unshift({ body: identity, headers: { "x-oauth-scopes": scopes } });
  return checkSlackAccess({ token: secret, apiUrl: `${provider.url}/api/` }, channels, patience());
}

describe("Slack", () => {
  test("returns the user that the token belongs to", async () => {
    provider.script.push({ body: { ok: true, messages: [] } });
    expect(await slack(allScopes, "C1")).toEqual({ kind: "answers", as: "headroom in Acme" });
    expect(provider.requests.map(({ path }) => path)).toEqual(["/api/auth.test", "/api/conversations.history"]);
  });

  test("a token that lacks a scope for posting is a serious problem, one that lacks a scope for lookups a slight one", async () => {
    expect(await slack("im:write,channels:history,groups:history,im:history")).toMatchObject({
      what: "lacking",
      grave: true,
      reason: "The token lacks the scopes chat:write.",
      remedy: expect.stringContaining("install it again"),
    });
    expect(await slack("chat:write,channels:history,im:history")).toMatchObject({
      grave: false,
      reason: "The token lacks the scopes im:write, groups:history.",
    });
  });

  test.each([
    ["channel_not_found", true],
    ["is_archived", true],
    ["not_in_channel", false],
  ])("a channel that says %s is named", async (error, grave) => {
    provider.script.push({ body: { ok: true, messages: [] } }, { body: { ok: false, error } });
    expect(await slack(allScopes, "C1", "C2")).toMatchObject({ grave, reason: expect.stringContaining("C2") });
  });

  test("a failure on Slack's side is not the token's fault", async () => {
    provider.script.push({ status: 503 });
    const settings = { token: secret, apiUrl: `${provider.url}/api/` };
    expect(await checkSlackAccess(settings, [], patience())).toMatchObject({ what: "unreachable", grave: true });
  });
});

test("Linear: a key that it does not accept, and a team that it does not know", async () => {
  const ask = (): Promise<AccessCheck> =>
    checkLinearAccess({ apiKey: secret, apiUrl: provider.url }, ["team-1"], patience());
  const refusal = (code: string) => ({ body: { errors: [{ message: `about ${secret}`, extensions: { code } }] } });
  provider.script.push(refusal("AUTHENTICATION_ERROR"));
  expect(await ask()).toMatchObject({ what: "refused", reason: expect.not.stringContaining(secret) });
  provider.script.push({ body: { data: { viewer: { name: "Ada" } } } }, refusal("ENTITY_NOT_FOUND"));
  expect(await ask()).toMatchObject({ what: "lacking", grave: true, reason: expect.stringContaining("team-1") });
  provider.script.push({ body: { data: { viewer: { name: "Ada" } } } }, { body: { data: { team: { states: {} } } } });
  expect(await ask()).toEqual({ kind: "answers", as: "Ada" });
});

test("GitHub: a token that it does not accept, one that it does, and no answer", async () => {
  const settings = { token: secret, apiUrl: provider.url };
  provider.script.push({ status: 401, body: { message: "Bad credentials" } }, { body: { rate: {} } }, { silent: true });
  expect(await checkGithubAccess(settings, [], patience())).toMatchObject({ what: "refused" });
  expect(await checkGithubAccess(settings, [], patience())).toMatchObject({ kind: "answers" });
  expect(await checkGithubAccess(settings, [], AbortSignal.timeout(50))).toMatchObject({ what: "unreachable" });
  expect(provider.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(Array(3).fill("GET /rate_limit"));
});

test("Stripe: a key that it does not accept, one that may not read everything, and one that may", async () => {
  const secretKey = "rk_test_very_secret";
  const ask = (): Promise<AccessCheck> => checkStripeAccess({ secretKey, apiUrl: provider.url }, patience());
  const error = { type: "invalid_request_error", message: `Invalid API Key provided: ${secretKey}` };
  provider.script.push({ status: 401, body: { error } });
  expect(await ask()).toMatchObject({ what: "refused", reason: expect.not.stringContaining(secretKey) });
  const page = { body: { object: "list", data: [], has_more: false } };
  provider.script.push(page, page, page, { status: 403, body: { error: { type: "invalid_request_error" } } });
  expect(await ask()).toMatchObject({ what: "lacking", grave: true, reason: expect.stringContaining("Subscriptions") });
  provider.script.push(...Array.from({ length: 7 }, () => page));
  expect(await ask()).toEqual({ kind: "answers", as: "a key of the test mode, which moves no money" });
  expect(provider.requests.every(({ method }) => method === "GET")).toBe(true);
  provider.script.push({ status: 503, body: "" });
  expect(await ask()).toMatchObject({ what: "unreachable" });
});

const refused = (code: string) => ({ body: { status: "error", data: { code } } });

test("Postal: asked about a message that cannot exist, it shows whether it knows the key", async () => {
  const transport = { kind: "postal", url: provider.url, key: secret } as const;
  const ask = (): Promise<AccessCheck> => checkEmailAccess({ from: "a@b.example", transport }, patience());
  provider.script.push(refused("MessageNotFound"), refused("InvalidServerAPIKey"), { status: 404 }, { body: "<html>" });
  expect(await ask()).toMatchObject({ kind: "answers" });
  expect(await ask()).toMatchObject({ what: "refused" });
  expect(await ask()).toMatchObject({ kind: "problem", reason: expect.stringContaining("HTTP 404") });
  expect(await ask()).toMatchObject({ what: "unreachable" });
  expect(provider.requests.map(({ path }) => path)).toEqual(Array(4).fill("/api/v1/messages/message"));
});

/** A mail server that accepts a login or not, and records its commands. */
async function startMailServer(answerToLogin: string): Promise<{ readonly url: string; readonly commands: string[] }> {
  const commands: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.write("220 mail.example ESMTP\r\n");
    socket.on("data", (data) => {
      const [command = ""] = data.toString().split(/[\s:]/, 1);
      commands.push(command.toUpperCase());
      if (/^EHLO$/i.test(command)) socket.write("250-mail.example\r\n250 AUTH PLAIN\r\n");
      else if (/^AUTH$/i.test(command)) socket.write(`${answerToLogin}\r\n`);
      else socket.end("221 bye\r\n");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `smtp://user:${secret}@127.0.0.1:${port}`, commands };
}

function logIn(url: string): Promise<AccessCheck> {
  return checkEmailAccess({ from: "a@b.example", transport: { kind: "smtp", url } }, patience());
}

test("a mail server: the check greets it and logs in, and sends no mail", async () => {
  const open = await startMailServer("235 2.7.0 Accepted");
  expect(await logIn(open.url)).toMatchObject({ kind: "answers", as: expect.stringContaining("127.0.0.1") });
  expect(open.commands.slice(0, 2)).toEqual(["EHLO", "AUTH"]);
  expect(open.commands).not.toContain("MAIL");
  const closed = await startMailServer("535 5.7.8 Authentication failed");
  expect(await logIn(closed.url)).toEqual({
    kind: "problem",
    what: "refused",
    grave: true,
    reason: "The mail server does not accept the user name and password (535 5.7.8).",
  });
  expect(await logIn("smtp://127.0.0.1:1")).toMatchObject({ what: "unreachable" });
});
