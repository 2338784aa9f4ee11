import { createHmac } from "node:crypto";
import { Stripe } from "stripe";
import { describe, expect, test } from "vitest";
import { secrets, setStage, type Ear } from "../harness.ts";
import { client, monthly, order, priced } from "./client.ts";

const patience = (): AbortSignal => AbortSignal.timeout(10_000);

/** The events, in order, verified by Stripe's own SDK and by hand. */
function told(ear: Ear): string[] {
  return ear.heard.map(({ path, headers, body }) => {
    expect(path).toBe("/webhooks/stripe");
    const header = String(headers["stripe-signature"]);
    const event = Stripe.webhooks.constructEvent(body, header, secrets.stripeWebhookSecret);
    const [, at, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
    expect(v1).toBe(createHmac("sha256", secrets.stripeWebhookSecret).update(`${at}.${body}`).digest("hex"));
    const session = event.data.object as Partial<Stripe.Checkout.Session>;
    return `${event.type} ${session.payment_status ?? ""}`.trim();
  });
}

describe("the Stripe stand-in, through Stripe's own SDK", () => {
  test("a session is made, paid on its page, reported as paid, and refunded no further than it was paid", async () => {
    await using stage = await setStage();
    const stripe = client(stage.sandbox);
    const session = await stripe.checkout.sessions.create(order);
    expect(session).toMatchObject({
      status: "open",
      payment_status: "unpaid",
      amount_total: 4_800_00,
      payment_intent: null,
    });
    expect(session.url).toBe(`${stage.sandbox.url}/stripe/checkout/${session.id}`);

    expect(stage.sandbox.stripe.pay(session.id)).toBe(`https://headroom.example/paid?session=${session.id}`);
    const paid = await stripe.checkout.sessions.retrieve(session.id, { expand: ["payment_intent"] });
    expect(paid).toMatchObject({ status: "complete", payment_status: "paid", metadata: { cr_id: "CR-2026-000001" } });
    const intent = paid.payment_intent as Stripe.PaymentIntent;
    expect(intent).toMatchObject({ object: "payment_intent", status: "succeeded", amount_received: 4_800_00 });

    await stripe.refunds.create({ payment_intent: intent.id, amount: 800_00 });
    await expect(stripe.refunds.create({ payment_intent: intent.id, amount: 4_000_01 })).rejects.toMatchObject({
      param: "amount",
    });
    await stripe.refunds.create({ payment_intent: intent.id });
    await expect(stripe.refunds.create({ payment_intent: intent.id })).rejects.toMatchObject({
      code: "charge_already_refunded",
    });
    await stage.ear.heardAtLeast(5, patience());
    expect(told(stage.ear).toSorted()).toEqual([
      "charge.refunded",
      "charge.refunded",
      "checkout.session.completed paid",
      "refund.created",
      "refund.created",
    ]);
    expect((await stripe.events.list({ type: "refund.created" })).data).toHaveLength(2);
  });

  test("a payment that takes days completes unpaid, and succeeds or fails later", async () => {
    await using stage = await setStage();
    const stripe = client(stage.sandbox);
    for (const how of ["succeeded", "failed"] as const) {
      const session = await stripe.checkout.sessions.create(order);
      stage.sandbox.stripe.payLater(session.id);
      expect(await stripe.checkout.sessions.retrieve(session.id)).toMatchObject({
        status: "complete",
        payment_status: "unpaid",
      });
      stage.sandbox.stripe.settle(session.id, how);
      await stage.ear.heardAtLeast(stage.ear.heard.length, patience());
    }
    await stage.ear.heardAtLeast(4, patience());
    expect(told(stage.ear).toSorted()).toEqual([
      "checkout.session.async_payment_failed unpaid",
      "checkout.session.async_payment_succeeded paid",
      "checkout.session.completed unpaid",
      "checkout.session.completed unpaid",
    ]);
  });

  test("a key returns its first result again, and other parameters under it are an error", async () => {
    await using stage = await setStage();
    const stripe = client(stage.sandbox);
    const key = { idempotencyKey: "CR-2026-000001:checkout" };
    const first = await stripe.checkout.sessions.create(order, key);
    const second = await stripe.checkout.sessions.create(order, key);
    expect(second.id).toBe(first.id);
    expect(second.lastResponse.headers["idempotent-replayed"]).toBe("true");
    await expect(
      stripe.checkout.sessions.create({ ...order, client_reference_id: "CR-2026-000002" }, key),
    ).rejects.toMatchObject({ type: "StripeIdempotencyError" });
    expect(stage.sandbox.stripe.sessions()).toHaveLength(1);
  });

  test("a failure after acceptance is repeated under its key; an earlier failure is not", async () => {
    await using stage = await setStage();
    const stripe = client(stage.sandbox);
    stage.sandbox.faults.add({ provider: "stripe", kind: "error500", times: 1 });
    stage.sandbox.faults.add({ provider: "stripe", kind: "error500AfterAccept", after: 0, times: 1 });
    const create = (idempotencyKey: string) => stripe.checkout.sessions.create(order, { idempotencyKey });
    await expect(create("before")).rejects.toMatchObject({ statusCode: 500 });
    await expect(create("after")).rejects.toMatchObject({ statusCode: 500 });
    await expect(create("after")).rejects.toMatchObject({ statusCode: 500 });
    expect((await create("before")).status).toBe("open");
    expect(stage.sandbox.stripe.sessions()).toHaveLength(2);
  });

  test("a failure midway is repeated under its key for a day, and leaves nothing behind", async () => {
    let now = Date.now();
    await using stage = await setStage({ now: () => now });
    const stripe = client(stage.sandbox);
    stage.sandbox.faults.add({ provider: "stripe", kind: "error500Midway", times: 1 });
    const create = (key: string) => stripe.checkout.sessions.create(order, { idempotencyKey: key });
    await expect(create("first")).rejects.toMatchObject({ statusCode: 500 });
    await expect(create("first")).rejects.toMatchObject({
      statusCode: 500,
      headers: { "idempotent-replayed": "true" },
    });
    expect(stage.sandbox.stripe.sessions()).toEqual([]);
    expect((await create("second")).status).toBe("open");
    now += 23 * 3_600_000;
    await expect(create("first")).rejects.toMatchObject({ statusCode: 500 });
    now += 2 * 3_600_000;
    expect((await create("first")).status).toBe("open");
  });

  test("a first result stays when a later call under its key fails midway", async () => {
    await using stage = await setStage();
    const stripe = client(stage.sandbox);
    const create = () => stripe.checkout.sessions.create(order, { idempotencyKey: "kept" });
    const { id } = await create();
    stage.sandbox.faults.add({ provider: "stripe", kind: "error500Midway", times: 1 });
    await expect(create()).rejects.toMatchObject({ statusCode: 500 });
    expect((await create()).id).toBe(id);
  });

  test("a session expires on request and when its time has ended", async () => {
    let now = Date.now();
    await using stage = await setStage({ now: () => now });
    const stripe = client(stage.sandbox);
    const told1 = await stripe.checkout.sessions.create(order);
    expect((await stripe.checkout.sessions.expire(told1.id)).status).toBe("expired");
    await expect(stripe.checkout.sessions.expire(told1.id)).rejects.toMatchObject({ statusCode: 400 });
    const forgotten = await stripe.checkout.sessions.create({ ...order, expires_at: Math.floor(now / 1000) + 1_800 });
    now += 1_801_000;
    expect(() => stage.sandbox.stripe.pay(forgotten.id)).toThrow("expired");
    await stage.ear.heardAtLeast(2, patience());
    expect(stage.sandbox.stripe.events().map(({ type }) => type)).toEqual(Array(2).fill("checkout.session.expired"));
  });

  test("invalid calls are refused with Stripe's type, code and parameter", async () => {
    await using stage = await setStage();
    const stripe = client(stage.sandbox);
    const { sessions } = stripe.checkout;
    const soon = Math.floor(Date.now() / 1000) + 60;
    await expect(client(stage.sandbox, "pk_wrong").events.list()).rejects.toMatchObject({
      type: "StripeAuthenticationError",
    });
    await expect(sessions.create({ ...order, expires_at: soon })).rejects.toMatchObject({ param: "expires_at" });
    await expect(sessions.create({ ...order, customer: "cus_nobody" })).rejects.toMatchObject({
      code: "resource_missing",
    });
    const unknown = { ...order, sucess_url: "x" } as Stripe.Checkout.SessionCreateParams;
    await expect(sessions.create(unknown)).rejects.toMatchObject({ code: "parameter_unknown", param: "sucess_url" });
    const { mode: _, ...without } = order;
    await expect(sessions.create(without as Stripe.Checkout.SessionCreateParams)).rejects.toMatchObject({
      code: "parameter_missing",
      param: "mode",
    });
    await expect(sessions.retrieve("cs_nothing")).rejects.toMatchObject({ statusCode: 404, code: "resource_missing" });
    stage.sandbox.faults.add({ provider: "stripe", kind: "rateLimit", times: 1 });
    await expect(sessions.create(order)).rejects.toMatchObject({ type: "StripeRateLimitError" });
    expect(stage.sandbox.stripe.sessions()).toEqual([]);
  });

  test("a subscription is bought, and cancelled once", async () => {
    await using stage = await setStage();
    const stripe = client(stage.sandbox);
    const customer = await stripe.customers.create({ email: "buyer@acme.example", name: "Acme" });
    const session = await stripe.checkout.sessions.create({ ...monthly, customer: customer.id });
    stage.sandbox.stripe.pay(session.id);
    const { subscription } = await stripe.checkout.sessions.retrieve(session.id);
    expect((await stripe.subscriptions.retrieve(subscription as string)).status).toBe("active");
    expect((await stripe.subscriptions.cancel(subscription as string)).status).toBe("canceled");
    await expect(stripe.subscriptions.cancel(subscription as string)).rejects.toMatchObject({ statusCode: 404 });
  });

  test("an event can be sent again under its own id", async () => {
    await using stage = await setStage();
    const session = await client(stage.sandbox).checkout.sessions.create(order);
    stage.sandbox.stripe.pay(session.id);
    stage.sandbox.stripe.resend(stage.sandbox.stripe.events()[0]?.id ?? "");
    await stage.ear.heardAtLeast(2, patience());
    const ids = stage.ear.heard.map(({ body }) => (JSON.parse(body) as { id: string }).id);
    expect(new Set(ids).size).toBe(1);
  });

  test("a key whose first call is still running is refused as in use; one whose work is done is answered again", async () => {
    await using stage = await setStage();
    const stripe = client(stage.sandbox);
    const create = (idempotencyKey = "one") => stripe.checkout.sessions.create(order, { idempotencyKey });
    stage.sandbox.faults.add({ provider: "stripe", kind: "hangBeforeAccept", times: 1 });
    const first = create();
    await stage.sandbox.requests.waitFor(({ method }) => method === "checkout.sessions.create");
    await expect(create()).rejects.toMatchObject({ statusCode: 409, code: "idempotency_key_in_use" });
    stage.sandbox.faults.release();
    // The client retries a cut connection once, though it was told not to.
    expect((await first).status).toBe("open");
    stage.sandbox.faults.add({ provider: "stripe", kind: "late", times: 1 });
    const late = create("two");
    await stage.sandbox.requests.waitFor(({ fault }) => fault === "late");
    const { id } = await create("two");
    stage.sandbox.faults.release();
    expect((await late).id).toBe(id);
  });

  test("a refusal of work that had begun is stored under its key, one of bad parameters is not", async () => {
    await using stage = await setStage();
    const stripe = client(stage.sandbox);
    const { id } = await stripe.checkout.sessions.create(order);
    stage.sandbox.stripe.pay(id);
    const { paymentIntent } = stage.sandbox.stripe.session(id);
    const dispute = stage.sandbox.stripe.dispute(id);
    const refund = (idempotencyKey: string) =>
      stripe.refunds.create({ payment_intent: paymentIntent }, { idempotencyKey });
    await expect(refund("a")).rejects.toMatchObject({ code: "charge_disputed" });
    stage.sandbox.stripe.closeDispute(dispute.id, "won");
    await expect(refund("a")).rejects.toMatchObject({ code: "charge_disputed" });
    expect((await refund("b")).status).toBe("succeeded");
  });

  test.each([
    ["usd", 99_999_999, undefined],
    ["usd", 100_000_000, "amount_too_large"],
    ["usd", 49, "amount_too_small"],
    ["idr", 999_999_999_999, undefined],
    ["jpy", 50, undefined],
    ["kwd", 5_120, undefined],
    ["kwd", 5_124, "invalid_charge_amount"],
    ["isk", 500, undefined],
    ["ugx", 550, "invalid_charge_amount"],
  ])("an amount of %s %i is accepted, or refused as %s", async (currency, amount, code) => {
    await using stage = await setStage();
    const made = client(stage.sandbox).checkout.sessions.create(priced(currency, amount));
    if (code === undefined) expect(await made).toMatchObject({ currency, amount_total: amount });
    else await expect(made).rejects.toMatchObject({ code, statusCode: 400 });
  });

  test("lists are paged, newest first, within a time; and objects that they name are expanded on request", async () => {
    let now = 1_800_000_000_000;
    await using stage = await setStage({ now: () => now });
    const stripe = client(stage.sandbox);
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      ids.unshift((await stripe.checkout.sessions.create(monthly)).id);
      now += 1_000;
    }
    stage.sandbox.stripe.pay(ids[0] ?? "");
    const read: string[] = [];
    for await (const each of stripe.checkout.sessions.list({ limit: 2 })) read.push(each.id);
    expect(read).toEqual(ids);
    const late = await stripe.checkout.sessions.list({
      created: { gte: 1_800_000_003 },
      expand: ["data.invoice.payments"],
    });
    expect(late.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect(late.data[0]?.invoice).toMatchObject({
      object: "invoice",
      payments: { data: [{ payment: { payment_intent: stage.sandbox.stripe.session(ids[0] ?? "").paymentIntent } }] },
    });
    await expect(stripe.checkout.sessions.list({ starting_after: "cs_nothing" })).rejects.toMatchObject({
      code: "resource_missing",
    });
    await expect(stripe.checkout.sessions.retrieve(ids[0] ?? "", { expand: ["mode"] })).rejects.toMatchObject({
      param: "expand",
    });
  });
});
