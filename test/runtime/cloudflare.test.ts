/**
 * The Cloudflare Worker in the real Workers runtime: in front of our own REST surface, and in front of a server that records what it gets.
 */
import { readFile } from "node:fs/promises";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { stripTypeScriptTypes } from "node:module";
import type { AddressInfo } from "node:net";
import { Miniflare } from "miniflare";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { startTestGateway } from "../integration/http/harness.ts";
import { clickBody, commandBody, secretKey, sign, startSlack } from "../integration/inbound/slack/slack.ts";

const source = await readFile(new URL("../../deploy/cloudflare/slack-proxy/worker.ts", import.meta.url), "utf8");
const script = stripTypeScriptTypes(source);

/** All of its Workers are stopped at the end of the file. */
const workers: Miniflare[] = [];
afterAll(() => Promise.all(workers.map((worker) => worker.dispose())));

async function startWorker(bindings: Record<string, string>): Promise<string> {
  const worker = new Miniflare({
    modules: true,
    script,
    compatibilityDate: "2026-01-01",
    host: "127.0.0.1",
    port: 0,
    bindings: { SUPABASE_ANON_KEY: "the-anon-key", ...bindings },
  });
  workers.push(worker);
  return String(await worker.ready).replace(/\/$/, "");
}

interface Got {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Replaces PostgREST and receives late answers: holds each answer until the test releases it. */
const got: Got[] = [];
let answering: (response: ServerResponse, request: Got) => void = (response) => void response.end("{}");
let told = (): void => undefined;
const upstream = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    const whole = { path: request.url ?? "", headers: request.headers, body: Buffer.concat(pieces) };
    got.push(whole);
    answering(response, whole);
    told();
  });
}).listen(0, "127.0.0.1");
await once(upstream, "listening");
const upstreamUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
afterAll(() => upstream.close());

const bodyFor = (address: string): string =>
  new URLSearchParams({ command: "/capacity", response_url: address }).toString();

const has = async (count: number): Promise<void> => {
  while (got.length < count) await new Promise<void>((resolve) => (told = resolve));
};

const post = (url: string, body: string | Buffer, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, { method: "POST", body, headers: { "content-type": "application/x-www-form-urlencoded", ...headers } });

describe("in front of a server that records what it gets", async () => {
  const url = await startWorker({ SUPABASE_URL: upstreamUrl });
  const hasty = await startWorker({
    SUPABASE_URL: upstreamUrl,
    ACKNOWLEDGE_MS: "0",
    RESPONSE_URL_BASE: `${upstreamUrl}/hooks/`,
  });
  const lost = await startWorker({ SUPABASE_URL: "http://127.0.0.1:9" });

  beforeEach(() => {
    got.length = 0;
    answering = (response) => void response.end("{}");
  });

  const signed = { "x-slack-signature": "v0=abc", "x-slack-request-timestamp": "1531420618", "x-slack-retry-num": "1" };

  test.each([
    ["every byte that there is", Buffer.from(Array.from({ length: 256 }, (_, index) => index))],
    [
      "broken UTF-8 and percent signs",
      Buffer.concat([Buffer.from("text=%zz+%2B=&="), Buffer.from([0xff, 0xc0, 0x80])]),
    ],
    ["a byte order mark and a line break", Buffer.from("\ufefftext=a\r\n")],
  ])("%s is passed on unchanged, as plain text, with the signature and the key", async (_what, body) => {
    const response = await post(url, body, { ...signed, cookie: "secret", authorization: "Bearer other" });
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect(got).toHaveLength(1);
    expect(got[0]!.body.equals(body)).toBe(true);
    expect(got[0]!.path).toBe("/rest/v1/rpc/handle_slack_webhook");
    expect(got[0]!.headers).toMatchObject({
      ...signed,
      "content-type": "text/plain",
      apikey: "the-anon-key",
      authorization: "Bearer the-anon-key",
    });
    expect(got[0]!.headers.cookie).toBeUndefined();
  });

  test("the database's answer is Slack's answer, byte for byte", async () => {
    const text = '{"response_type" : "ephemeral", "text" : "Söhne 🚀"}';
    answering = (response) => void response.end(text);
    const response = await post(url, "command=%2Fcapacity", signed);
    expect(response.headers.get("content-type")).toContain("application/json");
    expect(await response.text()).toBe(text);
  });

  test.each([400, 401, 403])("a refusal keeps its status (%i) and says nothing more", async (status) => {
    answering = (response) => void response.writeHead(status).end('{"message": "internals"}');
    const response = await post(url, "command=%2Fcapacity", signed);
    expect([response.status, await response.text()]).toEqual([status, ""]);
  });

  test("a broken database is explained to the person who typed a command, and reported to Slack by status otherwise", async () => {
    answering = (response) => void response.writeHead(500).end("internals");
    for (const address of [url, lost]) {
      const typed = await post(address, "command=%2Fcapacity", signed);
      expect([typed.status, await typed.json()]).toMatchObject([
        200,
        { text: expect.stringContaining("could not be reached") },
      ]);
      expect((await post(address, "payload=%7B%7D", signed)).status).toBeGreaterThanOrEqual(500);
    }
  });

  test.each([
    ["a state of the database", 500, '{"code": "57014", "message": "x"}', "Nothing was changed; try again"],
    ["a connection that ended", 503, '{"code": "57P01", "message": "x"}', "It may have been done; `/capacity list`"],
    ["PostgREST's own code", 503, '{"code": "PGRST001", "message": "x"}', "It may have been done; `/capacity list`"],
    ["no JSON", 502, "<html>", "It may have been done; `/capacity list`"],
  ])("only a refusal by the database proves that nothing was changed: %s", async (_what, status, text, said) => {
    answering = (response) => void response.writeHead(status).end(text);
    expect(await (await post(url, "command=%2Fcapacity", signed)).json()).toMatchObject({
      text: expect.stringContaining(said),
    });
  });

  test("a command that fails late reports it to the address that came with it", async () => {
    answering = (response, { path }) =>
      void (path.startsWith("/rest/") ? response.writeHead(503).end("internals") : response.end("ok"));
    expect((await post(hasty, bodyFor(`${upstreamUrl}/hooks/failed`), signed)).status).toBe(200);
    await has(2);
    expect(got[1]!.path).toBe("/hooks/failed");
    expect(JSON.parse(got[1]!.body.toString())).toMatchObject({ text: expect.stringContaining("may have been done") });
  });

  test("a form whose answer takes too long does not close as if it had been accepted", async () => {
    const held: ServerResponse[] = [];
    answering = (response) => void held.push(response);
    const form = new URLSearchParams({ payload: JSON.stringify({ type: "view_submission" }) }).toString();
    const response = await post(hasty, form, signed);
    expect(await response.json()).toMatchObject({ response_action: "update", view: { type: "modal" } });
    await has(1);
    held[0]!.end("{}");
  });

  test("a redirect is not followed: it would carry the key elsewhere", async () => {
    answering = (response) => void response.writeHead(307, { location: `${upstreamUrl}/elsewhere` }).end();
    expect((await post(url, "payload=%7B%7D", signed)).status).toBe(502);
    expect(got.map(({ path }) => path)).toEqual(["/rest/v1/rpc/handle_slack_webhook"]);
  });

  test("an answer that takes too long is acknowledged immediately, and is sent later to the address of the command", async () => {
    const held: ServerResponse[] = [];
    answering = (response, { path }) => void (path.startsWith("/rest/") ? held.push(response) : response.end("ok"));
    const body = new URLSearchParams({ command: "/capacity", response_url: `${upstreamUrl}/hooks/1` }).toString();
    const response = await post(hasty, body, signed);
    expect([response.status, await response.text()]).toEqual([200, ""]);
    await has(1);
    held[0]!.end('{"text": "late"}');
    await has(2);
    expect([got[1]!.path, got[1]!.body.toString()]).toEqual(["/hooks/1", '{"text": "late"}']);
  });

  test("a late answer goes only to its address, and a late refusal is not sent", async () => {
    const held: ServerResponse[] = [];
    answering = (response, { path }) => void (path.startsWith("/rest/") ? held.push(response) : response.end("ok"));
    await post(hasty, bodyFor(`${upstreamUrl}/elsewhere`), signed);
    await post(hasty, bodyFor(`${upstreamUrl}/hooks/refused`), signed);
    await post(hasty, bodyFor(`${upstreamUrl}/hooks/good`), signed);
    await has(3);
    held[0]!.end('{"text": "a"}');
    held[1]!.writeHead(401).end("{}");
    held[2]!.end('{"text": "c"}');
    await has(4);
    expect(got.slice(3).map(({ path }) => path)).toEqual(["/hooks/good"]);
  });

  test("requests that are unsigned, too large or not deliveries are not passed on", async () => {
    expect((await post(url, "command=%2Fcapacity")).status).toBe(401);
    expect((await fetch(url)).status).toBe(405);
    expect((await post(url, "x".repeat(1_048_577), signed)).status).toBe(413);
    expect((await post(url, "ssl_check=1&token=x")).status).toBe(200);
    expect(got).toEqual([]);
  });
});

describe("in front of our own REST surface", async () => {
  const slack = await startSlack(18);
  const gateway = await startTestGateway(slack.workflow.db, { database: { secretKey } });
  const url = await startWorker({ SUPABASE_URL: gateway.url, SUPABASE_ANON_KEY: gateway.keys.anonKey });

  test("a command and a click arrive as if Slack had posted them there, and a forged one does not", async () => {
    const typed = sign(commandBody("create 2XL us-east-1 for A+B = 100% 🚀 owner cora group infra"));
    const { text } = (await (await post(url, typed.body, typed.headers)).json()) as { text: string };
    const id = /CR-\d{4}-\d+/.exec(text)![0];
    expect((await slack.workflow.row(id)).customer_ref).toEqual({ name: "A+B = 100% 🚀" });
    const click = sign(clickBody("tech_approve", id, "U0TESS"));
    const answer = await post(url, click.body, click.headers);
    expect([answer.status, await answer.text()]).toEqual([200, ""]);
    expect((await slack.workflow.row(id)).technical_approved_by).toBe("tess");
    const forged = sign(commandBody("help"), { secret: "0".repeat(32) });
    expect((await post(url, forged.body, forged.headers)).status).toBe(401);
  });
});
