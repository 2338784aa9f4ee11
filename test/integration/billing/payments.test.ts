/**
 * The customer confirms by paying, and money that bought nothing is refunded automatically.
 */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { oneOf, rowsOf } from "../capacity/harness.ts";
import { startMoney } from "./harness.ts";

describe.each(POSTGRES_VERSIONS)("payments on PostgreSQL %i", async (version) => {
  const m = await startMoney(version);
  const completed = "checkout.session.completed";

  test("a paid session confirms the request, makes its subscription and its job, and dispatches it once", async () => {
    const { id, session } = await m.opened();
    const paid = m.paid(session);
    expect(await m.tells(completed, paid)).toEqual({ received: true, new: true, outcome: "done" });
    expect(await m.state(id)).toBe("PROVISIONING");
    expect(await m.payments(id)).toMatchObject([
      { purpose: "confirmation", counts: true, payment_intent: paid["payment_intent"], refund_reason: null },
    ]);
    const bought = "select kind, state from billing.subscriptions where request_id = $1";
    expect(await rowsOf(m.superuser, bought, [id])).toEqual([{ kind: "one_off", state: "active" }]);
    const job = await m.job(id);
    expect(job).toMatchObject({ state: "queued" });
    expect((await m.calls(job)).map(({ what }) => what)).toEqual(["dispatch"]);
    expect(await m.books(id)).toEqual(["taken 120000"]);
    expect(await m.said(id)).toEqual([]);
    expect(await m.rootNow(id)).toContain("*Payment*: paid");
    expect(await m.checkout(id)).toMatchObject({ state: "paid", url: null });
    const used = "select used_for from capacity.confirmation_tokens where request_id = $1";
    expect(await oneOf(m.superuser, used, [id])).toEqual({ used_for: "CUSTOMER_CONFIRMED" });
    expect(await m.problems()).toEqual([]);
  });

  test("an event that comes twice, and another event of the same session, change nothing", async () => {
    const { id, session } = await m.opened();
    const paid = m.paid(session);
    const event = `evt_twice${version}`;
    await m.tells(completed, paid, { id: event });
    expect(await m.tells(completed, paid, { id: event })).toEqual({ received: true, new: false });
    expect(await m.tells("checkout.session.async_payment_succeeded", paid)).toMatchObject({ outcome: "known" });
    expect(await m.payments(id)).toHaveLength(1);
    expect(await m.books(id)).toEqual(["taken 120000"]);
    expect((await m.calls(await m.job(id))).map(({ what }) => what)).toEqual(["dispatch"]);
  });

  test("unpaid, then paid: the thread says that the payment is processing, and the job begins when it has arrived", async () => {
    const { id, session } = await m.opened();
    const unpaid = m.paid(session, { payment_status: "unpaid" });
    expect(await m.tells(completed, unpaid)).toMatchObject({ outcome: "done" });
    expect([await m.state(id), (await m.checkout(id))?.state]).toEqual([
      "CUSTOMER_CONFIRMATION_REQUIRED",
      "processing",
    ]);
    expect((await m.begin(id)).state).toBe("processing");
    await m.tells("checkout.session.async_payment_succeeded", { ...unpaid, payment_status: "paid" });
    expect(await m.state(id)).toBe("PROVISIONING");
    expect(await m.said(id)).toEqual([
      "Payment processing: the customer paid USD 1,200.00 by a method that takes a while. Provisioning begins when the money has arrived.",
    ]);
  });

  test("the same two out of order: paid stays paid", async () => {
    const { id, session } = await m.opened();
    const paid = m.paid(session);
    await m.tells("checkout.session.async_payment_succeeded", paid);
    const late = { ...paid, payment_status: "unpaid" };
    expect(await m.tells(completed, late, { ago: 60 })).toMatchObject({ outcome: "known" });
    expect(await m.tells("checkout.session.async_payment_failed", late)).toMatchObject({ outcome: "known" });
    expect([await m.state(id), (await m.checkout(id))?.state]).toEqual(["PROVISIONING", "paid"]);
  });

  test("a payment that takes days and fails leaves the offer open, and the customer pays again", async () => {
    const { id, session } = await m.opened();
    const unpaid = m.paid(session, { payment_status: "unpaid" });
    await m.tells(completed, unpaid);
    await m.tells("checkout.session.async_payment_failed", unpaid);
    expect([await m.state(id), (await m.checkout(id))?.state]).toEqual(["CUSTOMER_CONFIRMATION_REQUIRED", "failed"]);
    expect((await m.said(id)).at(-1)).toBe(
      "The customer's payment failed, and nothing was charged. They can pay again with the same link.",
    );
    expect((await m.begin(id)).state).toBe("asked");
    await m.deliver();
    expect((await m.checkout(id))?.url).toMatch(/^https:/);
  });

  test("the customer whose payment failed is told by mail, once, with the link to pay again", async () => {
    const { id, session } = await m.opened({ customer: { name: "Initech", email: "billing@initech.example" } });
    const unpaid = m.paid(session, { payment_status: "unpaid" });
    await m.tells(completed, unpaid);
    await m.tells("checkout.session.async_payment_failed", unpaid);
    await m.tells("checkout.session.async_payment_failed", unpaid);
    const letters = await rowsOf<{ subject: string; text: string; token: string | null }>(
      m.superuser,
      `select m.payload ->> 'subject' as subject, m.payload ->> 'text' as text, m.payload ->> 'confirmation_token_id' as token
         from notify.notifications n join notify.parts p on p.notification_id = n.id join notify.deliveries d on d.id = p.delivery_id
         join outbox.payloads m on m.outbox_id = d.outbox_id
        where n.idempotency_key like $1 || '!%/customer'`,
      [id],
    );
    expect(letters).toMatchObject([
      { subject: expect.stringMatching(/^Your payment failed: /), token: expect.any(String) },
    ]);
    expect(letters[0]?.text).toContain("did not go through, and nothing was charged");
    expect(letters[0]?.text).toContain("{{confirmation_link}}");
  });

  test("one of two pending payments fails: nobody is asked to pay again while the other may arrive", async () => {
    const { id, session } = await m.opened();
    await rowsOf(m.superuser, "update billing.checkouts set expires_at = now() where request_id = $1", [id]);
    m.stripe.instead("checkout.expire", () => ({ kind: "rejected", code: "http_400", reason: "it is complete" }));
    await m.begin(id);
    await m.deliver();
    const other = m.stripe.things.get((await m.checkout(id))!.url!.split("/").at(-1)!)!;
    const first = m.paid(session, { payment_status: "unpaid" });
    const second = m.paid(other, { payment_status: "unpaid" });
    expect(await m.tells(completed, second)).toMatchObject({ outcome: "done" });
    expect(await m.tells(completed, first)).toMatchObject({ outcome: "done" });
    expect(await m.tells("checkout.session.async_payment_failed", first)).toMatchObject({ outcome: "done" });
    expect((await m.said(id)).at(-1)).toBe("The customer's payment failed, and nothing was charged.");
  });

  test("a failure stays final when the report of processing comes after it", async () => {
    const { id, session } = await m.opened();
    const unpaid = m.paid(session, { payment_status: "unpaid" });
    await m.tells("checkout.session.async_payment_failed", unpaid);
    expect(await m.tells(completed, unpaid, { ago: 5 })).toMatchObject({ outcome: "known" });
    expect((await m.checkout(id))?.state).toBe("failed");
  });

  test.each([
    ["expired", "late", "it was paid after the offer had ended"],
    ["cancelled", "cancelled", "the request was cancelled"],
    ["declined", "declined", "the customer had declined the offer"],
  ])("paid after the request was %s: the money goes back", async (how, reason, words) => {
    const { id, session } = await m.opened();
    if (how === "expired") {
      await m.passDeadline(id);
      await m.timers();
    } else if (how === "cancelled") await m.apply(id, "CANCEL_APPROVED", "rita");
    else await m.apply(id, "CUSTOMER_DECLINED", "customer:customer");
    const before = await m.state(id);
    await m.tells(completed, m.paid(session));
    await m.deliver();
    expect(await m.state(id)).toBe(before);
    expect(await m.payments(id)).toMatchObject([{ counts: false, refund_reason: reason }]);
    expect(await m.refunds(id)).toEqual([`ours ${reason} 120000 succeeded`]);
    expect(await m.books(id)).toEqual(["taken 120000", "refunded -120000"]);
    expect(await m.said(id)).toEqual([
      `The customer paid USD 1,200.00, and it goes back: ${words}.`,
      `USD 1,200.00 went back to the customer: ${words}.`,
    ]);
    expect(await m.problems()).toEqual([]);
  });

  test("two tabs are paid: the first counts, the second is refunded", async () => {
    const { id, session } = await m.opened();
    await rowsOf(m.superuser, "update billing.checkouts set expires_at = now() where request_id = $1", [id]);
    const second = await m.begin(id);
    await m.deliver();
    expect(second.checkout_id).not.toBe((session["metadata"] as { headroom_checkout: string }).headroom_checkout);
    const other = m.stripe.things.get((await m.checkout(id))!.url!.split("/").at(-1)!)!;
    await m.tells(completed, m.paid(other));
    await m.tells(completed, m.paid(session));
    await m.deliver();
    expect((await m.payments(id)).map(({ counts, refund_reason }) => [counts, refund_reason])).toEqual([
      [true, null],
      [false, "duplicate"],
    ]);
    expect(await m.books(id)).toEqual(["taken 120000", "taken 120000", "refunded -120000"]);
    expect(await m.problems()).toEqual([]);
  });

  test("a price is withdrawn: people who wait are told, the page is closed, and a payment made anyway goes back", async () => {
    const price =
      "insert into billing.prices (workspace_id, size, kind, currency, unit_amount, created_by) values ('acme', $1, 'one_off', 'USD', 100, 'test') returning id";
    const { id: priceId } = await oneOf<{ id: string }>(m.superuser, price, ["WRONG"]);
    const { id, session } = await m.opened({ size: "WRONG" });
    const reviewed = await m.createIn("UNDER_REVIEW", { size: "WRONG" });
    await rowsOf(m.superuser, "select billing.withdraw_price($1, 'a typing error', 'otto')", [priceId]);
    for (const waiting of [id, reviewed]) {
      expect((await m.said(waiting)).at(-1)).toMatch(/^The price of USD 4.00 was withdrawn, and can no longer be paid/);
    }
    await expect(m.begin(id)).rejects.toMatchObject({ code: "PT410" });
    await m.tells(completed, m.paid(session));
    await m.deliver();
    expect(await m.refunds(id)).toEqual(["ours price_withdrawn 400 succeeded"]);
    expect(await m.state(id)).toBe("CUSTOMER_CONFIRMATION_REQUIRED");
    expect(m.stripe.asked("checkout.expire").map((asked) => asked["session_id"])).toContain(session.id);
  });

  test("while a payment is processing the offer does not expire; after some days it does, and the money goes back", async () => {
    const { id, session } = await m.opened();
    const unpaid = m.paid(session, { payment_status: "unpaid" });
    await m.tells(completed, unpaid, { ago: 60 });
    await m.passDeadline(id);
    await m.timers();
    expect(await m.state(id)).toBe("CUSTOMER_CONFIRMATION_REQUIRED");
    await rowsOf(
      m.superuser,
      `with h as (update capacity.expiry_holds set look_again_at = now() where request_id = $1), c as (update billing.checkouts set processing_since = processing_since - interval '20 days' where request_id = $1)
       update capacity.requests set next_deadline_at = next_deadline_at - interval '15 days' where id = $1`,
      [id],
    );
    await m.timers();
    expect(await m.state(id)).toBe("EXPIRED");
    await m.tells("checkout.session.async_payment_succeeded", { ...unpaid, payment_status: "paid" });
    await m.deliver();
    expect(await m.refunds(id)).toEqual(["ours late 120000 succeeded"]);
  });

  test("a payment that was processing at the deadline counts when it arrives later", async () => {
    const { id, session } = await m.opened();
    const unpaid = m.paid(session, { payment_status: "unpaid" });
    await m.tells(completed, unpaid, { ago: 60 });
    await m.passDeadline(id);
    await m.tells("checkout.session.async_payment_succeeded", { ...unpaid, payment_status: "paid" });
    expect(await m.state(id)).toBe("PROVISIONING");
  });

  test("a payment that began at the deadline itself holds the offer, and one that began a microsecond later does not", async () => {
    const { id, session } = await m.opened();
    await m.tells(completed, m.paid(session, { payment_status: "unpaid" }));
    const heldWith = async (after: string): Promise<unknown> => {
      const deadline = `update capacity.requests r set next_deadline_at = c.processing_since - $2::interval
        from billing.checkouts c where c.request_id = r.id and r.id = $1`;
      await rowsOf(m.superuser, deadline, [id, after]);
      const held = "select billing.held_until(r) is not null as held from capacity.requests r where r.id = $1";
      return oneOf(m.superuser, held, [id]);
    };
    expect(await heldWith("0")).toEqual({ held: true });
    expect(await heldWith("1 microsecond")).toEqual({ held: false });
    await rowsOf(
      m.superuser,
      "update capacity.requests set next_deadline_at = now() + interval '1 day' where id = $1",
      [id],
    );
  });

  test("paid after the deadline and before the sweep: too late", async () => {
    const { id, session } = await m.opened();
    await m.passDeadline(id);
    await rowsOf(
      m.superuser,
      "update capacity.requests set next_deadline_at = now() - interval '1 minute' where id = $1",
      [id],
    );
    await m.tells(completed, m.paid(session));
    expect(await m.payments(id)).toMatchObject([{ counts: false, refund_reason: "late" }]);
  });

  test("an amount in a currency without decimals is the amount that was offered", async () => {
    const { id } = await m.bought({ size: "YEN", quantity: 2 });
    expect(await m.payments(id)).toMatchObject([{ amount: 10_000, counts: true }]);
  });
});
