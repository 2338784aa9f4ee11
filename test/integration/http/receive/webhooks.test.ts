/**
 * Providers' deliveries over real HTTP: the raw bytes, signatures by each scheme, and an answer to Slack in time.
 */
import { createHmac, generateKeyPairSync, randomUUID, sign as signBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { Stripe } from "stripe";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rowsOf } from "../../capacity/harness.ts";
import {
  clickBody,
  commandBody,
  secretKey,
  setSecret,
  sign,
  type Signed,
  startSlack,
} from "../../inbound/slack/slack.ts";
import { startTestGateway } from "../harness.ts";

const slack = await startSlack(18);
const { workflow } = slack;

/** Receives late answers: each is waited for, in order. */
const arrivals: { path: string; body: unknown }[] = [];
let arrived = (): void => undefined;
const hook = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    arrivals.push({ path: request.url ?? "", body: JSON.parse(Buffer.concat(pieces).toString()) });
    response.end("ok");
    arrived();
  });
}).listen(0, "127.0.0.1");
await once(hook, "listening");
const hookUrl = `http://127.0.0.1:${(hook.address() as AddressInfo).port}`;
afterAll(() => hook.close());

const nextArrival = async (): Promise<{ path: string; body: unknown }> => {
  if (arrivals.length === 0) await new Promise<void>((resolve) => (arrived = resolve));
  return arrivals.shift()!;
};

const gateway = await startTestGateway(workflow.db, { database: { secretKey } });
/** Gives up on the database early. */
const hasty = await startTestGateway(workflow.db, {
  database: { secretKey },
  dependencies: { webhooks: { acknowledgeMs: 50, slackResponseUrls: [`${hookUrl}/hooks/`] } },
});

/** Checks repeatedly until it holds, or for ten seconds. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!(await holds()) && performance.now() < deadline) await delay(10);
}
const logged = (event: string): Promise<void> => until(() => hasty.log.some((entry) => entry.event === event));

const post = (
  url: string,
  path: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Response> => fetch(`${url}${path}`, { method: "POST", body, headers });
const toSlack = (signed: Signed, url = gateway.url): Promise<Response> =>
  post(url, "/webhooks/slack", signed.body, {
    ...signed.headers,
    "content-type": "application/x-www-form-urlencoded",
  });

/** A Slack request while another transaction holds the secret and the workspace, which are read first, so that no answer can be in time. */
async function toSlackLate(signed: Signed): Promise<Response> {
  const holder = await workflow.db.superuser.connect();
  await holder.query("begin");
  await holder.query("lock table headroom.boxes, directory.workspaces");
  const response = await toSlack(signed, hasty.url);
  await holder.query("commit");
  await holder.end();
  return response;
}

describe("Slack", () => {
  test("a command is answered with the database's answer", async () => {
    const response = await toSlack(sign(commandBody("help")));
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      response_type: "ephemeral",
      text: expect.stringContaining("/capacity"),
    });
  });

  test("text with a plus, a percent sign, an equals sign and emoji arrives as it was typed", async () => {
    const response = await toSlack(sign(commandBody("create 2XL us-east-1 for A+B = 100% 🚀 owner cora group infra")));
    const { text } = (await response.json()) as { text: string };
    const { customer_ref } = await workflow.row(/CR-\d{4}-\d+/.exec(text)![0]);
    expect(customer_ref).toEqual({ name: "A+B = 100% 🚀" });
  });

  test("a click gets an empty answer", async () => {
    const id = await workflow.createIn("UNDER_REVIEW");
    const response = await toSlack(sign(clickBody("tech_approve", id, "U0TESS")));
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect((await workflow.row(id)).technical_approved_by).toBe("tess");
  });

  test("a forged request is refused with problem details, and nothing is written", async () => {
    const before = await slack.written();
    const response = await toSlack(sign(commandBody("help"), { secret: "0".repeat(32) }));
    expect(response.status).toBe(401);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await response.json()).toMatchObject({ code: "bad_signature" });
    expect((await post(gateway.url, "/webhooks/slack", commandBody("help"))).status).toBe(401);
    expect(await slack.written()).toEqual(before);
  });

  test.each(["slack", "linear", "github", "stripe"])(
    "a large body without a signature of %s is not waited for",
    async (name) => {
      const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
      socket.write(
        `POST /webhooks/${name} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 1000000\r\n\r\nonly the beginning`,
      );
      const [answer] = (await once(socket, "data")) as [Buffer];
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 401 /);
      socket.destroy();
    },
  );

  test("bytes that are not UTF-8 are refused, however they are signed", async () => {
    const bytes = Buffer.from([0x74, 0x3d, 0xff, 0xfe]);
    const timestamp = String(Math.floor(Date.now() / 1000));
    const digest = createHmac("sha256", "8f742231b10e8888abcd99yyyzzz85a5")
      .update(`v0:${timestamp}:`)
      .update(bytes)
      .digest("hex");
    const response = await post(gateway.url, "/webhooks/slack", bytes, {
      "x-slack-request-timestamp": timestamp,
      "x-slack-signature": `v0=${digest}`,
    });
    expect(response.status).toBe(400);
  });

  test("the check of the certificate needs no signature and does nothing", async () => {
    const response = await post(gateway.url, "/webhooks/slack", "ssl_check=1&token=x");
    expect([response.status, await response.text()]).toEqual([200, ""]);
  });

  test("a slow command is acknowledged immediately, and its answer follows at the address that Slack gave", async () => {
    const signed = sign(
      commandBody("create 2XL us-east-1 owner cora group infra", "U0RITA", { response_url: `${hookUrl}/hooks/1/2` }),
    );
    const response = await toSlackLate(signed);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      response_type: "ephemeral",
      text: "Still working on it. The answer follows here.",
    });
    const late = await nextArrival();
    expect(late.path).toBe("/hooks/1/2");
    expect(late.body).toMatchObject({ text: expect.stringMatching(/^\*CR-\d{4}-\d+\* is under review/) });
  });

  test("a click that waits for a lock is acknowledged, and decides when the lock is released", async () => {
    const id = await workflow.createIn("UNDER_REVIEW");
    const holder = await workflow.db.superuser.connect();
    await holder.query("begin");
    await holder.query("select from capacity.requests where id = $1 for update", [id]);
    const response = await toSlack(sign(clickBody("tech_approve", id, "U0TESS")), hasty.url);
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect((await workflow.row(id)).version).toBe(1);
    await holder.query("commit");
    await holder.end();
    await until(async () => (await workflow.row(id)).version > 1);
    expect((await workflow.row(id)).technical_approved_by).toBe("tess");
  });

  test("a late answer is sent only to Slack or its stand-in", async () => {
    const elsewhere = sign(commandBody("help", "U0RITA", { response_url: `${hookUrl}/elsewhere` }));
    await toSlackLate(elsewhere);
    await logged("slack_response_url_refused");
    const good = sign(commandBody("help", "U0RITA", { response_url: `${hookUrl}/hooks/good` }));
    await toSlackLate(good);
    expect((await nextArrival()).path).toBe("/hooks/good");
    expect(arrivals).toEqual([]);
  });

  test("a forged command gets no answer, however late", async () => {
    const forged = sign(commandBody("help", "U0RITA", { response_url: `${hookUrl}/hooks/forged` }), {
      secret: "0".repeat(32),
    });
    expect((await toSlackLate(forged)).status).toBe(200);
    await logged("slack_late_answer_failed");
    await toSlackLate(sign(commandBody("help", "U0RITA", { response_url: `${hookUrl}/hooks/after` })));
    expect((await nextArrival()).path).toBe("/hooks/after");
    expect(arrivals).toEqual([]);
  });

  test("a command typed while the database is unavailable gets an explanation", async () => {
    const broken = await startTestGateway(workflow.db, {
      database: { secretKey: "another key, under which nothing opens" },
    });
    const response = await toSlack(sign(commandBody("help")), broken.url);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ text: expect.stringContaining("not set up") });
    expect((await toSlack(sign(clickBody("tech_approve", "CR-2026-000001", "U0TESS")), broken.url)).status).toBe(503);
    await broken.stop();
  });
});

const stripeBody = (id: string): string =>
  JSON.stringify({
    id,
    object: "event",
    type: "checkout.session.completed",
    created: 1_790_000_000,
    data: {
      object: {
        id: "cs_1",
        object: "checkout.session",
        payment_status: "paid",
        client_reference_id: "CR-2026-000001",
        customer_details: { email: "ann@initech.example", name: "Ann" },
      },
    },
  });

const postalBody = (uuid: string): string =>
  JSON.stringify({
    event: "MessageSent",
    timestamp: 1_790_000_000.5,
    uuid,
    payload: { status: "Sent", message: { id: 3, token: "SECRET", message_id: "<m@x>", to: "ann@initech.example" } },
  });

const keptOf = (provider: string): Promise<{ receipt_id: string; kind: string; payload: unknown }[]> =>
  rowsOf(
    workflow.superuser,
    "select receipt_id, kind, payload from inbound.receipts where provider = $1 order by received_at",
    [provider],
  );

const ask = (name: string, body: object): Promise<Response> =>
  post(gateway.url, `/rest/v1/rpc/${name}`, JSON.stringify(body), {
    apikey: gateway.keys.serviceKey,
    authorization: `Bearer ${gateway.keys.serviceKey}`,
    "content-type": "application/json",
  });

describe("Stripe, GitHub and Postal", () => {
  const stripeSecret = `whsec_${"s".repeat(32)}`;
  const githubSecret = "g".repeat(40);
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const otherKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;

  beforeAll(async () => {
    await setSecret(workflow, "STRIPE_WEBHOOK_SECRET", stripeSecret);
    await setSecret(workflow, "GITHUB_WEBHOOK_SECRET", githubSecret);
    const der = publicKey.export({ type: "spki", format: "der" });
    await setSecret(workflow, "POSTAL_WEBHOOK_PUBLIC_KEY", der.toString("base64"));
  });

  const stripeHeaders = (payload: string, secret = stripeSecret, at?: number): Record<string, string> => ({
    "stripe-signature": Stripe.webhooks.generateTestHeaderString({
      payload,
      secret,
      ...(at === undefined ? {} : { timestamp: at }),
    }),
  });
  const githubBody = JSON.stringify({
    action: "completed",
    workflow_run: {
      id: 7,
      name: "provision",
      status: "completed",
      conclusion: "success",
      head_commit: { author: { email: "ann@x" } },
    },
    repository: { full_name: "acme/infra" },
  });
  const githubHeaders = (body: string, delivery: string, secret = githubSecret): Record<string, string> => ({
    "x-github-delivery": delivery,
    "x-github-event": "workflow_run",
    "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
  });
  const postalHeaders = (body: string, key = privateKey): Record<string, string> => ({
    "x-postal-signature-256": signBytes("sha256", Buffer.from(body), key).toString("base64"),
  });

  test("each is stored once, with what proves it and no personal data", async () => {
    const uuid = randomUUID();
    const stripe = stripeBody("evt_1");
    const postal = postalBody(uuid);
    for (const [path, body, headers] of [
      ["/webhooks/stripe", stripe, stripeHeaders(stripe)],
      ["/webhooks/github", githubBody, githubHeaders(githubBody, uuid)],
      ["/webhooks/postal", postal, postalHeaders(postal)],
    ] as const) {
      const first = await post(gateway.url, path, body, headers);
      expect([first.status, await first.json()]).toMatchObject([200, { received: true, new: true }]);
      expect(await (await post(gateway.url, path, body, headers)).json()).toEqual({ received: true, new: false });
    }
    expect(await keptOf("stripe")).toMatchObject([{ receipt_id: "evt_1", kind: "checkout.session.completed" }]);
    // GitHub signs no id: a repeat is recognised by its bytes.
    expect(await keptOf("github")).toMatchObject([
      { kind: "workflow_run", payload: { delivery: uuid, action: "completed", run_id: "7", repository: "acme/infra" } },
    ]);
    expect(await keptOf("postal")).toMatchObject([{ receipt_id: uuid, kind: "MessageSent" }]);
    const all = JSON.stringify([await keptOf("stripe"), await keptOf("github"), await keptOf("postal")]);
    for (const personal of ["ann@", "Ann", "SECRET"]) expect(all).not.toContain(personal);
  });

  test.each<[string, string, string, () => Record<string, string>]>([
    [
      "Stripe's under another secret",
      "stripe",
      stripeBody("evt_2"),
      () => stripeHeaders(stripeBody("evt_2"), "whsec_x"),
    ],
    [
      "Stripe's of six minutes ago",
      "stripe",
      stripeBody("evt_2"),
      () => stripeHeaders(stripeBody("evt_2"), stripeSecret, Math.floor(Date.now() / 1000) - 360),
    ],
    ["Stripe's of another body", "stripe", `${stripeBody("evt_2")} `, () => stripeHeaders(stripeBody("evt_2"))],
    ["Stripe's, garbled", "stripe", stripeBody("evt_2"), () => ({ "stripe-signature": "t=x,v1=" })],
    ["no signature of Stripe", "stripe", stripeBody("evt_2"), () => ({})],
    ["GitHub's under another secret", "github", githubBody, () => githubHeaders(githubBody, randomUUID(), "x")],
    ["GitHub's of another body", "github", `${githubBody} `, () => githubHeaders(githubBody, randomUUID())],
    ["GitHub's SHA-1 alone", "github", githubBody, () => ({ "x-hub-signature": "sha1=0000" })],
    ["no signature of GitHub", "github", githubBody, () => ({})],
    ["Postal's under another key", "postal", postalBody("u"), () => postalHeaders(postalBody("u"), otherKey)],
    ["Postal's of another body", "postal", `${postalBody("u")} `, () => postalHeaders(postalBody("u"))],
    ["Postal's SHA-1 alone", "postal", postalBody("u"), () => ({ "x-postal-signature": "AAAA" })],
    ["no signature of Postal", "postal", postalBody("u"), () => ({})],
  ])("a delivery with %s is refused, and nothing is written", async (_what, provider, body, headers) => {
    const before = await slack.written();
    const response = await post(gateway.url, `/webhooks/${provider}`, body, headers());
    expect([response.status, await response.json()]).toMatchObject([401, { code: "bad_signature" }]);
    expect(await slack.written()).toEqual(before);
  });

  test.each([
    ["stripe", "not json", () => stripeHeaders("not json")],
    ["stripe", "{}", () => stripeHeaders("{}")],
    ["github", "[]", () => githubHeaders("[]", randomUUID())],
    ["github", "not json", () => githubHeaders("not json", randomUUID())],
    ["postal", '{"event": 1}', () => postalHeaders('{"event": 1}')],
  ] as const)(
    "a delivery that %s signed but would not send (%s) is refused, and nothing is written",
    async (provider, body, headers) => {
      const before = await slack.written();
      expect((await post(gateway.url, `/webhooks/${provider}`, body, headers())).status).toBe(400);
      expect(await slack.written()).toEqual(before);
    },
  );

  test("while a key is being replaced, signatures of the old one are still accepted", async () => {
    await setSecret(workflow, "GITHUB_WEBHOOK_SECRET", "n".repeat(40));
    expect(
      (await post(gateway.url, "/webhooks/github", githubBody, githubHeaders(githubBody, randomUUID()))).status,
    ).toBe(401);
    await setSecret(workflow, "GITHUB_WEBHOOK_SECRET_PREVIOUS", githubSecret);
    expect(
      (await post(gateway.url, "/webhooks/github", githubBody, githubHeaders(githubBody, randomUUID()))).status,
    ).toBe(200);
  });

  test("a service key cannot read the keys, nor claim that something was received", async () => {
    for (const response of [
      await ask("webhook_keys", { p_provider: "stripe" }),
      await ask("record_receipt", {
        p_provider: "stripe",
        p_receipt_id: "x",
        p_kind: "x",
        p_payload: {},
      }),
    ]) {
      expect(response.status).toBe(403);
      expect(await response.text()).not.toContain("whsec");
    }
  });

  test("the sweep deletes deliveries after ninety days", async () => {
    await rowsOf(
      workflow.superuser,
      "update inbound.receipts set received_at = now() - interval '91 days' where provider = 'stripe'",
    );
    await rowsOf(workflow.superuser, "select public.run_capacity_request_timers()");
    expect([await keptOf("stripe"), (await keptOf("postal")).length]).toEqual([[], 1]);
  });
});
