/**
 * Stripe's events over real HTTP: verified by its own library on the raw bytes, then by the database; a bad event is refused with a clear
 * message, and moves nothing.
 */
import { Stripe } from "stripe";
import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/outbox/index.ts";
import { oneOf, rowsOf } from "../../capacity/harness.ts";
import { startTestGateway } from "../../http/harness.ts";
import { secretKey } from "../../provisioning/harness.ts";
import { startMoney, webhookSecret } from "../harness.ts";
import type { Thing } from "../stand-in.ts";

const m = await startMoney(18);
const gateway = await startTestGateway(m.db, { database: { secretKey } });
const post = (body: string | Buffer, headers: Record<string, string>): Promise<Response> =>
  fetch(`${gateway.url}/webhooks/stripe`, { method: "POST", body, headers });
const sent = async (type: string, object: unknown, id?: string): Promise<Response> => {
  const { body, headers } = m.event(type, object, id === undefined ? {} : { id });
  return post(body, headers);
};
const written = (): Promise<Record<string, unknown>> =>
  oneOf(
    m.superuser,
    `select (select count(*) from inbound.receipts) as receipts, (select count(*) from billing.payments) as payments,
            (select count(*) from billing.entries) as entries, (select count(*) from billing.findings) as findings,
            (select count(*) from capacity.events) as events`,
  );

const isLive = async (): Promise<boolean> =>
  (await oneOf<{ live: boolean }>(m.superuser, "select live_since is not null as live from billing.installation")).live;
const setLive = (live: boolean): Promise<unknown> =>
  rowsOf(m.superuser, "update billing.installation set live_since = case when $1::boolean then now() end", [live]);
const purposes = async (id: string): Promise<unknown[]> => (await m.payments(id)).map(({ purpose }) => purpose);

const monthly = async (): Promise<{ id: string; invoice: (livemode: boolean) => Thing }> => {
  await setLive(false);
  const { id, session } = await m.bought({ size: "MONTHLY" });
  const invoice = (livemode: boolean): Thing => ({
    object: "invoice",
    id: m.stripe.nextId("in"),
    status: "paid",
    amount_paid: 40_000,
    currency: "usd",
    billing_reason: "subscription_cycle",
    subscription: session["subscription"]!,
    payment_intent: m.stripe.nextId("pi"),
    livemode,
    metadata: {},
  });
  return { id, invoice };
};

describe("Stripe's events over HTTP", () => {
  test("a payment is accepted and answered immediately, and a repeat is recognised", async () => {
    const { id, session } = await m.opened();
    const paid = m.paid(session);
    const first = await sent("checkout.session.completed", paid, "evt_http1");
    expect([first.status, await first.json()]).toEqual([200, { received: true, new: true, outcome: "done" }]);
    const again = await sent("checkout.session.completed", paid, "evt_http1");
    expect([again.status, await again.json()]).toEqual([200, { received: true, new: false }]);
    expect(await m.state(id)).toBe("PROVISIONING");
    const receipt =
      "select kind, outcome, request_id, workspace_id, payload from inbound.receipts where receipt_id = 'evt_http1'";
    expect(await oneOf(m.superuser, receipt)).toMatchObject({
      kind: "checkout.session.completed",
      outcome: "done",
      request_id: id,
      workspace_id: "acme",
      payload: { id: session.id, amount: 120_000, currency: "usd", payment_status: "paid" },
    });
  });

  test("what is kept of an event has no personal data", async () => {
    const { session } = await m.opened();
    const paid = { ...m.paid(session), customer_details: { email: "secret@initech.example", name: "Bill Lumbergh" } };
    await sent("checkout.session.completed", paid, "evt_private");
    const kept = await rowsOf(m.superuser, "select payload from inbound.receipts where receipt_id = 'evt_private'");
    expect(JSON.stringify(kept)).not.toMatch(/secret@|Lumbergh/);
  });

  const body = JSON.stringify({ id: "evt_x", type: "checkout.session.completed", created: 1, data: { object: {} } });
  const sign = (secret: string, payload = body, timestamp?: number): Record<string, string> => ({
    "stripe-signature": Stripe.webhooks.generateTestHeaderString({
      payload,
      secret,
      ...(timestamp === undefined ? {} : { timestamp }),
    }),
  });
  test.each<[string, () => Record<string, string>, string]>([
    ["another secret", () => sign("whsec_other"), body],
    ["no signature", () => ({}), body],
    ["a garbled one", () => ({ "stripe-signature": "t=now,v1=zz" }), body],
    ["one of six minutes ago", () => sign(webhookSecret, body, Math.floor(Date.now() / 1000) - 360), body],
    ["another body", () => sign(webhookSecret), `${body} `],
  ])("%s is refused, and nothing is written", async (_, headers, sentBody) => {
    const before = await written();
    const response = await post(sentBody, headers());
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ code: "bad_signature" });
    expect(await written()).toEqual(before);
  });

  test.each([
    ["not JSON", "not json"],
    ["an empty object", "{}"],
    ["a list", "[]"],
    ["an event without an object", JSON.stringify({ id: "evt_1", type: "x", created: 1, data: {} })],
    [
      "an event with an odd id",
      JSON.stringify({ id: "no!", type: "refund.created", created: 1, data: { object: {} } }),
    ],
    ["an event without a time", JSON.stringify({ id: "evt_2", type: "refund.created", data: { object: {} } })],
    ["nested too deeply", `${"[".repeat(100)}${"]".repeat(100)}`],
  ])("%s is refused although it is signed, and nothing is written", async (_, text) => {
    const before = await written();
    const response = await post(text, sign(webhookSecret, text));
    expect(response.status).toBe(400);
    expect(await written()).toEqual(before);
  });

  test("an event of no interest, of another account, or of another installation is kept and ignored", async () => {
    const { id, session } = await m.opened();
    const paid = m.paid(session);
    const theirs = {
      ...paid,
      id: "cs_theirs",
      metadata: { ...(paid["metadata"] as object), headroom_installation: "7f9c24e8-0000-0000-0000-000000000000" },
    };
    expect(await (await sent("customer.created", { object: "customer", id: "cus_1" })).json()).toMatchObject({
      outcome: "ignored",
    });
    expect(await (await sent("checkout.session.completed", theirs)).json()).toMatchObject({ outcome: "ignored" });
    expect(
      await (await sent("checkout.session.completed", { ...paid, object: "payment_intent" })).json(),
    ).toMatchObject({ outcome: "ignored" });
    const { body: text } = m.event("checkout.session.completed", paid);
    const connected = JSON.stringify({ ...(JSON.parse(text) as object), account: "acct_other" });
    expect(await (await post(connected, sign(webhookSecret, connected))).json()).toMatchObject({ outcome: "ignored" });
    expect([await m.state(id), await m.payments(id)]).toEqual(["CUSTOMER_CONFIRMATION_REQUIRED", []]);
  });

  test.each<[string, Record<string, Json>]>([
    ["less than was asked for", { amount_total: 119_999 }],
    ["more than was asked for", { amount_total: 120_001 }],
    ["another currency", { currency: "eur" }],
    ["no amount", { amount_total: null }],
    ["nothing to pay", { amount_total: 0, payment_status: "no_payment_required" }],
    ["half a cent", { amount_total: 120_000.5 }],
    ["a currency as long as a book", { currency: "x".repeat(100_000) }],
    ["a currency that clears screens", { currency: "<!channel>\u001b[2J" }],
  ])("%s is a finding with its own status: recorded and reported, and no money moves", async (_, changes) => {
    const { id, session } = await m.opened();
    const response = await sent("checkout.session.completed", m.paid(session, changes));
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      outcome: "finding",
      code: "amount_mismatch",
      message: expect.stringMatching(/^Stripe took [\w .,]{1,60} was asked for\.$/),
    });
    expect([await m.state(id), await m.payments(id), await m.books(id)]).toEqual([
      "CUSTOMER_CONFIRMATION_REQUIRED",
      [],
      [],
    ]);
    expect(await m.said(id)).toEqual([
      expect.stringMatching(/No money was moved: an operator has to check it in Stripe\.$/),
    ]);
  });

  test("a different mismatch is reported again, also after somebody has looked at the first", async () => {
    const { id, session } = await m.opened();
    const resolve =
      "update billing.findings set resolved_at = now(), resolved_by = 'x', resolution = 'x' where resolved_at is null";
    for (const amount of [1, 1, 2]) {
      await m.tells("checkout.session.completed", m.paid(session, { amount_total: amount }));
      await rowsOf(m.superuser, resolve);
    }
    expect((await m.said(id)).map((said) => /Stripe took USD \S+/.exec(said)?.[0])).toEqual([
      "Stripe took USD 0.01,",
      "Stripe took USD 0.02,",
    ]);
  });

  test("a mismatch that was resolved ends no page made since, however often it is reported", async () => {
    const { id, session } = await m.opened();
    const paid = m.paid(session, { amount_total: 1 });
    await m.tells("checkout.session.completed", paid);
    expect((await m.checkout(id))?.state).toBe("mismatched");
    await rowsOf(
      m.superuser,
      "select billing.resolve_finding(id, 'otto', 'sent back') from billing.findings where request_id = $1",
      [id],
    );
    const { checkout_id: next } = await m.begin(id);
    await m.deliver();
    m.stripe.lists.set("sessions", [paid]);
    await rowsOf(m.superuser, "select billing.reconcile_payments('otto')");
    for (let turn = 0; turn < 6; turn += 1) await m.deliver();
    m.stripe.lists.clear();
    await m.tells("checkout.session.completed", paid);
    await m.deliver();
    expect(await m.checkout(id)).toMatchObject({ checkout_id: next, state: "open" });
  });

  test("the gate before every request refuses what is not signed", async () => {
    const response = await fetch(`${gateway.url}/rest/v1/rpc/handle_stripe_webhook`, {
      method: "POST",
      body,
      headers: { "content-type": "text/plain", "stripe-signature": "t=1,v1=x" },
    });
    expect(response.status).toBe(401);
  });

  test("every event that we handle has a function for its object", async () => {
    const rules = await rowsOf<{ event_type: string; object: string }>(
      m.superuser,
      "select * from billing.event_rules()",
    );
    for (const { event_type: type, object } of rules) {
      expect(await m.tells(type, { object, id: "none_1" }), type).toMatchObject({ outcome: "ignored" });
    }
  });

  test("after an event in live mode, a payment in test mode buys nothing and is recorded", async () => {
    const before = await m.opened();
    const { session } = await m.opened();
    await sent("checkout.session.completed", m.paid(before.session, { livemode: false }));
    expect(await m.state(before.id)).toBe("PROVISIONING");
    await sent("checkout.session.completed", m.paid(session, { livemode: true }));
    const play = await m.opened();
    const response = await sent("checkout.session.completed", m.paid(play.session, { livemode: false }));
    expect(response.status).toBe(422);
    expect([await m.state(play.id), await m.payments(play.id)]).toEqual(["CUSTOMER_CONFIRMATION_REQUIRED", []]);
    const found = "select kind from billing.findings where request_id = $1";
    expect(await rowsOf(m.superuser, found, [play.id])).toEqual([{ kind: "test_payment" }]);
  });

  describe("play money", () => {
    test("a month in test mode counts until live money was taken, and never afterwards, whether reported or found", async () => {
      const { id, invoice } = await monthly();
      const early = invoice(false);
      expect(await m.tells("invoice.paid", early)).toMatchObject({ outcome: "done" });
      await setLive(true);
      const late = invoice(false);
      expect(await m.tells("invoice.paid", late)).toMatchObject({ status: 422, code: "test_payment" });
      expect(await m.tells("invoice.paid", early)).toMatchObject({ outcome: "known" });
      m.stripe.lists.set("invoices", [invoice(false)]);
      const change = { object: "event", id: m.stripe.nextId("evt"), type: "invoice.paid", created: 1_800_000_000 };
      m.stripe.lists.set("changes", [{ ...change, data: { object: invoice(false) } }]);
      await rowsOf(m.superuser, "select billing.reconcile_payments('otto')");
      for (let n = 0; n < 6; n += 1) await m.deliver();
      await m.timers();
      m.stripe.lists.clear();
      expect(await purposes(id)).toEqual(["confirmation", "renewal"]);
      const found = "select kind from billing.findings where request_id = $1";
      expect(await rowsOf(m.superuser, found, [id])).toMatchObject([
        { kind: "test_payment" },
        { kind: "test_payment" },
        { kind: "test_payment" },
      ]);
    });

    test("what began in test mode neither holds a live offer nor ends it", async () => {
      const { id, session } = await m.opened();
      await setLive(true);
      const unpaid = m.paid(session, { payment_status: "unpaid", livemode: false });
      expect(await m.tells("checkout.session.completed", unpaid)).toMatchObject({ outcome: "ignored" });
      expect((await m.checkout(id))?.state).toBe("open");
    });

    test("live money of ours makes an installation in test mode live", async () => {
      const { id, invoice } = await monthly();
      expect(await m.tells("invoice.paid", invoice(true))).toMatchObject({ outcome: "done" });
      expect([await purposes(id), await isLive()]).toEqual([["confirmation", "renewal"], true]);
    });

    test("live money that the account takes for others does not make the installation live", async () => {
      const { session } = await m.opened();
      await setLive(false);
      const theirs = { ...m.paid(session, { livemode: true }), id: m.stripe.nextId("cs"), metadata: {} };
      expect(await m.tells("checkout.session.completed", theirs)).toMatchObject({ outcome: "ignored" });
      expect(await isLive()).toBe(false);
    });
  });
});
