/** End to end: a real relay, the rail, and a Stripe that fails on request. However it fails, there is one effect. */
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createStripeRail, type StripeRail } from "../../../../src/rails/stripe/rail.ts";
import type { Json, RailOutcome } from "../../../../src/contract/rail.ts";
import { defaultSampleData } from "../../../../src/sandbox/sample-data.ts";
import type { FaultKind } from "../../../../src/sandbox/core/faults.ts";
import { startSandbox } from "../../../../src/sandbox/sandbox.ts";
import type { Sandbox } from "../../../../src/sandbox/sandbox.ts";
import { createStage } from "../../outbox/relay/stage.ts";
import { sandboxSecrets } from "../harness.ts";
import { messageOf, notAborted } from "../messages.ts";
import { installation, stripeKey, terms } from "./stripe-plans.ts";

const stage = await createStage();
let now = Date.now();
let sandbox: Sandbox;
let rail: StripeRail;

beforeAll(async () => {
  sandbox = await startSandbox({ sampleData: defaultSampleData, secrets: sandboxSecrets, now: () => now });
});
beforeEach(() => {
  now = Date.now();
  sandbox.reset();
  rail = createStripeRail({ secretKey: stripeKey, apiUrl: sandbox.url, timeoutMs: 700 });
});
afterEach(() => rail.close());
afterAll(() => sandbox.close());

const kinds: readonly FaultKind[] = [
  "rateLimit",
  "error500",
  "error500AfterAccept",
  "hangBeforeAccept",
  "hang",
  "dropBeforeAccept",
  "dropAfterAccept",
  "cutAnswer",
  "garbage",
  "late",
];

async function makeSession(changes: { [name: string]: Json } = {}): Promise<string> {
  const made = await rail.send(messageOf(terms(changes)), notAborted);
  if (made.kind !== "delivered") throw new Error(JSON.stringify(made));
  return made.reference ?? "";
}

/** A session that was paid, and its payment. */
async function takePayment(card?: string): Promise<string> {
  const session = await makeSession();
  sandbox.stripe.pay(session, card);
  return sandbox.stripe.session(session).paymentIntent;
}

function refundOf(payment: string, amount: number): { [name: string]: Json } {
  const ids = { refund_id: randomUUID(), payment_id: randomUUID(), request_id: "CR-2026-000001" };
  const whose = { installation_id: installation, reason: "late" };
  return { operation: "refund", amount, currency: "USD", destination: payment, ...ids, ...whose };
}

/** Delivers one row by a real relay while Stripe fails, and returns what was captured. */
async function deliver(payload: Json, method: string, kind: FaultKind, carriesMoney = false): Promise<unknown> {
  sandbox.faults.add({ provider: "stripe", method, kind, times: 2, retryAfterSeconds: 0, ms: 5_000 });
  await stage.declare(rail);
  const settings = { ordered: true, maxTries: 50, backoffBaseMs: 10, backoffCapMs: 50, carriesMoney };
  const stream = await stage.stream(settings);
  await stage.grant(stream, rail);
  const key = randomUUID();
  const { outboxId } = await stage.enqueue({ stream, rail: rail.name, key, payload, captures: { object: [] } });
  await stage.run({ rails: [rail], streams: [stream] });
  await stage.untilState(outboxId, "DISPATCHED");
  const [kept] = await stage.query<{ value: unknown }>(
    "select c.value from outbox.captures c join outbox.lanes l on l.lane_id = c.lane_id where l.key = $1",
    [key],
  );
  return kept?.value;
}

describe.each(kinds)("Stripe fails (%s)", (kind) => {
  test(`and one session is made, whose address is known (${kind})`, async () => {
    const object = await deliver(terms(), "checkout.sessions.create", kind);
    const [session, ...others] = sandbox.stripe.sessions();
    expect(others).toEqual([]);
    expect(object).toMatchObject({ id: session?.id, url: expect.stringContaining("/stripe/checkout/") });
  });

  test(`and a payment is refunded once, in the right amount (${kind})`, async () => {
    const payment = await takePayment();
    const object = await deliver(refundOf(payment, 800_00), "refunds.create", kind, true);
    expect(sandbox.stripe.refunds()).toMatchObject([{ amount: 800_00, paymentIntent: payment }]);
    expect(object).toMatchObject({ object: "refund", id: sandbox.stripe.refunds()[0]?.id, status: "succeeded" });
  });

  test(`and a subscription is cancelled, and a session expired, permanently (${kind})`, async () => {
    const session = await makeSession({ mode: "subscription" });
    sandbox.stripe.pay(session);
    const id = sandbox.stripe.session(session).subscription ?? "";
    const cancel = { operation: "subscription.cancel", subscription_id: id };
    expect(await deliver(cancel, "subscriptions.cancel", kind)).toMatchObject({ id, status: "canceled" });
    const open = await makeSession();
    const expire = { operation: "checkout.expire", session_id: open };
    expect(await deliver(expire, "checkout.sessions.expire", kind)).toMatchObject({ id: open, status: "expired" });
  });
});

const sent = (payload: Json, changes: object = {}): RailOutcome | Promise<RailOutcome> =>
  rail.send({ ...messageOf(payload), ...changes }, notAborted);

describe("a refund", () => {
  test("that Stripe failed at gets the same failure again, and is looked up before it is sent again", async () => {
    const row = messageOf(refundOf(await takePayment(), 100_00));
    sandbox.faults.add({ provider: "stripe", method: "refunds.create", kind: "error500AfterAccept", times: 1 });
    expect(await rail.send(row, notAborted)).toMatchObject({ kind: "unknown", code: "http_5xx" });
    expect(await rail.send(row, notAborted)).toMatchObject({
      kind: "unknown",
      code: "replayed_failure",
      afterMs: 6 * 3_600_000,
    });
    expect(await rail.lookup?.(row, notAborted)).toMatchObject({
      kind: "found",
      response: { amount: 100_00, status: "succeeded" },
    });
    expect(sandbox.stripe.refunds()).toHaveLength(1);
  });

  test("that is sent again while Stripe still works on it waits, and claims nothing", async () => {
    const row = messageOf(refundOf(await takePayment(), 100_00));
    sandbox.faults.add({ provider: "stripe", method: "refunds.create", kind: "hangBeforeAccept", times: 1 });
    const clock = new AbortController();
    const first = rail.send(row, { signal: clock.signal });
    await sandbox.requests.waitFor(({ method }) => method === "refunds.create");
    expect(await rail.send(row, notAborted)).toMatchObject({ kind: "unknown", code: "key_in_use" });
    clock.abort();
    expect(await first).toMatchObject({ kind: "unknown", code: "timed_out" });
    expect(sandbox.stripe.refunds()).toEqual([]);
  });

  test("of more than is left, or of a payment that was never made, is refused by name", async () => {
    const payment = await takePayment();
    expect(await sent(refundOf(payment, 4_800_01))).toMatchObject({ kind: "rejected", code: "nothing_left" });
    sandbox.stripe.refundOutside(payment);
    expect(await sent(refundOf(payment, 1))).toMatchObject({ kind: "rejected", code: "nothing_left" });
    expect(await sent(refundOf("pi_nobody", 1))).toMatchObject({ kind: "rejected", code: "http_404" });
    const session = await makeSession();
    sandbox.stripe.payLater(session);
    const { paymentIntent } = sandbox.stripe.session(session);
    expect(await sent(refundOf(paymentIntent, 1))).toMatchObject({ kind: "rejected", code: "not_paid" });
  });

  test("of a disputed payment is refused, but not of one under inquiry or with a won dispute", async () => {
    const payment = await takePayment("4000 0000 0000 0259");
    const [dispute] = sandbox.stripe.disputes(payment);
    expect(await sent(refundOf(payment, 1_00))).toMatchObject({ kind: "rejected", code: "disputed" });
    sandbox.stripe.closeDispute(dispute?.id ?? "", "won");
    expect(await sent(refundOf(payment, 1_00))).toMatchObject({ kind: "delivered" });
    const inquired = await takePayment("4000 0000 0000 1976");
    expect(await sent(refundOf(inquired, 1_00))).toMatchObject({ kind: "delivered" });
    sandbox.stripe.dispute(await takePayment());
    const [, , third] = sandbox.stripe.disputes();
    sandbox.stripe.closeDispute(third?.id ?? "", "lost");
    expect(await sent(refundOf(third?.paymentIntent ?? "", 1_00))).toMatchObject({ code: "disputed" });
  });

  test("is found by its mark among others of the payment, and no other is mistaken for it", async () => {
    const payment = await takePayment();
    for (let n = 0; n < 105; n += 1) sandbox.stripe.refundOutside(payment, 1_00);
    const payload = refundOf(payment, 1_00);
    expect(await rail.lookup?.(messageOf(payload), notAborted)).toEqual({ kind: "absent" });
    await sent(payload);
    for (let n = 0; n < 105; n += 1) sandbox.stripe.refundOutside(payment, 1_00);
    expect(await rail.lookup?.(messageOf(payload), notAborted)).toMatchObject({
      kind: "found",
      response: { metadata: { headroom_refund: payload["refund_id"], headroom_reason: "late" } },
    });
  });
});

const tried = (row: ReturnType<typeof messageOf>, tryNo: number): RailOutcome | Promise<RailOutcome> =>
  rail.send({ ...row, tryNo, uncertain: tryNo > 1 }, notAborted);

describe("a session at which Stripe failed, and repeats the failure under its key", () => {
  const create = { provider: "stripe", method: "checkout.sessions.create", times: 1 } as const;

  test("is looked up twice, some seconds apart, and given up when there is none", async () => {
    sandbox.faults.add({ ...create, kind: "error500Midway" });
    const row = messageOf(terms());
    expect(await tried(row, 1)).toMatchObject({ kind: "unknown", code: "http_5xx" });
    const second = await tried(row, 2);
    expect(second).toMatchObject({ kind: "unknown", code: "replayed_failure" });
    expect((second as { afterMs?: number }).afterMs).toBeLessThanOrEqual(60_000);
    expect(await tried(row, 3)).toMatchObject({ kind: "rejected", code: "never_made" });
    expect(sandbox.stripe.sessions()).toEqual([]);
  });

  test("is found when it was made, and no second one is made", async () => {
    sandbox.faults.add({ ...create, kind: "error500AfterAccept" });
    const row = messageOf(terms());
    await tried(row, 1);
    const [session] = sandbox.stripe.sessions();
    expect(await tried(row, 2)).toMatchObject({ kind: "delivered", reference: session?.id });
    expect(await tried(row, 3)).toMatchObject({ kind: "delivered", reference: session?.id });
    expect(sandbox.stripe.sessions()).toHaveLength(1);
  });

  test("is not given up while Stripe refuses the lookup", async () => {
    sandbox.faults.add({ ...create, kind: "error500Midway" });
    const row = messageOf(terms());
    await tried(row, 1);
    sandbox.faults.add({ ...create, method: "checkout.sessions.list", kind: "error500" });
    expect(await tried(row, 3)).toMatchObject({ kind: "unknown" });
    expect(await tried(row, 4)).toMatchObject({ kind: "rejected", code: "never_made" });
  });
});

describe("a session", () => {
  test("has our marks, and so has everything made from it, and the customer at Stripe is reused", async () => {
    const made = terms();
    const { reference = "" } = (await sent(made)) as { reference?: string };
    sandbox.stripe.pay(reference);
    const seen = (await sent({ operation: "look", kind: "session", id: reference })) as { response?: Json };
    const marks = {
      headroom_installation: installation,
      headroom_checkout: made["checkout_id"],
      headroom_request: "CR-2026-000001",
      headroom_workspace: "default",
    };
    expect(seen.response).toMatchObject({ payment_status: "paid", amount_total: 4_800_00, metadata: marks });
    expect(sandbox.stripe.payments()[0]?.metadata).toEqual(marks);
    const { customer } = sandbox.stripe.session(reference);
    const again = await makeSession({ customer: customer ?? "" });
    expect(sandbox.stripe.session(again).customer).toBe(customer);
  });

  test("for a customer whom Stripe no longer knows is made for a new one", async () => {
    const payload = terms({ customer: "cus_gone" });
    expect(await sent(payload)).toMatchObject({ kind: "delivered", response: { customer: null } });
    expect(sandbox.stripe.sessions()).toMatchObject([{ customerEmail: "buyer@acme.example", createsCustomer: true }]);
  });

  test("for a customer whose subscription is in another currency is made for a new one", async () => {
    const first = await makeSession({ mode: "subscription" });
    sandbox.stripe.pay(first);
    const { customer } = sandbox.stripe.session(first);
    const euros = await makeSession({ mode: "subscription", currency: "EUR", customer: customer ?? "" });
    expect(sandbox.stripe.session(euros)).toMatchObject({ currency: "eur", customer: undefined });
    const dollars = await makeSession({ mode: "subscription", customer: customer ?? "" });
    expect(sandbox.stripe.session(dollars).customer).toBe(customer);
  });

  test("for an address that Stripe does not accept is made without it", async () => {
    expect(await sent(terms({ customer_email: "buyer@intranet" }))).toMatchObject({ kind: "delivered" });
    expect(sandbox.stripe.sessions()).toMatchObject([{ customerEmail: undefined, createsCustomer: true }]);
  });

  test("that is no longer open is treated as ended, and returned unchanged", async () => {
    const session = await makeSession();
    sandbox.stripe.pay(session);
    const expire = { operation: "checkout.expire", session_id: session };
    expect(await sent(expire)).toMatchObject({
      kind: "delivered",
      code: "not_open",
      response: { status: "complete", payment_status: "paid" },
    });
    expect(await rail.lookup?.(messageOf(expire), notAborted)).toMatchObject({ kind: "found" });
  });

  test("that would end too soon, or costs more than Stripe takes, is refused by name", async () => {
    const soon = Math.floor(Date.now() / 1000) + 60;
    expect(await sent(terms({ expires_at: soon }))).toMatchObject({ kind: "rejected", code: "expiry_refused" });
    const much = { amount: 100_000_000, unit_amount: 100_000_000, quantity: 1 };
    expect(await sent(terms(much))).toMatchObject({ kind: "rejected", code: "amount_refused" });
    const uneven = { currency: "KWD", amount: 5_124, unit_amount: 5_124, quantity: 1 };
    expect(await sent(terms(uneven))).toMatchObject({ kind: "rejected", code: "amount_refused" });
  });
});

test("a subscription that is cancelled or missing is treated as cancelled", async () => {
  const session = await makeSession({ mode: "subscription" });
  sandbox.stripe.pay(session);
  const id = sandbox.stripe.session(session).subscription ?? "";
  const cancel = { operation: "subscription.cancel", subscription_id: id };
  expect(await rail.lookup?.(messageOf(cancel), notAborted)).toEqual({ kind: "absent" });
  sandbox.stripe.cancelOutside(id);
  expect(await sent(cancel)).toMatchObject({ code: "not_active", response: { id, status: "canceled" } });
  const gone = { operation: "subscription.cancel", subscription_id: "sub_nothing" };
  expect(await sent(gone)).toMatchObject({ kind: "delivered", code: "missing", response: { status: "canceled" } });
});
