/** What the rail sends, literally, and how it handles answers that the sandbox does not give. */
import { createServer } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createStripeRail, type StripeRail } from "../../../../src/rails/stripe/rail.ts";
import type { Json, RailMessage } from "../../../../src/contract/rail.ts";
import { messageOf, notAborted } from "../messages.ts";
import { startScriptedServer, type ScriptedAnswer, type ScriptedServer } from "../scripted-server.ts";
import { terms } from "./stripe-plans.ts";

const secretKey = "sk_test_very_secret";
const refund = {
  operation: "refund",
  amount: 5_00,
  currency: "USD",
  destination: "pi_1",
  refund_id: "r-1",
  request_id: "CR-2026-000001",
  payment_id: "p-1",
  installation_id: "i-1",
  reason: "late",
};
const made = { object: "refund", id: "re_1", status: "pending", amount: 5_00, currency: "usd", payment_intent: "pi_1" };

let stripe: ScriptedServer;
let rail: StripeRail;

beforeEach(async () => {
  stripe = await startScriptedServer();
  rail = createStripeRail({ secretKey, apiUrl: stripe.url });
});
afterEach(async () => {
  rail.close();
  await stripe.close();
});

const send = (payload: Json = refund, changes: Partial<RailMessage> = {}) =>
  rail.send({ ...messageOf(payload), ...changes }, notAborted);
const lookUp = () => rail.lookup?.({ ...messageOf(refund), uncertain: true }, notAborted);
const error = (fields: object): { readonly error: object } => ({ error: { type: "invalid_request_error", ...fields } });

test("a refund is sent under the row's key with a pinned version, and returns the refund", async () => {
  stripe.script.push({ body: { ...made, secret: "of Stripe's", metadata: { headroom_refund: "r-1", other: "x" } } });
  expect(await send(refund, { instructionId: "r-1", idempotencyKey: "send" })).toEqual({
    kind: "delivered",
    code: "200",
    reference: "re_1",
    response: { ...made, charge: null, failure_reason: null, created: null, metadata: { headroom_refund: "r-1" } },
  });
  const [request] = stripe.requests;
  expect(request).toMatchObject({
    method: "POST",
    path: "/v1/refunds",
    headers: {
      authorization: `Bearer ${secretKey}`,
      "idempotency-key": "r-1:send",
      "stripe-version": "2026-10-28.endive",
    },
  });
  expect(Object.fromEntries(new URLSearchParams(request?.body))).toEqual({
    payment_intent: "pi_1",
    amount: "500",
    "metadata[headroom_installation]": "i-1",
    "metadata[headroom_refund]": "r-1",
    "metadata[headroom_payment]": "p-1",
    "metadata[headroom_request]": "CR-2026-000001",
    "metadata[headroom_reason]": "late",
  });
});

test("a key that no header can contain, or that is too long for Stripe, is sent as its hash, the same at each try", async () => {
  for (const idempotencyKey of ["é", "é", "x".repeat(300)]) {
    stripe.script.push({ body: made });
    await send(refund, { instructionId: "r-1", idempotencyKey });
  }
  const keys = stripe.requests.map(({ headers }) => headers["idempotency-key"]);
  expect(keys[0]).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(keys[1]).toBe(keys[0]);
  expect(keys[2]).not.toBe(keys[0]);
});

test("a session for a monthly price says so, and one for a known customer asks for no other", async () => {
  stripe.script.push(
    { body: { object: "checkout.session", id: "cs_1" } },
    { body: { object: "checkout.session", id: "cs_2" } },
  );
  const payload = terms({ mode: "subscription", customer: "cus_1" });
  await send(payload);
  await send(terms({ currency: "JPY", amount: 500, unit_amount: 500, quantity: 1, customer_email: null }));
  const [monthly, single] = stripe.requests.map(({ body }) => Object.fromEntries(new URLSearchParams(body)));
  expect(monthly).toMatchObject({
    customer: "cus_1",
    client_reference_id: payload["checkout_id"],
    "line_items[0][price_data][recurring][interval]": "month",
    "adaptive_pricing[enabled]": "false",
    "subscription_data[metadata][headroom_checkout]": payload["checkout_id"],
  });
  expect(Object.keys(monthly ?? {}).join(" ")).not.toMatch(/customer_email|customer_creation|payment_intent_data/);
  expect(single).toMatchObject({
    customer_creation: "always",
    "line_items[0][price_data][currency]": "jpy",
    "line_items[0][price_data][unit_amount]": "500",
  });
  expect(Object.keys(single ?? {}).join(" ")).not.toMatch(/recurring|subscription_data|locale/);
});

test.each(["sessions", "invoices", "refunds", "disputes", "changes"])(
  "a key that may not list %s is refused permanently: the next comparison asks again",
  async (kind) => {
    stripe.script.push({ status: 403, body: error({}) });
    expect(await send({ operation: "list", kind, since: 1_700_000_000 })).toMatchObject({
      kind: "rejected",
      code: "may_not_list",
    });
  },
);

describe("a refund meets", () => {
  test.each<[string, ScriptedAnswer, object]>([
    ["a failing server", { status: 500, body: "" }, { kind: "unknown", code: "http_5xx" }],
    [
      "a server that says for how long it is busy",
      { status: 503, headers: { "retry-after": "9" }, body: "" },
      { kind: "unknown", code: "http_5xx", afterMs: 9_000, throttled: true },
    ],
    [
      "a request for a pause",
      { status: 429, headers: { "retry-after": "60" }, body: error({ code: "rate_limit" }) },
      { kind: "retry", code: "ratelimited", afterMs: 60_000, throttled: true },
    ],
    [
      "an object that is busy, which is not a request for a pause",
      { status: 429, body: error({ code: "lock_timeout" }) },
      { kind: "retry", code: "lock_timeout" },
    ],
    ["a page instead of an answer", { body: "<p>" }, { kind: "unknown", code: "bad_answer" }],
    [
      "another object than the requested one",
      { body: { object: "charge", id: "ch_1" } },
      { kind: "unknown", code: "bad_answer" },
    ],
    ["a redirect", { status: 302, headers: { location: "/x" }, body: {} }, { kind: "rejected", code: "http_3xx" }],
    ["an unknown key", { status: 401, body: error({}) }, { kind: "retry", code: "http_401" }],
    ["a key without the right", { status: 403, body: error({}) }, { kind: "retry", code: "http_403" }],
    [
      "an empty balance",
      { status: 400, body: error({ code: "balance_insufficient" }) },
      { kind: "retry", code: "balance_insufficient" },
    ],
    [
      "a key that was used for something else",
      { status: 400, body: { error: { type: "idempotency_error" } } },
      { kind: "rejected", code: "key_reused" },
    ],
    [
      "an amount greater than what is left",
      { status: 400, body: error({ param: "amount" }) },
      { kind: "rejected", code: "nothing_left" },
    ],
    ["a refusal without a code", { status: 400, body: "no" }, { kind: "rejected", code: "http_400" }],
  ])("%s", async (_what, answer, outcome) => {
    stripe.script.push(answer);
    const result = await send();
    expect(result).toMatchObject(outcome);
    expect(stripe.requests).toHaveLength(1);
  });
});

test("a broken connection is not retried by Stripe's library", async () => {
  let calls = 0;
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => {
      calls += 1;
      socket.resetAndDestroy();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const breaking = createStripeRail({
    secretKey,
    apiUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
  expect(await breaking.send(messageOf(refund), notAborted)).toMatchObject({
    kind: "unknown",
    code: "connection_lost",
  });
  expect(calls).toBe(1);
  breaking.close();
  server.close();
});

test("a search that cannot read a page claims nothing, and one that ends too early says so", async () => {
  stripe.script.push({ body: { data: [{ object: "refund" }], has_more: false } });
  expect(await lookUp()).toMatchObject({ kind: "unavailable", code: "bad_answer" });
  const full = { body: { data: [{ ...made, metadata: null }], has_more: true } };
  stripe.script.push(...Array.from({ length: 10 }, () => full));
  expect(await lookUp()).toMatchObject({ kind: "unavailable", code: "too_many_to_search" });
  expect(stripe.requests.at(-1)?.path).toBe("/v1/refunds?limit=100&starting_after=re_1&payment_intent=pi_1");
});

test("settings of the wrong form are refused, and not repeated", () => {
  for (const settings of [{ secretKey: "pk_test_public" }, { secretKey, apiUrl: "https://stripe.example/v1" }]) {
    expect(() => createStripeRail(settings)).toThrow(expect.objectContaining({ code: "rail_invalid" }));
    expect(() => createStripeRail(settings)).not.toThrow("pk_test_public");
  }
});
