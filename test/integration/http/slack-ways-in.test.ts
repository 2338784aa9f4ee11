/**
 * Both entrances for Slack's requests, our own route and PostgREST's path for the receiver, have the same checks: signature, age and size,
 * before any lock or secret; and no other spelling of a path and no header bypasses them.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { oneOf } from "../capacity/harness.ts";
import { commandBody, secretKey, sign, type Signed, startSlack } from "../inbound/slack/slack.ts";
import { startTestGateway } from "./harness.ts";

const slack = await startSlack(18);
const { db } = slack.workflow;
const gateway = await startTestGateway(db, { database: { secretKey } });

const send = (path: string, { body, headers }: Signed, more: Record<string, string> = {}): Promise<Response> =>
  fetch(`${gateway.url}${path}`, {
    method: "POST",
    body,
    headers: { ...headers, "content-type": "text/plain", apikey: gateway.keys.anonKey, ...more },
  });

const waysIn = ["/webhooks/slack", "/rest/v1/rpc/handle_slack_webhook"];
const now = (): number => Math.floor(Date.now() / 1000);
const good = (): Signed => sign(commandBody("help"));
const bad: readonly (readonly [string, () => Signed])[] = [
  ["unsigned", () => ({ body: commandBody("help"), headers: {} })],
  ["stale", () => sign(commandBody("help"), { at: now() - 360 })],
  ["garbled", () => ({ ...good(), headers: { ...good().headers, "x-slack-signature": "v0=zz" } })],
];
const forged = (): Signed => sign(commandBody("help"), { secret: "0".repeat(32) });
const tooLarge = (): Signed => sign(commandBody("x".repeat(1_048_576)));

describe.each(waysIn)("%s", (path) => {
  test("a signed request is answered", async () => {
    const response = await send(path, good());
    expect([response.status, await response.json()]).toMatchObject([200, { response_type: "ephemeral" }]);
  });

  test.each([...bad, ["forged", forged] as const])("a request that is %s is refused", async (_what, make) => {
    const before = await slack.written();
    const response = await send(path, make());
    expect([response.status, await response.text()]).toEqual([401, expect.stringContaining("bad_signature")]);
    expect(await slack.written()).toEqual(before);
  });

  test("a request that is too large is refused", async () => {
    expect((await send(path, tooLarge())).status).toBe(413);
  });

  test("no header changes where a request goes", async () => {
    for (const name of ["x-original-url", "x-rewrite-url", "x-forwarded-prefix", "x-forwarded-path", "request.path"]) {
      const response = await send(path, bad[0]![1](), { [name]: "/rpc/who_am_i", "x-http-method-override": "GET" });
      expect([name, response.status]).toEqual([name, 401]);
    }
  });
});

test.each([
  "/webhooks/%73lack",
  "/webhooks/slack/",
  "//webhooks/slack",
  "/webhooks//slack",
  "/Webhooks/Slack",
  "/x/../webhooks/slack",
  "/webhooks/slack;x=1",
  "/webhooks/slack%2f",
  "/rest/v1/rpc/handle%5Fslack_webhook",
  "/rest/v1//rpc/handle_slack_webhook",
  "/rest/v1/rpc//handle_slack_webhook",
  "/rest/v1/rpc/Handle_Slack_Webhook",
  "/rest/v1/rpc/handle_slack_webhook/",
  "/rest/v1/rpc/handle_slack_webhook%00",
  "/rpc/handle_slack_webhook",
])("the spelling %s bypasses no check", async (path) => {
  const before = await slack.written();
  for (const [, make] of [...bad, ["forged", forged] as const]) {
    const response = await send(path, make());
    expect([401, 404]).toContain(response.status);
    expect(response.status === 404 || (await response.text()).includes("bad_signature")).toBe(true);
  }
  expect(await slack.written()).toEqual(before);
});

/** What PostgREST reports as the request's path: not decoded, whatever function it found by it. */
const paths = [
  "/rpc/handle_slack_webhook",
  "/webhooks/slack",
  "/rpc/handle%5Fslack_webhook",
  "//rpc/handle_slack_webhook",
  "/rpc/who_am_i",
  "",
];

describe.each(paths)("as PostgREST calls the receiver, with the path %j", (path) => {
  const lines: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const end of lines) await end();
  });

  beforeAll(async () => {
    const holder = await db.superuser.connect();
    await holder.query("begin");
    await holder.query("lock table headroom.boxes");
    await holder.query("lock table directory.workspaces, directory.members, inbound.receipts in exclusive mode");
    lines.push(async () => {
      await holder.query("rollback");
      await holder.end();
    });
  });

  test.each([...bad, ["too large", tooLarge] as const])(
    "a request that is %s is refused while everything it could wait for is locked",
    async (what, make) => {
      const { body, headers } = make();
      const client = await slack.begin();
      await client.query("set local lock_timeout = '1ms'");
      await client.query("select set_config('request.headers', $1, true), set_config('request.path', $2, true)", [
        JSON.stringify(headers),
        path,
      ]);
      const called = oneOf(client, "select public.check_request(), public.handle_slack_webhook($1)", [body]);
      await expect(called).rejects.toMatchObject({
        detail: expect.stringMatching(what === "too large" ? /^payload_too_large/ : /^bad_signature/),
      });
      await client.end();
    },
  );
});
