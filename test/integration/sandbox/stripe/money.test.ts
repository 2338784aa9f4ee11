/** What customers, banks and time do to money, and the events about it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Stripe } from "stripe";
import { describe, expect, test } from "vitest";
import type { Sandbox } from "../../../../src/sandbox/sandbox.ts";
import { setStage } from "../harness.ts";
import { client, monthly, order } from "./client.ts";

async function pay(
  sandbox: Sandbox,
  card?: string,
  terms: Stripe.Checkout.SessionCreateParams = order,
): Promise<string> {
  const { id } = await client(sandbox).checkout.sessions.create(terms);
  sandbox.stripe.pay(id, card);
  return id;
}

/** The types of all events since the last time, in the order in which they happened. */
function told({ stripe }: Sandbox, from = 0): string[] {
  return stripe
    .events()
    .slice(from)
    .map(({ type, object }) => `${type} ${String(object["status"])}`);
}

describe("test cards", () => {
  test("that are declined leave the session open, and invalid numbers are refused", async () => {
    await using stage = await setStage();
    const { stripe } = stage.sandbox;
    const { id } = await client(stage.sandbox).checkout.sessions.create(order);
    for (const number of ["4000 0000 0000 0002", "4000000000009995", "4111 1111 1111 1111", "nonsense"]) {
      expect(stripe.tryToPay(id, number)).toMatchObject({ kind: "declined" });
    }
    expect(stripe.session(id)).toMatchObject({ status: "open", paymentStatus: "unpaid" });
    expect(stripe.payments()).toEqual([]);
    expect(stripe.tryToPay(id, "4242-4242-4242-4242")).toMatchObject({ kind: "complete" });
  });

  test("decide the outcome of refunds: immediately, later, or failing after they had succeeded", async () => {
    await using stage = await setStage();
    const { stripe } = stage.sandbox;
    const api = client(stage.sandbox);
    const refund = async (card: string) => {
      const { paymentIntent } = stripe.session(await pay(stage.sandbox, card));
      return api.refunds.create({ payment_intent: paymentIntent });
    };
    expect((await refund("4242424242424242")).status).toBe("succeeded");
    const pending = await refund("4000000000007726");
    expect(pending.status).toBe("pending");
    stripe.settleRefund(pending.id, "succeeded");
    const failing = await refund("4000000000005126");
    expect(failing.status).toBe("succeeded");
    stripe.settleRefund(failing.id, "failed");
    expect(await api.refunds.retrieve(failing.id)).toMatchObject({
      status: "failed",
      failure_reason: "expired_or_canceled_card",
    });
    expect(told(stage.sandbox).filter((line) => line.startsWith("refund"))).toEqual([
      "refund.created succeeded",
      "refund.created pending",
      "refund.updated succeeded",
      "refund.created succeeded",
      "refund.failed failed",
      "refund.updated failed",
    ]);
    // What failed can be refunded again.
    const again = await api.refunds.create({ charge: (failing.charge as string | null) ?? "" });
    expect(again.amount).toBe(4_800_00);
    expect(() => stripe.settleRefund(failing.id, "succeeded")).toThrow("has failed");
  });

  test("that are disputed take the money, and it comes back when the dispute is won", async () => {
    await using stage = await setStage();
    const { stripe } = stage.sandbox;
    await pay(stage.sandbox, "4000000000000259");
    const [dispute] = stripe.disputes();
    expect(stripe.books()).toMatchObject([{ taken: 4_800_00, refunded: 0, disputed: 4_800_00 }]);
    stripe.advanceDispute(dispute?.id ?? "");
    stripe.closeDispute(dispute?.id ?? "", "won");
    expect(stripe.books()).toMatchObject([{ disputed: 0 }]);
    expect(told(stage.sandbox)).toEqual([
      "checkout.session.completed complete",
      "charge.dispute.created needs_response",
      "charge.dispute.funds_withdrawn needs_response",
      "charge.dispute.updated under_review",
      "charge.dispute.closed won",
      "charge.dispute.funds_reinstated won",
    ]);
    expect(() => stripe.closeDispute(dispute?.id ?? "", "lost")).toThrow("This dispute is won.");
  });

  test("that the bank inquires about take nothing, until the inquiry becomes a dispute", async () => {
    await using stage = await setStage();
    const { stripe } = stage.sandbox;
    await pay(stage.sandbox, "4000000000001976");
    expect(stripe.books()).toMatchObject([{ disputed: 0 }]);
    const [inquiry] = stripe.disputes();
    stripe.advanceDispute(inquiry?.id ?? "");
    stripe.closeDispute(inquiry?.id ?? "", "lost");
    expect(stripe.books()).toMatchObject([{ disputed: 4_800_00 }]);
    expect(told(stage.sandbox, 1)).toEqual([
      "charge.dispute.created warning_needs_response",
      "charge.dispute.updated needs_response",
      "charge.dispute.funds_withdrawn needs_response",
      "charge.dispute.closed lost",
    ]);
  });
});

describe("a subscription", () => {
  test("is billed by the month, falls behind when a renewal fails, and recovers when the bill is paid", async () => {
    await using stage = await setStage({ now: () => Date.parse("2027-01-31T12:00:00Z") });
    const { stripe } = stage.sandbox;
    const api = client(stage.sandbox);
    await pay(stage.sandbox, undefined, monthly);
    const id = stripe.subscriptions()[0]?.id ?? "";
    const first = await api.subscriptions.retrieve(id, { expand: ["latest_invoice"] });
    expect(first.items.data[0]?.current_period_end).toBe(Date.parse("2027-02-28T12:00:00Z") / 1000);
    expect(first.latest_invoice).toMatchObject({ billing_reason: "subscription_create", status: "paid" });
    const failed = stripe.renew(id, "failed");
    expect((await api.subscriptions.retrieve(id)).status).toBe("past_due");
    stripe.payAgain(failed?.id ?? "", "failed");
    stripe.payAgain(failed?.id ?? "", "succeeded");
    stripe.renew(id, "succeeded");
    expect(told(stage.sandbox)).toEqual([
      "invoice.payment_succeeded paid",
      "invoice.paid paid",
      "checkout.session.completed complete",
      "invoice.payment_failed open",
      "customer.subscription.updated past_due",
      "invoice.payment_failed open",
      "invoice.payment_succeeded paid",
      "invoice.paid paid",
      "customer.subscription.updated active",
      "invoice.payment_succeeded paid",
      "invoice.paid paid",
      "customer.subscription.updated active",
    ]);
    const [newest] = (await api.invoices.list({ subscription: id, expand: ["data.payments"] })).data;
    expect(newest).toMatchObject({
      billing_reason: "subscription_cycle",
      parent: { subscription_details: { subscription: id, metadata: order.metadata } },
      payments: { data: [{ status: "paid" }] },
    });
    expect(stripe.books()).toMatchObject([{ taken: 3 * 4_800_00 }]);
  });

  test("ends with its month, or immediately, and then can only be read", async () => {
    await using stage = await setStage();
    const { stripe } = stage.sandbox;
    const api = client(stage.sandbox);
    for (const _ of [1, 2]) await pay(stage.sandbox, undefined, monthly);
    const [one = "", two = ""] = stripe.subscriptions().map(({ id }) => id);
    await api.subscriptions.update(one, { cancel_at_period_end: true });
    expect(await api.subscriptions.retrieve(one)).toMatchObject({ status: "active", cancel_at_period_end: true });
    expect(stripe.renew(one, "succeeded")).toBeUndefined();
    stripe.cancelOutside(two);
    for (const id of [one, two]) {
      expect(await api.subscriptions.retrieve(id)).toMatchObject({ status: "canceled", ended_at: expect.any(Number) });
      await expect(api.subscriptions.cancel(id)).rejects.toMatchObject({ code: "resource_missing", statusCode: 404 });
    }
    expect(told(stage.sandbox, 6)).toEqual([
      "customer.subscription.updated active",
      "customer.subscription.deleted canceled",
      "customer.subscription.deleted canceled",
    ]);
  });

  test("bought by a debit that fails has an unpaid bill", async () => {
    await using stage = await setStage();
    const { id } = await client(stage.sandbox).checkout.sessions.create(monthly);
    stage.sandbox.stripe.payLater(id);
    stage.sandbox.stripe.settle(id, "failed");
    expect(told(stage.sandbox)).toEqual([
      "checkout.session.completed complete",
      "invoice.payment_failed open",
      "customer.subscription.updated past_due",
      "checkout.session.async_payment_failed complete",
    ]);
    expect(stage.sandbox.stripe.books()).toEqual([]);
  });
});

test("a second start restores payments, refunds, disputes, subscriptions and the delivery plan", async () => {
  const folder = await mkdtemp(join(tmpdir(), "headroom-stripe-"));
  const keepIn = join(folder, "sandbox.json");
  let before: unknown;
  {
    await using stage = await setStage({ keepIn });
    const { stripe } = stage.sandbox;
    await pay(stage.sandbox, "4000000000000259");
    stripe.refundOutside(await pay(stage.sandbox, undefined, monthly), 1_00);
    stripe.deliver({ copies: 2, lostShare: 0.5 });
    before = [stripe.books(), stripe.payments(), stripe.disputes(), stripe.refunds(), stripe.delivery().plan];
  }
  await using stage = await setStage({ keepIn });
  const { stripe } = stage.sandbox;
  expect([stripe.books(), stripe.payments(), stripe.disputes(), stripe.refunds(), stripe.delivery().plan]).toEqual(
    before,
  );
  const [disputed] = stripe.payments();
  expect(() => stripe.refundOutside(disputed?.id ?? "")).toThrow("charged back");
  await rm(folder, { recursive: true });
});
