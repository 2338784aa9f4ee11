/** Months that are found late: which count, and which go back, whatever was reported first. */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf, rowsOf } from "../../capacity/harness.ts";
import { startMoney } from "../harness.ts";
import { inDays, now, subscribingWith } from "../subscribing.ts";

describe.each(POSTGRES_VERSIONS)("months that are found late on PostgreSQL %i", async (version) => {
  const m = await startMoney(version);
  const { bought, invoiceOf, firstInvoice, subscriptionOf } = subscribingWith(m);

  describe("a renewal is charged, the subscription ends in the dashboard, the request fails, in any order of reports", () => {
    const steps = {
      ended: (_: string, stripeId: string) =>
        m.tells("customer.subscription.deleted", {
          object: "subscription",
          id: stripeId,
          status: "canceled",
          ended_at: now() - 60,
        }),
      failed: (id: string) => m.apply(id, "PROVISIONING_FAILED", "otto"),
      charged: (_: string, stripeId: string) =>
        m.tells(
          "invoice.paid",
          invoiceOf(stripeId, { created: now() - 7200, status_transitions: { paid_at: now() - 3600 } }),
        ),
    };
    type Step = keyof typeof steps;
    test.each<readonly [Step, Step, Step]>([
      ["ended", "failed", "charged"],
      ["ended", "charged", "failed"],
      ["failed", "ended", "charged"],
      ["failed", "charged", "ended"],
      ["charged", "ended", "failed"],
      ["charged", "failed", "ended"],
    ])("%s, %s, %s: no money is kept", async (...order) => {
      const { id, session, stripeId } = await bought();
      await m.tells("invoice.paid", firstInvoice(session));
      for (const step of order) await steps[step](id, stripeId);
      await m.deliver();
      expect(await m.refunds(id)).toEqual(["ours failed 20000 succeeded", "ours failed 20000 succeeded"]);
      expect(await subscriptionOf(id)).toMatchObject({ state: "cancelled" });
      expect(await m.problems()).toEqual([]);
    });
  });

  test.each([
    ["long before", -7200, true],
    ["in the very second", 0, true],
    ["a second after", 1, false],
  ] as const)(
    "a month that was paid %s an operator ended the subscription counts by its time (%i): it is %s",
    async (_, after, counts) => {
      const { id, session, stripeId } = await bought();
      await m.tells("invoice.paid", firstInvoice(session));
      await rowsOf(m.superuser, "select public.end_subscription($1, 'The term is over.', 'otto')", [id]);
      const { second } = await oneOf<{ second: number }>(
        m.superuser,
        "select floor(extract(epoch from cancel_asked_at))::integer as second from billing.subscriptions where request_id = $1",
        [id],
      );
      const paid = { created: second - 10_000, status_transitions: { paid_at: second + after } };
      await m.tells("invoice.paid", invoiceOf(stripeId, paid));
      await m.deliver();
      expect((await m.payments(id)).map((payment) => [payment.purpose, payment.counts, payment.refund_reason])).toEqual(
        [
          ["confirmation", true, null],
          ["renewal", counts, counts ? null : "ended"],
        ],
      );
      expect(await m.problems()).toEqual([]);
    },
  );

  test("a month found late does not make later months paid: the newest month decides the status", async () => {
    const { id, session, stripeId } = await bought();
    await m.tells("invoice.paid", firstInvoice(session));
    await m.tells("invoice.payment_failed", invoiceOf(stripeId, { status: "open", amount_paid: 0 }), { ago: 60 });
    const paid_at = Math.floor(Date.now() / 1000) - 3600;
    m.stripe.lists.set("invoices", [invoiceOf(stripeId, { paid_at })]);
    await rowsOf(m.superuser, "select billing.reconcile_payments('otto')");
    for (let n = 0; n < 6; n += 1) await m.deliver();
    await m.timers();
    m.stripe.lists.clear();
    expect((await m.payments(id)).map(({ purpose }) => purpose)).toEqual(["confirmation", "renewal"]);
    expect(await subscriptionOf(id)).toMatchObject({ state: "past_due" });
  });

  test("a month that Stripe has moved past and whose payment was not reported is asked for", async () => {
    const { id, session, stripeId } = await bought();
    await m.tells("invoice.paid", firstInvoice(session));
    m.stripe.put({ object: "subscription", id: stripeId, status: "active", current_period_end: inDays(60) });
    const late = invoiceOf(stripeId, { created: inDays(-40), paid_at: inDays(-19) });
    await m.look(id);
    await m.deliver();
    await m.deliver();
    expect(await m.payments(id)).toMatchObject([
      { purpose: "confirmation" },
      { payment_intent: late["payment_intent"] },
    ]);
    expect(await m.problems()).toEqual([]);
  });
});
