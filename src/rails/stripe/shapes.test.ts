import { describe, expect, test } from "vitest";
import { changedIn, compactOf, compactPage, markOf } from "./shapes.ts";

const ours = { headroom_installation: "i-1", headroom_checkout: "c-1" };

describe("an invoice", () => {
  const common = { object: "invoice", id: "in_1", status: "paid", amount_paid: 900, currency: "usd", created: 5 };

  test("of the newest version names its subscription by its parent and its payment by the list of payments", () => {
    const lines = { data: [{ period: { start: 10, end: 20 } }, { period: { start: 10, end: 40 } }] };
    const failed = { status: "canceled", payment: { type: "payment_intent", payment_intent: "pi_failed" } };
    const paid = { status: "paid", payment: { type: "payment_intent", payment_intent: { id: "pi_1", object: "x" } } };
    expect(
      compactOf("invoice", {
        ...common,
        billing_reason: "subscription_cycle",
        period_end: 10,
        lines,
        parent: { type: "subscription_details", subscription_details: { subscription: "sub_1", metadata: ours } },
        payments: { object: "list", data: [failed, paid] },
        metadata: { of: "somebody else" },
        status_transitions: { finalized_at: 6, paid_at: 7 },
        livemode: true,
      }),
    ).toEqual({
      ...common,
      paid_at: 7,
      livemode: true,
      billing_reason: "subscription_cycle",
      subscription: "sub_1",
      payment_intent: "pi_1",
      period_end: 40,
      metadata: ours,
    });
  });

  test("of an older version names both itself", () => {
    const older = { ...common, subscription: "sub_1", payment_intent: "pi_1", period_end: 20 };
    expect(compactOf("invoice", { ...older, subscription_details: { metadata: ours } })).toMatchObject({
      subscription: "sub_1",
      payment_intent: "pi_1",
      period_end: 20,
      metadata: ours,
    });
  });
});

test("a subscription's period ends with its items', or by itself in older versions", () => {
  const common = {
    object: "subscription",
    id: "sub_1",
    status: "active",
    latest_invoice: { id: "in_1" },
    metadata: null,
  };
  const items = { data: [{ current_period_end: 7 }, { current_period_end: 9 }] };
  expect(compactOf("subscription", { ...common, items })).toEqual({
    object: "subscription",
    id: "sub_1",
    status: "active",
    cancel_at: null,
    cancel_at_period_end: null,
    canceled_at: null,
    ended_at: null,
    current_period_end: 9,
    metadata: {},
    latest_invoice: "in_1",
  });
  expect(compactOf("subscription", { ...common, current_period_end: 3 })).toMatchObject({ current_period_end: 3 });
});

test("a session that began a subscription knows its payment by its invoice", () => {
  const session = { object: "checkout.session", id: "cs_1", status: "complete", metadata: ours, payment_intent: null };
  const payments = { data: [{ status: "paid", payment: { payment_intent: "pi_9" } }] };
  const invoice = { object: "invoice", id: "in_1", payments };
  expect(compactOf("session", { ...session, invoice })).toMatchObject({ invoice: "in_1", payment_intent: "pi_9" });
  expect(compactOf("session", { ...session, invoice: "in_1" })).toMatchObject({
    invoice: "in_1",
    payment_intent: null,
  });
});

test("what is no such object is not read, and is told apart on its page", () => {
  expect(compactOf("refund", { object: "charge", id: "ch_1" })).toBeUndefined();
  expect(compactOf("refund", { object: "refund", id: "re_1", amount: "12" })).toBeUndefined();
  const odd = { object: "refund", id: "re_2", amount: "much", metadata: { headroom_refund: "r" } };
  expect(compactPage("refund", { data: [{ object: "refund", id: "re_1" }, odd, 7], has_more: false })).toMatchObject({
    objects: [{ id: "re_1" }],
    unread: [{ id: "re_2", metadata: { headroom_refund: "r" } }, { id: "" }],
  });
  expect(compactPage("refund", { data: [odd], has_more: true })).toMatchObject({ cursor: "re_2" });
  expect(compactPage("refund", { data: [7], has_more: true })).toBeUndefined();
  expect(compactPage("refund", [])).toBeUndefined();
  const page = compactPage("refund", { data: [{ object: "refund", id: "re_1", metadata: ours }], has_more: true });
  expect(page?.cursor).toBe("re_1");
  expect(page?.objects.map((refund) => markOf(refund, "headroom_installation"))).toEqual(["i-1"]);
});

test("an event tells of its object as it had it; what cannot be read, or is of a connected account, tells of nothing", () => {
  const refund = { object: "refund", id: "re_1", status: "failed", amount: 5, currency: "usd", metadata: {} };
  const event = { object: "event", id: "evt_1", type: "refund.failed", created: 5, data: { object: refund } };
  const changedBy = (changes: object): unknown => {
    const read = compactOf("change", { ...event, ...changes });
    return read === undefined ? "unread" : changedIn(read)?.["status"];
  };
  expect(changedBy({})).toBe("failed");
  expect(changedBy({ data: { object: { ...refund, amount: "5.0" } } })).toBeUndefined();
  expect(changedBy({ account: "acct_1" })).toBeUndefined();
  expect(changedBy({ type: "charge.refunded" })).toBeUndefined();
  expect(changedBy({ created: "now" })).toBe("unread");
});
