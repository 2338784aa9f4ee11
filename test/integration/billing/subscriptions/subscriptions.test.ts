/**
 * Monthly prices: renewals, failed renewals, the end of the term, and endings by us or in Stripe. Nothing is torn down automatically.
 */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf, rowsOf } from "../../capacity/harness.ts";
import { startMoney } from "../harness.ts";
import { inDays, subscribingWith } from "../subscribing.ts";
import { textOf } from "../stand-in.ts";

describe.each(POSTGRES_VERSIONS)("subscriptions on PostgreSQL %i", async (version) => {
  const m = await startMoney(version);
  const { monthly, bought, invoiceOf, firstInvoice, subscriptionOf } = subscribingWith(m);

  test("a paid first month begins a subscription; its invoice adds the payment's id and is no second payment", async () => {
    const { id, session } = await bought();
    expect(await m.state(id)).toBe("PROVISIONING");
    expect(await subscriptionOf(id)).toMatchObject({ kind: "recurring", state: "active" });
    const first = firstInvoice(session);
    expect(await m.tells("invoice.paid", first)).toMatchObject({ outcome: "done" });
    expect(await m.payments(id)).toMatchObject([{ counts: true, payment_intent: first["payment_intent"] }]);
    expect(await m.books(id)).toEqual(["taken 20000"]);
    expect(await m.problems()).toEqual([]);
  });

  test("the first invoice that comes before its session is no payment of its own", async () => {
    const { id, session } = await m.opened(monthly);
    const paid = m.paid(session);
    expect(await m.tells("invoice.paid", firstInvoice(paid))).toMatchObject({ outcome: "ignored" });
    await m.tells("checkout.session.completed", paid);
    expect(await m.books(id)).toEqual(["taken 20000"]);
    await m.look(id);
    await m.deliver();
    expect((await m.payments(id))[0]?.payment_intent).toMatch(/^pi_/);
  });

  test("a request fails before the payment's id is known: Stripe is asked for it, the refund goes out, and the subscription ends", async () => {
    const { id, session, stripeId } = await bought();
    firstInvoice(session);
    await m.apply(id, "PROVISIONING_FAILED", "otto");
    expect(await m.refunds(id)).toEqual(["ours failed 20000 held payment_intent"]);
    await m.look(id);
    await m.deliver();
    await m.deliver();
    expect(await m.refunds(id)).toEqual(["ours failed 20000 succeeded"]);
    expect(m.stripe.asked("subscription.cancel").map((asked) => asked["subscription_id"])).toContain(stripeId);
    expect(await subscriptionOf(id)).toMatchObject({ state: "cancelled" });
    expect(await m.problems()).toEqual([]);
  });

  test("each renewal is recorded and announced once", async () => {
    const { id, stripeId } = await bought();
    const renewal = invoiceOf(stripeId);
    await m.tells("invoice.paid", renewal);
    expect(await m.tells("invoice.paid", renewal)).toMatchObject({ outcome: "known" });
    expect((await m.payments(id)).map(({ purpose, counts }) => [purpose, counts])).toEqual([
      ["confirmation", true],
      ["renewal", true],
    ]);
    expect((await m.said(id)).at(-1)).toBe("The subscription was renewed: USD 200.00.");
    const until =
      "select paid_until > now() + interval '50 days' as later from billing.subscriptions where request_id = $1";
    expect(await oneOf(m.superuser, until, [id])).toEqual({ later: true });
    expect(await m.problems()).toEqual([]);
  });

  test("a renewal fails: a grace period begins, then the subscription is unpaid, and nothing is torn down", async () => {
    const { id, stripeId } = await bought();
    const failed = invoiceOf(stripeId, { status: "open", amount_paid: 0 });
    await m.tells("invoice.payment_failed", failed);
    expect(await m.tells("invoice.payment_failed", failed)).toMatchObject({ outcome: "known" });
    expect(await subscriptionOf(id)).toMatchObject({ state: "past_due" });
    await rowsOf(m.superuser, "update billing.subscriptions set grace_until = now() where request_id = $1", [id]);
    await m.look(id);
    expect(await subscriptionOf(id)).toMatchObject({ state: "unpaid" });
    expect(await m.state(id)).toBe("PROVISIONING");
    expect((await m.said(id)).slice(-2)).toEqual([
      "The renewal of the subscription failed. Stripe tries again; if nothing is paid within 7 days, it is treated as unpaid.",
      "The subscription is unpaid, and the grace period has ended. This does not stop the capacity: an operator decides what happens to it.",
    ]);
    await m.tells("invoice.paid", { ...failed, status: "paid", amount_paid: 20_000 });
    expect(await subscriptionOf(id)).toMatchObject({ state: "active", grace_until: null });
  });

  test("a failure that is older than the payment that followed it changes nothing", async () => {
    const { id, stripeId } = await bought();
    const renewal = invoiceOf(stripeId);
    await m.tells("invoice.paid", renewal);
    const other = invoiceOf(stripeId, { status: "open" });
    expect(await m.tells("invoice.payment_failed", other, { ago: 60 })).toMatchObject({ outcome: "known" });
    const stale = { object: "subscription", id: stripeId, status: "past_due" };
    expect(await m.tells("customer.subscription.updated", stale, { ago: 60 })).toMatchObject({ outcome: "known" });
    expect(await subscriptionOf(id)).toMatchObject({ state: "active" });
  });

  test("ended in Stripe: the end is recorded and announced, and the capacity stays", async () => {
    const { id, stripeId } = await bought();
    const will = {
      object: "subscription",
      id: stripeId,
      status: "active",
      cancel_at_period_end: true,
      current_period_end: inDays(30),
    };
    await m.tells("customer.subscription.updated", will);
    expect((await m.said(id)).at(-1)).toMatch(/^In Stripe the subscription was set to end on \d{4}-\d\d-\d\d\./);
    await m.tells("customer.subscription.deleted", { object: "subscription", id: stripeId, status: "canceled" });
    expect(await subscriptionOf(id)).toMatchObject({ state: "cancelled" });
    expect(await m.state(id)).toBe("PROVISIONING");
    expect((await m.said(id)).at(-1)).toMatch(/^The subscription was ended in Stripe/);
    expect(await m.tells("customer.subscription.updated", will)).toMatchObject({ outcome: "known" });
    expect(await m.problems()).toEqual([]);
  });

  test("a renewal of a subscription that we ended goes back", async () => {
    const { id, session, stripeId } = await bought();
    await m.tells("invoice.paid", firstInvoice(session));
    await m.apply(id, "CANCEL_APPROVED", "rita");
    await m.tells("invoice.paid", invoiceOf(stripeId));
    await m.deliver();
    expect((await m.refunds(id)).toSorted()).toEqual([
      "ours cancelled 20000 succeeded",
      "ours cancelled 20000 succeeded",
    ]);
    expect(await m.problems()).toEqual([]);
  });

  test("a renewal from before the end counts, even when it is reported only afterwards", async () => {
    const { id, session, stripeId } = await bought();
    await m.tells("invoice.paid", firstInvoice(session));
    await m.tells("customer.subscription.deleted", { object: "subscription", id: stripeId, status: "canceled" });
    const created = Math.floor(Date.now() / 1000) - 600;
    await m.tells("invoice.paid", invoiceOf(stripeId, { created }), { ago: 600 });
    await m.tells("invoice.paid", invoiceOf(stripeId, { created: created + 1200 }));
    expect((await m.payments(id)).map(({ purpose, counts }) => [purpose, counts])).toEqual([
      ["confirmation", true],
      ["renewal", true],
      ["renewal", false],
    ]);
    await m.deliver();
    expect(await m.problems()).toEqual([]);
  });

  test("a subscription's end that was given up is requested again", async () => {
    const { id, stripeId } = await bought();
    m.stripe.instead("subscription.cancel", () => ({ kind: "rejected", code: "http_400", reason: "not today" }));
    await m.apply(id, "CANCEL_APPROVED", "rita");
    await m.deliver();
    expect(await subscriptionOf(id)).toMatchObject({ state: "active" });
    await m.look(id);
    await m.deliver();
    expect(await subscriptionOf(id)).toMatchObject({ state: "cancelled" });
    const asked = m.stripe.asked("subscription.cancel").filter((each) => each["subscription_id"] === stripeId);
    expect(asked).toHaveLength(2);
  });

  test("a second subscription of the same request is refunded and ended; what it charges later is refunded too", async () => {
    const { id, session } = await m.opened(monthly);
    await rowsOf(m.superuser, "update billing.checkouts set expires_at = now() where request_id = $1", [id]);
    await m.begin(id);
    await m.deliver();
    const other = m.stripe.things.get((await m.checkout(id))!.url!.split("/").at(-1)!)!;
    await m.tells("checkout.session.completed", m.paid(session, { payment_intent: m.stripe.nextId("pi") }));
    const second = m.paid(other, { payment_intent: m.stripe.nextId("pi") });
    await m.tells("checkout.session.completed", second);
    const stray = invoiceOf(textOf(second["subscription"]), { metadata: session["metadata"]! });
    await m.tells("invoice.paid", stray);
    await m.deliver();
    expect((await m.payments(id)).map(({ purpose, refund_reason }) => [purpose, refund_reason])).toEqual([
      ["confirmation", null],
      ["confirmation", "duplicate"],
      ["unmatched", "unmatched"],
    ]);
    expect((await m.refunds(id)).length).toBe(2);
    const ended = m.stripe
      .asked("subscription.cancel")
      .filter((asked) => asked["subscription_id"] === second["subscription"]);
    expect(ended).toHaveLength(1);
    expect(await m.problems()).toEqual([]);
  });

  test("the end of the term is announced once, and the capacity stays", async () => {
    const { id } = await m.bought({ durationDays: 30 });
    await m.says(await m.job(id), { signal: "succeeded" });
    await rowsOf(
      m.superuser,
      "update billing.subscriptions set ends_at = now() - interval '1 second' where request_id = $1",
      [id],
    );
    await m.look(id);
    await m.look(id);
    expect((await m.said(id)).filter((said) => said.startsWith("The requested term has ended."))).toHaveLength(1);
    expect(await subscriptionOf(id)).toMatchObject({ state: "ended" });
    expect(await m.state(id)).toBe("COMPLETED");
  });

  test("an operator ends a subscription: Stripe is asked once, later charges are refunded, and the capacity stays", async () => {
    const { id, session, stripeId } = await bought();
    await m.tells("invoice.paid", firstInvoice(session));
    await m.says(await m.job(id), { signal: "succeeded" });
    const end = "select public.end_subscription($1, 'The term is over.', $2) as money";
    await expect(rowsOf(m.superuser, end, [id, "rita"])).rejects.toMatchObject({
      message: "Only an operator or an admin ends a subscription.",
    });
    await expect(rowsOf(m.superuser, end.replace("'The term is over.'", "' '"), [id, "otto"])).rejects.toMatchObject({
      message: expect.stringMatching(/^This needs a reason/),
    });
    await rowsOf(m.superuser, "delete from capacity.acts");
    await rowsOf(m.superuser, end, [id, "otto"]);
    expect(await rowsOf(m.superuser, "select split_part(account, ' ', 1) as who from capacity.acts")).toEqual([
      { who: "otto" },
    ]);
    expect(await oneOf(m.superuser, end, [id, "otto"])).toMatchObject({
      money: { subscription: { stripe_id: stripeId, cancel_asked_at: expect.any(String) } },
    });
    await m.deliver();
    expect(m.stripe.asked("subscription.cancel").filter((asked) => asked["subscription_id"] === stripeId)).toHaveLength(
      1,
    );
    expect(await subscriptionOf(id)).toMatchObject({ state: "cancelled" });
    expect((await m.said(id)).filter((said) => said.includes("ends the subscription"))).toHaveLength(1);
    await expect(rowsOf(m.superuser, end, [id, "otto"])).rejects.toMatchObject({
      message: "The subscription has already ended, and nothing is charged any more.",
    });
    await m.tells("invoice.paid", invoiceOf(stripeId));
    await m.deliver();
    expect(await m.refunds(id)).toEqual(["ours ended 20000 succeeded"]);
    expect(await m.state(id)).toBe("COMPLETED");
    expect(await m.problems()).toEqual([]);
  });

  test("a single payment, or none, has no subscription to end", async () => {
    const { id } = await m.bought();
    const other = await m.offered(monthly);
    for (const each of [id, other]) {
      await expect(
        rowsOf(m.superuser, "select public.end_subscription($1, 'why', 'otto')", [each]),
      ).rejects.toMatchObject({ message: "Nothing is charged again for this request, so there is nothing to end." });
    }
  });

  test("a subscription that its payment did not name is asked for, so that it can be ended", async () => {
    const { id, session } = await m.opened(monthly);
    const paid = m.paid(session);
    await m.tells("checkout.session.completed", { ...paid, subscription: null });
    expect(await subscriptionOf(id)).toMatchObject({ stripe_id: null });
    await m.apply(id, "CANCEL_APPROVED", "rita");
    await m.look(id);
    await m.deliver();
    expect(await subscriptionOf(id)).toMatchObject({ stripe_id: paid["subscription"] });
    await m.look(id);
    await m.deliver();
    expect(await subscriptionOf(id)).toMatchObject({ state: "cancelled" });
  });

  test.each(["past_due", "incomplete_expired"])(
    "a subscription whose first payment takes days and that Stripe calls %s has failed: it is ended",
    async (status) => {
      const { id, session } = await m.opened(monthly);
      const unpaid = m.paid(session, { payment_status: "unpaid" });
      await m.tells("checkout.session.completed", unpaid);
      const stripeId = textOf(unpaid["subscription"]);
      const metadata = session["metadata"]!;
      m.stripe.put({ object: "subscription", id: stripeId, status, metadata });
      // Nothing was reported: the sweep asks for the session, and then for the subscription behind it.
      for (let n = 0; n < 2; n += 1) {
        await m.look(id);
        await m.deliver();
      }
      expect((await m.checkout(id))?.state).toBe("failed");
      await m.deliver();
      const ended = m.stripe.asked("subscription.cancel").filter((asked) => asked["subscription_id"] === stripeId);
      expect(ended).toHaveLength(1);
    },
  );

  test.each(["invoice", "session"])(
    "a payment for a subscription that was ended because its first payment had failed is refunded, reported first by its %s",
    async (first) => {
      const { id, session } = await m.opened(monthly);
      const unpaid = m.paid(session, { payment_status: "unpaid" });
      await m.tells("checkout.session.completed", unpaid);
      await m.tells("checkout.session.async_payment_failed", unpaid);
      const invoice = { ...firstInvoice(unpaid), metadata: session["metadata"]! };
      const tell = {
        invoice: () => m.tells("invoice.paid", invoice),
        session: () =>
          m.tells("checkout.session.async_payment_succeeded", m.stripe.put({ ...unpaid, payment_status: "paid" })),
      };
      await (first === "invoice" ? tell.invoice() : tell.session());
      await (first === "invoice" ? tell.session() : tell.invoice());
      await m.deliver();
      await m.look(id);
      await m.deliver();
      expect(await m.refunds(id)).toEqual(["ours unmatched 20000 succeeded"]);
      expect(await m.state(id)).toBe("CUSTOMER_CONFIRMATION_REQUIRED");
      expect(await m.problems()).toEqual([]);
    },
  );
});
