/** What the webhook rail sends, and how it treats every answer; over real sockets. */
import { afterEach, describe, expect, test } from "vitest";
import type { RailOutcome } from "../../../../src/contract/rail.ts";
import type { WebhookEndpoint, WebhookRailOptions } from "../../../../src/rails/webhook/rail.ts";
import { messageOf, notAborted } from "../messages.ts";
import type { Fault } from "../receiver/receiver-faults.ts";
import type { ReceiverOptions } from "../receiver/receiver.ts";
import { newSecret, openWebhookSandbox } from "./webhook-harness.ts";
import type { WebhookSandbox } from "./webhook-harness.ts";

const opened: WebhookSandbox[] = [];

async function open(rail: Partial<WebhookRailOptions> = {}, receiver: ReceiverOptions = {}): Promise<WebhookSandbox> {
  const sandbox = await openWebhookSandbox(rail, receiver);
  opened.push(sandbox);
  return sandbox;
}

afterEach(async () => {
  for (const sandbox of opened.splice(0)) await sandbox.close();
});

/** Sends one message to a receiver that answers like this. */
async function outcomeUnder(fault: Fault, rail: Partial<WebhookRailOptions> = {}): Promise<RailOutcome> {
  const sandbox = await open(rail);
  sandbox.receiver.script.push(fault);
  return await sandbox.rail.send(messageOf(), notAborted);
}

describe("a webhook request", () => {
  test("carries the payload, signed, as JSON", async () => {
    const { rail, receiver } = await open();
    const message = messageOf({ type: "greeting", text: "grüße 😀 \u2028 \ud800" });
    await rail.send(message, notAborted);
    const [request] = receiver.book.requests;
    expect(request).toMatchObject({
      method: "POST",
      webhookId: message.outboxId,
      signature: "valid",
      body: JSON.stringify(message.payload),
    });
    expect(request?.path).toMatch(/^\/hook\?token=/);
    expect(request?.headers).toMatchObject({
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(JSON.stringify(message.payload))),
      "user-agent": "Headroom",
    });
    expect(request?.headers?.authorization).toMatch(/^Bearer /);
  });

  test("with an envelope of CloudEvents says so", async () => {
    const { rail, receiver } = await open();
    const envelope = { specversion: "1.0", id: "1", source: "/orders", type: "order.paid" };
    await rail.send(messageOf(envelope), notAborted);
    expect(receiver.book.requests[0]?.headers?.["content-type"]).toBe("application/cloudevents+json");
  });

  test("repeats its id and its bytes, and renews its time, when it is tried again", async () => {
    const times = [new Date(), new Date(Date.now() + 60_000)];
    const { rail, receiver } = await open({ now: () => times[receiver.book.requests.length] ?? new Date() });
    const message = messageOf();
    receiver.script.push({ kind: "status", status: 500 });
    await rail.send(message, notAborted);
    await rail.send({ ...message, tryNo: 2 }, notAborted);
    const [first, second] = receiver.book.requests;
    expect(second?.webhookId).toBe(first?.webhookId);
    expect(second?.body).toBe(first?.body);
    expect(Number(second?.webhookTimestamp) - Number(first?.webhookTimestamp)).toBe(60);
    expect(second?.signature).toBe("valid");
  });

  test("is verified by the holder of either secret during a rotation, and by nobody else", async () => {
    const { rail, receiver, endpoint } = await open();
    for (const secret of endpoint.secrets) {
      receiver.setSecrets([secret]);
      expect(await rail.send(messageOf(), notAborted)).toMatchObject({ kind: "delivered" });
    }
    receiver.setSecrets([newSecret()]);
    expect(await rail.send(messageOf(), notAborted)).toMatchObject({ kind: "rejected", code: "http_4xx" });
    expect(receiver.book.stats()).toMatchObject({ effects: 2, invalidSignatures: 1 });
  });

  test("uses one connection for consecutive requests, and reads the answers", async () => {
    const { rail, receiver } = await open();
    for (let sent = 0; sent < 20; sent += 1) {
      expect(await rail.send(messageOf(), notAborted)).toMatchObject({
        kind: "delivered",
        response: { received: sent + 1 },
      });
    }
    expect(new Set(receiver.book.requests.map(({ connection }) => connection)).size).toBe(1);
  });
});

describe("an answer", () => {
  test.each([200, 201, 202, 204, 299])("of %i is a delivery", async (status) => {
    expect(await outcomeUnder({ kind: "status", status })).toEqual({ kind: "delivered", code: String(status) });
  });

  test.each([
    [408, "http_408"],
    [425, "http_425"],
  ])("of %i is tried again", async (status, code) => {
    const outcome = await outcomeUnder({ kind: "status", status });
    expect(outcome).toEqual({ kind: "retry", code, reason: expect.stringContaining(`HTTP ${status}`) });
  });

  test.each([500, 502, 503, 504])("of %i leaves the outcome open", async (status) => {
    const outcome = await outcomeUnder({ kind: "status", status });
    expect(outcome).toEqual({ kind: "unknown", code: "http_5xx", reason: expect.stringContaining(`HTTP ${status}`) });
  });

  test.each([
    [400, "http_4xx"],
    [401, "http_4xx"],
    [404, "http_4xx"],
    [422, "http_4xx"],
  ])("of %i is a rejection", async (status, code) => {
    const outcome = await outcomeUnder({ kind: "status", status, body: "no such\r\norder" });
    expect(outcome).toEqual({
      kind: "rejected",
      code,
      reason: expect.stringContaining(`HTTP ${status}: no such order`),
    });
  });

  test("of 410 says that the endpoint is gone", async () => {
    const outcome = await outcomeUnder({ kind: "status", status: 410 });
    expect(outcome).toMatchObject({ kind: "rejected", code: "http_410", gone: true });
  });

  test.each([301, 302, 303, 307, 308])("of %i is a rejection, and is not followed", async (status) => {
    const sandbox = await open();
    const headers = { location: `${sandbox.receiver.url}/elsewhere` };
    sandbox.receiver.script.push({ kind: "status", status, headers });
    expect(await sandbox.rail.send(messageOf(), notAborted)).toMatchObject({ kind: "rejected", code: "http_3xx" });
    expect(sandbox.receiver.book.requests).toHaveLength(1);
  });

  test("of 429 pauses the destination, whether or not it says for how long", async () => {
    expect(await outcomeUnder({ kind: "throttle", retryAfter: 30 })).toMatchObject({
      kind: "retry",
      code: "http_429",
      afterMs: 30_000,
      throttled: true,
    });
    const bare = await outcomeUnder({ kind: "status", status: 429 });
    expect(bare).toMatchObject({ kind: "retry", throttled: true });
    expect(bare).not.toHaveProperty("afterMs");
  });

  test("of 503 pauses the destination only when it says for how long", async () => {
    const headers = { "retry-after": "5" };
    expect(await outcomeUnder({ kind: "status", status: 503, headers })).toMatchObject({
      kind: "unknown",
      afterMs: 5_000,
      throttled: true,
    });
    const failing = await outcomeUnder({ kind: "status", status: 500, headers });
    expect(failing).toMatchObject({ kind: "unknown", afterMs: 5_000 });
    expect(failing).not.toHaveProperty("throttled");
    expect(await outcomeUnder({ kind: "status", status: 503 })).not.toHaveProperty("throttled");
  });

  test("that gives a date is understood by a worker whose clock is wrong", async () => {
    const at = Date.now();
    const headers = { date: new Date(at).toUTCString(), "retry-after": new Date(at + 40_000).toUTCString() };
    const hoursOff = { now: () => new Date(at + 5 * 60 * 60 * 1000) };
    const sandbox = await open(hoursOff, { toleranceSeconds: null });
    sandbox.receiver.script.push({ kind: "status", status: 503, headers });
    expect(await sandbox.rail.send(messageOf(), notAborted)).toMatchObject({ afterMs: 40_000 });
  });

  test("without end is a delivery as soon as enough of it was read", async () => {
    expect(await outcomeUnder({ kind: "endless" })).toEqual({ kind: "delivered", code: "200" });
  });

  test("longer than the limit is a delivery without a response", async () => {
    const body = { text: "x".repeat(200_000) };
    expect(await outcomeUnder({ kind: "ok", body })).toEqual({ kind: "delivered", code: "200" });
    expect(await outcomeUnder({ kind: "ok", body }, { maxResponseBytes: 300_000 })).toMatchObject({ response: body });
  });

  test("of broken JSON is still a delivery", async () => {
    const headers = { "content-type": "application/json" };
    const outcome = await outcomeUnder({ kind: "status", status: 200, headers, body: '{"id":' });
    expect(outcome).toEqual({ kind: "delivered", code: "200" });
  });

  test("with a status that does not exist leaves the outcome open", async () => {
    expect(await outcomeUnder({ kind: "status", status: 799 })).toMatchObject({ kind: "unknown", code: "bad_answer" });
  });

  test("that changes the protocol leaves the outcome open", async () => {
    const headers = { connection: "upgrade", upgrade: "websocket" };
    const outcome = await outcomeUnder({ kind: "status", status: 101, headers });
    expect(outcome).toMatchObject({ kind: "unknown" });
  });

  test.each<[Fault["kind"], Fault, string]>([
    ["drop", { kind: "drop" }, "connection_lost"],
    ["close", { kind: "close" }, "connection_lost"],
    ["mid-body", { kind: "mid-body" }, "connection_lost"],
    ["garbage", { kind: "garbage" }, "bad_answer"],
  ])("that is broken (%s) leaves the outcome open", async (_kind, fault, code) => {
    expect(await outcomeUnder(fault)).toEqual({ kind: "unknown", code, reason: expect.any(String) });
  });

  test("that is very long and full of odd characters makes a short reason", async () => {
    const outcome = await outcomeUnder({ kind: "status", status: 400, body: "\u0000\u001b[2J😀".repeat(5_000) });
    expect("reason" in outcome && outcome.reason.length).toBeLessThanOrEqual(300);
    expect("reason" in outcome && outcome.reason).not.toMatch(/\p{Cc}/u);
  });
});

describe("an endpoint", () => {
  const settings = { url: "https://example.com/", secrets: [newSecret()] };

  test.each<[string, () => Promise<WebhookEndpoint | null>, Partial<RailOutcome>]>([
    ["that does not exist is a rejection", () => Promise.resolve(null), { kind: "rejected", code: "unknown_endpoint" }],
    [
      "that cannot be read is tried again, without repeating why",
      () => Promise.reject(new Error("password hunter2 refused")),
      { kind: "retry", code: "endpoint_unavailable", reason: "The endpoint's settings could not be read." },
    ],
    [
      "with a bad secret is a rejection",
      () => Promise.resolve({ ...settings, secrets: ["hunter2"] }),
      { kind: "rejected", code: "endpoint_invalid" },
    ],
    [
      "with credentials in its URL is a rejection",
      () => Promise.resolve({ ...settings, url: "https://user:hunter2@example.com/" }),
      { kind: "rejected", code: "endpoint_invalid" },
    ],
    [
      "that is not https is a rejection",
      () => Promise.resolve({ ...settings, url: "ftp://example.com/" }),
      { kind: "rejected", code: "endpoint_invalid" },
    ],
    [
      "at a private address is a rejection",
      () => Promise.resolve({ ...settings, url: "https://0x0a.0.0.1/" }),
      { kind: "rejected", code: "blocked_address" },
    ],
  ])("%s", async (_title, endpoint, expected) => {
    const { rail } = await open({ endpoint });
    const outcome = await rail.send(messageOf(), notAborted);
    expect(outcome).toMatchObject(expected);
    expect(JSON.stringify(outcome)).not.toContain("hunter2");
  });

  test("that is never found takes no longer than the time-out", async () => {
    const asked = Promise.withResolvers<void>();
    const { rail } = await open({
      endpoint: () => {
        asked.resolve();
        return new Promise<never>(() => {});
      },
    });
    const clock = new AbortController();
    const outcome = rail.send(messageOf(), { signal: clock.signal });
    await asked.promise;
    clock.abort();
    expect(await outcome).toMatchObject({ kind: "retry", code: "aborted_before_send" });
  });
});
