/** What queries return about Stripe's objects, one by one and in lists. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createStripeRail, type StripeRail } from "../../../../src/rails/stripe/rail.ts";
import type { Json } from "../../../../src/contract/rail.ts";
import { defaultSampleData } from "../../../../src/sandbox/sample-data.ts";
import { startSandbox } from "../../../../src/sandbox/sandbox.ts";
import type { Sandbox } from "../../../../src/sandbox/sandbox.ts";
import { sandboxSecrets } from "../harness.ts";
import { messageOf, notAborted } from "../messages.ts";
import { installation, stripeKey, terms } from "./stripe-plans.ts";

let sandbox: Sandbox;
let rail: StripeRail;
/** Advances with each session, so that no two are made in one second. */
let now = 0;

beforeAll(async () => {
  sandbox = await startSandbox({ sampleData: defaultSampleData, secrets: sandboxSecrets, now: () => now });
});
beforeEach(() => {
  now = Date.now();
  sandbox.reset();
  rail = createStripeRail({ secretKey: stripeKey, apiUrl: sandbox.url });
});
afterEach(() => rail.close());
afterAll(() => sandbox.close());

async function ask(payload: Json): Promise<Json | undefined> {
  const outcome = await rail.send(messageOf(payload), notAborted);
  if (outcome.kind !== "delivered") throw new Error(JSON.stringify(outcome));
  return outcome.response;
}

interface Page {
  readonly objects: readonly { readonly id: string; readonly type?: string; readonly url?: string | null }[];
  readonly cursor: string | null;
}

async function list(kind: string, changes: { [name: string]: Json } = {}): Promise<Page> {
  const since = Math.floor(now / 1000) - 86_400;
  return (await ask({ operation: "list", kind, since, installation_id: installation, ...changes })) as unknown as Page;
}

async function makeSession(changes: { [name: string]: Json } = {}): Promise<string> {
  now += 1_000;
  const expires = { expires_at: Math.floor(now / 1000) + 3_600 };
  return ((await ask(terms({ ...expires, ...changes }))) as { id: string }).id;
}

const look = (kind: string, id: string): Promise<Json | undefined> => ask({ operation: "look", kind, id });

test("a session that began a subscription has its payment, and so has the invoice of a renewal", async () => {
  const session = await makeSession({ mode: "subscription" });
  sandbox.stripe.pay(session);
  const { paymentIntent, subscription: id = "", invoice } = sandbox.stripe.session(session);
  expect(await look("session", session)).toMatchObject({ payment_intent: paymentIntent, subscription: id, invoice });
  const renewal = sandbox.stripe.renew(id, "succeeded");
  expect(await look("invoice", renewal?.id ?? "")).toMatchObject({
    object: "invoice",
    status: "paid",
    billing_reason: "subscription_cycle",
    subscription: id,
    payment_intent: renewal?.paymentIntent,
    period_end: renewal?.periodEnd,
    metadata: { headroom_installation: installation },
  });
  expect(await look("subscription", id)).toMatchObject({
    status: "active",
    current_period_end: renewal?.periodEnd,
    latest_invoice: renewal?.id,
    cancel_at_period_end: false,
  });
});

test("a payment, its refunds and its dispute are returned with the fields that events have", async () => {
  const session = await makeSession();
  sandbox.stripe.pay(session);
  const { paymentIntent } = sandbox.stripe.session(session);
  const refund = sandbox.stripe.refundOutside(paymentIntent, 1_00);
  const dispute = sandbox.stripe.dispute(paymentIntent, { amount: 2_00 });
  expect(await look("payment_intent", paymentIntent)).toMatchObject({ status: "succeeded", amount_received: 4_800_00 });
  expect(await look("refunds", paymentIntent)).toMatchObject({
    objects: [{ id: refund.id, metadata: {} }],
    cursor: null,
  });
  expect(await look("dispute", dispute.id)).toEqual({
    object: "dispute",
    id: dispute.id,
    status: "needs_response",
    amount: 2_00,
    currency: "usd",
    payment_intent: paymentIntent,
    charge: paymentIntent.replace("pi_", "ch_"),
    reason: "general",
    created: dispute.created,
  });
});

test("a missing object is refused", async () => {
  const row = messageOf({ operation: "look", kind: "session", id: "cs_test_nothing" });
  expect(await rail.send(row, notAborted)).toMatchObject({ kind: "rejected", code: "http_404" });
});

test("a list is read a page at a time, without a gap, and fits the size of a row's captures", async () => {
  const made: string[] = [];
  for (let n = 0; n < 60; n += 1) made.push(await makeSession());
  const first = await list("sessions");
  const second = await list("sessions", { cursor: first.cursor });
  expect([first.objects.length, second.objects.length, second.cursor]).toEqual([50, 10, null]);
  expect([...first.objects, ...second.objects].map(({ id }) => id)).toEqual(made.toReversed());
  expect(first.objects.every(({ url }) => url === null)).toBe(true);
  expect(JSON.stringify(first).length).toBeLessThan(65_536);
});

test("a list omits objects marked as another installation's, and older ones", async () => {
  const older = await makeSession();
  now += 2 * 86_400_000;
  const ours = await makeSession();
  await makeSession({ installation_id: "another" });
  expect((await list("sessions")).objects.map(({ id }) => id)).toEqual([ours]);
  const all = await list("sessions", { since: 1 });
  expect(all.objects.map(({ id }) => id)).toEqual([ours, older]);
});

test("refunds and disputes that were made outside have no mark, and are returned", async () => {
  const session = await makeSession();
  sandbox.stripe.pay(session);
  const refund = sandbox.stripe.refundOutside(session, 1_00);
  const dispute = sandbox.stripe.dispute(session);
  expect((await list("refunds")).objects.map(({ id }) => id)).toEqual([refund.id]);
  expect((await list("disputes")).objects.map(({ id }) => id)).toEqual([dispute.id]);
});

test("later changes are returned by their events, as they were at that time, for 30 days", async () => {
  const mine = await makeSession({ mode: "subscription" });
  const other = await makeSession({ mode: "subscription", installation_id: "another" });
  for (const session of [mine, other]) sandbox.stripe.pay(session);
  const { subscription = "", paymentIntent } = sandbox.stripe.session(mine);
  const refund = sandbox.stripe.refundOutside(paymentIntent, 1_00);
  const bills = [mine, other].map((id) =>
    sandbox.stripe.renew(sandbox.stripe.session(id).subscription ?? "", "failed"),
  );
  now += 21 * 86_400_000;
  for (const bill of bills) sandbox.stripe.payAgain(bill?.id ?? "", "succeeded");
  sandbox.stripe.settleRefund(refund.id, "failed");
  const paid = { object: "invoice", id: bills[0]?.id, status: "paid", paid_at: Math.floor(now / 1000), subscription };
  // All in one second, in no guaranteed order.
  const { objects } = await list("changes");
  const byType = objects.toSorted((a, b) => (a.type ?? "").localeCompare(b.type ?? ""));
  expect(byType).toMatchObject([
    { object: "event", type: "invoice.paid", created: Math.floor(now / 1000), data: { object: paid } },
    { type: "refund.failed", data: { object: { object: "refund", id: refund.id, status: "failed" } } },
    { type: "refund.updated", data: { object: { object: "refund", id: refund.id, status: "failed" } } },
  ]);
  expect((await list("invoices")).objects).toEqual([]);
  expect(await look("invoices", subscription)).toMatchObject({ objects: [{ id: bills[0]?.id }, { status: "paid" }] });
  now += 31 * 86_400_000;
  expect((await list("changes", { since: 1 })).objects).toEqual([]);
});

test("invoices are recognised by the subscription's marks", async () => {
  const mine = await makeSession({ mode: "subscription" });
  const other = await makeSession({ mode: "subscription", installation_id: "another" });
  for (const session of [mine, other]) sandbox.stripe.pay(session);
  const { invoice, paymentIntent } = sandbox.stripe.session(mine);
  expect((await list("invoices")).objects).toMatchObject([{ id: invoice, payment_intent: paymentIntent }]);
});
