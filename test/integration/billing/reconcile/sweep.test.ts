/**
 * What the sweep does for money: it asks for what missing webhooks did not report, compares Stripe's objects with ours, and reopens what
 * failed.
 */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { codeOf, oneOf, rowsOf } from "../../capacity/harness.ts";
import { startMoney } from "../harness.ts";
import { textOf, type Thing } from "../stand-in.ts";

describe.each(POSTGRES_VERSIONS)("the money sweep on PostgreSQL %i", async (version) => {
  const m = await startMoney(version);
  const resolved =
    "update billing.findings set resolved_at = now(), resolved_by = 'x', resolution = 'x' where resolved_at is null";
  const reconcile = async (): Promise<{ found: number; finished_at: Date | null; cursor: string | null }> => {
    const { id } = await oneOf<{ id: string }>(m.superuser, "select billing.reconcile_payments('otto') as id");
    for (let n = 0; n < 6; n += 1) await m.deliver();
    await m.timers();
    return oneOf(m.superuser, "select * from billing.reconciliations where id = $1", [id]);
  };

  test("the sweep asks about a session whose webhook never came, and its payment counts", async () => {
    const { id, session } = await m.opened();
    m.paid(session);
    await m.look(id);
    await m.deliver();
    expect(await m.state(id)).toBe("PROVISIONING");
    const { event_id } = await oneOf<{ event_id: string }>(
      m.superuser,
      "select event_id from billing.payments where request_id = $1",
      [id],
    );
    expect(event_id).toMatch(/^look:\d+$/);
    await m.tells("checkout.session.completed", m.stripe.things.get(session.id));
    expect(await m.books(id)).toEqual(["taken 120000"]);
    expect(await m.problems()).toEqual([]);
  });

  test("a processing payment whose failure was not reported is found through its payment intent", async () => {
    const { id, session } = await m.opened();
    const unpaid = m.paid(session, { payment_status: "unpaid" });
    await m.tells("checkout.session.completed", unpaid);
    m.stripe.put({
      object: "payment_intent",
      id: textOf(unpaid["payment_intent"]),
      status: "requires_payment_method",
      metadata: session["metadata"]!,
    });
    await m.look(id);
    await m.deliver();
    await m.deliver();
    expect((await m.checkout(id))?.state).toBe("failed");
  });

  test("a page that was paid while we closed it is a payment, and goes back", async () => {
    const { id, session } = await m.opened();
    m.paid(session);
    await m.apply(id, "CANCEL_APPROVED", "rita");
    await m.deliver();
    await m.deliver();
    expect(await m.refunds(id)).toEqual(["ours cancelled 120000 succeeded"]);
    expect(await m.state(id)).toBe("CANCELLED");
  });

  test("a payment that only Stripe knows is found by its metadata", async () => {
    const { id, session } = await m.opened();
    await m.apply(id, "CANCEL_APPROVED", "rita");
    await m.deliver();
    const stray = m.stripe.put({
      ...m.paid(session),
      id: m.stripe.nextId("cs"),
      payment_intent: m.stripe.nextId("pi"),
    });
    m.stripe.lists.set("sessions", [stray]);
    const result = await reconcile();
    expect(result).toMatchObject({ found: 1, cursor: null });
    expect(result.finished_at).not.toBeNull();
    await m.deliver();
    expect(await m.payments(id)).toMatchObject([{ purpose: "unmatched", counts: false, refund_reason: "cancelled" }]);
    expect(await m.refunds(id)).toEqual(["ours cancelled 120000 succeeded"]);
    m.stripe.lists.delete("sessions");
    expect(await m.problems()).toEqual([]);
  });

  test("a payment of an unknown checkout that matches the open offer counts", async () => {
    const { id, session } = await m.opened();
    const stray: Thing = { ...m.paid(session), id: m.stripe.nextId("cs"), payment_intent: m.stripe.nextId("pi") };
    expect(await m.tells("checkout.session.completed", stray)).toMatchObject({ outcome: "done" });
    expect(await m.payments(id)).toMatchObject([{ purpose: "unmatched", counts: true }]);
    expect(await m.state(id)).toBe("PROVISIONING");
    expect(await m.problems()).toEqual([]);
  });

  test("unreported refunds, disputes and renewals are found by comparison", async () => {
    const { id, session } = await m.bought();
    const { id: monthlyId, session: monthly } = await m.bought({ size: "MONTHLY" });
    const intent = textOf(session["payment_intent"]);
    const common = { currency: "usd", payment_intent: intent, created: Math.floor(Date.now() / 1000) };
    m.stripe.lists.set("refunds", [
      { object: "refund", id: m.stripe.nextId("re"), status: "succeeded", amount: 100, metadata: {}, ...common },
    ]);
    m.stripe.lists.set("disputes", [
      { object: "dispute", id: m.stripe.nextId("dp"), status: "needs_response", amount: 119_900, ...common },
    ]);
    m.stripe.lists.set("invoices", [
      {
        object: "invoice",
        id: m.stripe.nextId("in"),
        status: "paid",
        amount_paid: 40_000,
        currency: "usd",
        billing_reason: "subscription_cycle",
        subscription: monthly["subscription"]!,
        payment_intent: m.stripe.nextId("pi"),
        metadata: {},
      },
    ]);
    expect(await reconcile()).toMatchObject({ found: 3 });
    expect(await m.books(id)).toEqual(["taken 120000", "refunded -100", "disputed -119900"]);
    expect(await m.books(monthlyId)).toEqual(["taken 40000", "taken 40000"]);
    expect(await reconcile()).toMatchObject({ found: 0 });
    m.stripe.lists.clear();
    expect(await m.problems()).toEqual([]);
  });

  test("what changed long after it was created is found through its events", async () => {
    const { id, session } = await m.bought();
    const { id: monthlyId, session: monthly } = await m.bought({ size: "MONTHLY" });
    const intent = textOf(session["payment_intent"]);
    const monthAgo = Math.floor(Date.now() / 1000) - 30 * 86_400;
    const common = { currency: "usd", payment_intent: intent, created: monthAgo };
    const refund = { object: "refund", id: m.stripe.nextId("re"), amount: 100, metadata: {}, ...common };
    const dispute = { object: "dispute", id: m.stripe.nextId("dp"), amount: 119_900, ...common };
    await m.tells("refund.created", { ...refund, status: "succeeded" });
    await m.tells("charge.dispute.created", { ...dispute, status: "needs_response" });
    const invoice = {
      object: "invoice",
      id: m.stripe.nextId("in"),
      status: "paid",
      amount_paid: 40_000,
      currency: "usd",
      billing_reason: "subscription_cycle",
      subscription: monthly["subscription"]!,
      payment_intent: m.stripe.nextId("pi"),
      created: monthAgo,
      metadata: {},
    };
    const event = (type: string, object: Thing): Thing => ({
      object: "event",
      id: m.stripe.nextId("evt"),
      type,
      created: Math.floor(Date.now() / 1000) - 600,
      data: { object },
    });
    m.stripe.lists.set("changes", [
      event("charge.dispute.closed", { ...dispute, status: "won" }),
      event("refund.failed", { ...refund, status: "failed" }),
      event("invoice.paid", invoice),
    ]);
    expect(await reconcile()).toMatchObject({ found: 3, cursor: null });
    expect(await m.books(id)).toEqual([
      "taken 120000",
      "refunded -100",
      "disputed -119900",
      "dispute_won 119900",
      "refund_failed 100",
    ]);
    expect(await m.books(monthlyId)).toEqual(["taken 40000", "taken 40000"]);
    expect(await reconcile()).toMatchObject({ found: 0 });
    m.stripe.lists.clear();
    expect(await m.problems()).toEqual([]);
  });

  test("a dispute without a time does not stop a comparison", async () => {
    const { session } = await m.bought();
    const dispute = {
      object: "dispute",
      id: m.stripe.nextId("dp"),
      status: "needs_response",
      amount: 100,
      currency: "usd",
    };
    await m.tells("charge.dispute.created", { ...dispute, payment_intent: session["payment_intent"], created: 0 });
    expect(await reconcile()).toMatchObject({ cursor: null, finished_at: expect.any(Date) });
    expect(m.stripe.asked("list").map(({ since }) => Number(since) > 1_000_000_000)).not.toContain(false);
  });

  test("the sweep compares once an hour, and gives up a comparison that never ended", async () => {
    const open = "select count(*)::int as n from billing.reconciliations where asked_by = 'sweep'";
    await m.timers();
    const before = await oneOf<{ n: number }>(m.superuser, open);
    await m.timers();
    expect(await oneOf(m.superuser, open)).toEqual(before);
    await rowsOf(
      m.superuser,
      "update billing.reconciliations set asked_at = asked_at - interval '2 hours', finished_at = null, cursor = 'refunds:'",
    );
    await m.timers();
    // Its pages were still arriving a moment ago.
    expect(await oneOf(m.superuser, open)).toEqual(before);
    await rowsOf(m.superuser, "update billing.reconciliations set moved_at = moved_at - interval '2 hours'");
    await m.timers();
    expect(await oneOf(m.superuser, open)).toEqual({ n: before.n + 1 });
    const unfinished = "select from billing.reconciliations where finished_at is null";
    expect(await rowsOf(m.superuser, unfinished)).toHaveLength(1);
    expect(await codeOf(rowsOf(m.superuser, "select billing.reconcile_payments('')"))).toBe("invalid_input");
  });

  test("comparisons by people do not shorten the sweep's own", async () => {
    await rowsOf(m.superuser, "delete from billing.reconciliations");
    await m.opened();
    await m.timers();
    const ended =
      "update billing.reconciliations set asked_at = now() - interval '10 days', moved_at = now() - interval '10 days', cursor = null, finished_at = now()";
    await rowsOf(m.superuser, `${ended} where asked_by = 'sweep'`);
    expect(await reconcile()).toMatchObject({ cursor: null });
    const { days } = await oneOf<{ days: number }>(
      m.superuser,
      `select extract(day from now() - since)::int as days from billing.reconciliations where asked_by = 'sweep'
        order by asked_at desc limit 1`,
    );
    expect(days).toBe(11);
  });

  test("unreadable answers hold up no others", async () => {
    const good = await m.opened();
    const bad = await m.opened();
    m.paid(good.session);
    await rowsOf(
      m.superuser,
      `insert into billing.sightings (outbox_key, object, seen_at, next_read_at)
       select 'billing/list:no', '{"objects": "none"}'::jsonb, now() - interval '1 minute', now() - interval '1 hour' from generate_series(1, 200)
       union all
       select 'billing/look:session:' || $1, $2::jsonb, now(), now() - interval '1 hour' from generate_series(1, 200)`,
      [bad.session.id, JSON.stringify(bad.session)],
    );
    const holder = await m.db.superuser.connect();
    await holder.query("begin");
    await holder.query("select from capacity.requests where id = $1 for update", [bad.id]);
    await m.look(good.id);
    await m.deliver();
    await m.timers();
    expect(await m.state(good.id)).toBe("PROVISIONING");
    await holder.query("commit");
    await holder.end();
    await rowsOf(m.superuser, "delete from billing.sightings");
  });

  test("only what came back on Stripe's rail, for a row of ours, is treated as Stripe's answer", async () => {
    const { id, session } = await m.opened();
    const paid = { ...m.paid(session), client_reference_id: session["client_reference_id"] ?? null };
    const captured = (stream: string, rail: string) =>
      rowsOf(
        m.superuser,
        `select billing.keep_answers(jsonb_build_array(jsonb_build_object(
           'stream', $1::text, 'rail', $2::text, 'key', 'k', 'name', 'seen', 'value', $3::jsonb, 'outbox_id', gen_random_uuid())))`,
        [stream, rail, JSON.stringify(paid)],
      );
    for (const stream of ["billing", "payments", "refunds", "subscriptions"]) await captured(stream, "shop");
    // On Stripe's rail, of a row in payments that no refund of ours names.
    await captured("payments", "stripe");
    await rowsOf(m.superuser, "select billing.sweep('{}')");
    expect(await m.state(id)).toBe("CUSTOMER_CONFIRMATION_REQUIRED");
    await captured("billing", "stripe");
    await rowsOf(m.superuser, "select billing.sweep('{}')");
    expect(await m.state(id)).toBe("PROVISIONING");
  });

  test("an unreadable answer does not hold up others of the same request forever", async () => {
    const { session: other } = await m.bought();
    const { id, session } = await m.opened();
    const paid = m.paid(session);
    for (const intent of [other["payment_intent"], paid["payment_intent"]]) {
      await rowsOf(
        m.superuser,
        "insert into billing.sightings (outbox_key, object) values ('billing/look:session:x', $1)",
        [JSON.stringify({ ...paid, payment_intent: intent })],
      );
    }
    // The first names the payment of another request.
    const sweep = () => rowsOf(m.superuser, "select billing.sweep('{}')");
    await sweep();
    expect(await m.state(id)).toBe("CUSTOMER_CONFIRMATION_REQUIRED");
    const later = "select retry_at - now() as wait from capacity.timer_failures where request_id = $1";
    const { wait } = await oneOf<{ wait: unknown }>(m.superuser, later, [id]);
    await rowsOf(m.superuser, "update billing.sightings set next_read_at = next_read_at - $1::interval", [wait]);
    await rowsOf(m.superuser, "update capacity.timer_failures set retry_at = retry_at - $1::interval", [wait]);
    await sweep();
    expect(await m.state(id)).toBe("PROVISIONING");
    await rowsOf(m.superuser, "delete from billing.sightings");
    await rowsOf(m.superuser, "delete from capacity.timer_failures where request_id = $1", [id]);
  });

  test("an answer that was readable in the end leaves no failure behind", async () => {
    const { id, session } = await m.opened();
    const paid = m.paid(session);
    await rowsOf(
      m.superuser,
      `insert into capacity.timer_failures (request_id, timer, error_code, message, retry_at) values ($1, 'billing', 'x', 'x', now())`,
      [id],
    );
    await rowsOf(
      m.superuser,
      "insert into billing.sightings (outbox_key, object) values ('billing/look:session:x', $1)",
      [JSON.stringify(paid)],
    );
    await m.timers();
    expect(await m.state(id)).toBe("PROVISIONING");
    expect(await rowsOf(m.superuser, "select from capacity.timer_failures where request_id = $1", [id])).toEqual([]);
  });

  test("a given-up refund is not repeated because of a query that is older than its last try", async () => {
    const { id } = await m.bought();
    m.stripe.instead("refund", () => ({ kind: "rejected", code: "card_gone", reason: "no" }));
    await m.apply(id, "CANCEL_APPROVED", "rita");
    await m.deliver();
    await rowsOf(
      m.superuser,
      `insert into billing.sightings (outbox_key, object, seen_at)
       select 'billing/look:refunds:' || p.payment_intent, '{"objects": []}', now() - interval '1 hour' from billing.payments p where p.request_id = $1`,
      [id],
    );
    await m.timers();
    expect(await m.refunds(id)).toEqual(["ours cancelled 120000 sent"]);
    await m.look(id);
    await m.deliver();
    await m.deliver();
    expect(await m.refunds(id)).toEqual(["ours cancelled 120000 superseded", "ours cancelled 120000 succeeded"]);
    expect(await m.problems()).toEqual([]);
  });

  test("a refund is made again after a person found that it never reached Stripe", async () => {
    const { id } = await m.bought();
    m.stripe.instead("refund", () => ({ kind: "rejected", code: "card_gone", reason: "no" }));
    await m.apply(id, "CANCEL_APPROVED", "rita");
    await m.deliver();
    const row = "(select r.outbox_id from billing.refunds r where r.request_id = $1)";
    await rowsOf(m.superuser, `update outbox.dead set uncertain = true where outbox_id = ${row}`, [id]);
    await rowsOf(
      m.superuser,
      `select outbox.resolve_dead(${row}, false, 'user:otto', 'Their logs have no such call.')`,
      [id],
    );
    await m.look(id);
    await m.deliver();
    await m.deliver();
    expect(await m.refunds(id)).toEqual(["ours cancelled 120000 superseded", "ours cancelled 120000 succeeded"]);
  });

  test("one bad row does not stop others", async () => {
    const bad = await m.opened();
    const good = await m.opened();
    m.paid(good.session);
    await rowsOf(m.superuser, "insert into billing.sightings (outbox_key, object) values ('billing/list:no', $1)", [
      JSON.stringify({ objects: "none" }),
    ]);
    await m.look(bad.id);
    await m.look(good.id);
    await m.deliver();
    expect(await m.state(good.id)).toBe("PROVISIONING");
    await rowsOf(m.superuser, "delete from billing.sightings where outbox_key = 'billing/list:no'");
  });

  test("a payment for a request that does not exist here is a finding, once", async () => {
    const { session } = await m.opened();
    const metadata = { ...(session["metadata"] as object), headroom_request: "CR-2026-000000" };
    const stray = { ...m.paid(session), id: m.stripe.nextId("cs"), metadata };
    expect(await m.tells("checkout.session.completed", stray)).toMatchObject({ status: 422, code: "unknown_payment" });
    expect(await m.tells("checkout.session.completed", stray)).toMatchObject({ status: 422 });
    expect(await m.problems()).toMatchObject([{ code: "open_finding", subject: stray.id }]);
    const { id } = await oneOf<{ id: string }>(
      m.superuser,
      "select id from billing.findings where resolved_at is null",
    );
    await rowsOf(m.superuser, "select billing.resolve_finding($1, 'otto', 'refunded by hand')", [id]);
    expect(await m.problems()).toEqual([]);
    await rowsOf(m.superuser, resolved);
  });
});
