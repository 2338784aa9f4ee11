/**
 * How a customer gets to Stripe's page: the intent commits first, one page at a time, and none for an offer that cannot be paid.
 */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { codeOf, oneOf, rowsOf } from "../../capacity/harness.ts";
import { startMoney } from "../harness.ts";
import { textOf } from "../stand-in.ts";

describe.each(POSTGRES_VERSIONS)("checkout on PostgreSQL %i", async (version) => {
  const m = await startMoney(version);
  const customer = { org: "org_1", name: "Initech", email: "buyer@initech.example" };
  const createOf = async (id: string): Promise<Record<string, unknown>> =>
    (
      await oneOf<{ payload: Record<string, unknown> }>(
        m.superuser,
        "select payload from outbox.payloads where payload ->> 'operation' = 'checkout.create' and payload ->> 'request_id' = $1",
        [id],
      )
    ).payload;

  test("the page is requested once, with the offer's amount, and its address follows when Stripe has answered", async () => {
    const id = await m.offered({ customer });
    expect(await m.checkout(id)).toBeNull();
    const first = await m.begin(id);
    expect(first).toMatchObject({ state: "asked", url: null, amount: 120_000, currency: "USD" });
    expect(await m.begin(id)).toMatchObject({ checkout_id: first.checkout_id });
    await m.deliver();
    const open = await m.checkout(id);
    expect(open).toMatchObject({
      checkout_id: first.checkout_id,
      state: "open",
      url: expect.stringMatching(/^https:/),
    });
    expect(await m.begin(id)).toEqual(open);
    expect(await createOf(id)).toMatchObject({
      mode: "payment",
      amount: 120_000,
      unit_amount: 30_000,
      quantity: 4,
      currency: "USD",
      customer_email: customer.email,
      description: `32XL in us-east-1 (${id})`,
      success_url: `https://capacity.acme.example/paid/${first.checkout_id}`,
      cancel_url: `https://capacity.acme.example/paid/${first.checkout_id}?cancelled=1`,
    });
  });

  test("the address is available before any sweep has run", async () => {
    const id = await m.offered();
    await m.begin(id);
    const idle = "update billing.checkouts set next_look_at = 'infinity' where request_id = $1";
    await rowsOf(m.superuser, idle, [id]);
    await m.deliver();
    expect((await m.checkout(id))?.url).toMatch(/^https:/);
  });

  test("the confirmation token is in no payload", async () => {
    const id = await m.offered();
    await m.begin(id);
    const token = await m.token(id);
    const found = "select from outbox.payloads where strpos(payload::text, $1) > 0";
    expect(await rowsOf(m.superuser, found, [token])).toEqual([]);
  });

  test("a page that is about to expire is expired at Stripe before another is made", async () => {
    const { id, session } = await m.opened();
    await rowsOf(
      m.superuser,
      "update billing.checkouts set expires_at = now() + interval '1 minute' where request_id = $1",
      [id],
    );
    const second = await m.begin(id);
    await m.deliver();
    const asked = m.stripe.rail.sent.filter(({ key }) => key === `checkout:${id}`).map(({ payload }) => payload);
    expect(asked).toMatchObject([
      { operation: "checkout.create" },
      { operation: "checkout.expire", session_id: session.id },
      { operation: "checkout.create", checkout_id: second.checkout_id },
    ]);
    const states = "select state from billing.checkouts where request_id = $1 order by number";
    expect(await rowsOf(m.superuser, states, [id])).toEqual([{ state: "expired" }, { state: "open" }]);
  });

  test("a page that Stripe has not made yet is closed as soon as it exists", async () => {
    const id = await m.offered();
    await m.begin(id);
    await m.apply(id, "CANCEL_APPROVED", "rita");
    await m.deliver();
    const session = m.stripe.asked("checkout.expire").at(-1)?.["session_id"];
    expect(m.stripe.things.get(textOf(session))).toMatchObject({
      status: "expired",
      metadata: { headroom_request: id },
    });
  });

  test.each([
    ["cancelled", async (id: string) => m.apply(id, "CANCEL_APPROVED", "rita")],
    ["declined", async (id: string) => m.apply(id, "CUSTOMER_DECLINED", "customer:customer")],
    ["expired", async (id: string) => m.passDeadline(id).then(() => m.timers())],
  ])("a request that is %s has its page closed, and no new one is opened", async (_, end) => {
    const { id, session } = await m.opened();
    await end(id);
    await m.deliver();
    expect(m.stripe.things.get(session.id)).toMatchObject({ status: "expired" });
    expect(await m.checkout(id)).toMatchObject({ state: "expired", url: null });
    expect(await codeOf(m.begin(id))).toBe("gone");
  });

  test("a customer who tries again before anybody has looked: people are still told, and only once", async () => {
    const id = await m.offered();
    for (let n = 0; n < 3; n += 1) {
      m.stripe.instead("checkout.create", () => ({ kind: "rejected", code: "request_invalid", reason: "no" }));
      await m.begin(id);
      await m.deliver();
    }
    await m.begin(id);
    await m.deliver();
    expect((await m.checkout(id))?.state).toBe("open");
    expect((await m.said(id)).filter((said) => said.startsWith("Stripe could not make the page"))).toHaveLength(1);
  });

  test("when Stripe refuses to make a page, people are told and the customer can try again", async () => {
    const id = await m.offered();
    m.stripe.instead("checkout.create", () => ({ kind: "rejected", code: "request_invalid", reason: "no" }));
    await m.begin(id);
    await m.deliver();
    expect(await m.checkout(id)).toMatchObject({ state: "failed", url: null });
    await m.look(id);
    expect((await m.said(id)).at(-1)).toMatch(/^Stripe could not make the page/);
    expect((await m.begin(id)).state).toBe("asked");
    await m.deliver();
    expect((await m.checkout(id))?.state).toBe("open");
  });

  test("while another job of the same customer is in progress nobody is sent to pay, and the answer names that job", async () => {
    const same = { org_id: `busy-${version}`, name: "Busy" };
    const { id: first } = await m.bought({ customer: same });
    const second = await m.offered({ customer: same });
    const refusal = m.begin(second);
    await expect(refusal).rejects.toMatchObject({ code: "PT409", message: expect.stringContaining(first) });
    await m.says(await m.job(first), { signal: "succeeded" });
    expect((await m.begin(second)).state).toBe("asked");
  });

  test("a payment that was pending when another job began waits its turn", async () => {
    const same = { org_id: `turn-${version}`, name: "Turn" };
    const one = await m.opened({ customer: same });
    const two = await m.opened({ customer: same });
    await m.tells("checkout.session.completed", m.paid(one.session));
    await m.tells("checkout.session.completed", m.paid(two.session));
    expect([(await m.job(one.id)).state, (await m.job(two.id)).state]).toEqual(["queued", "waiting"]);
    expect(await m.problems()).toEqual([]);
  });

  test("the customer at Stripe is reused, and then no address is sent", async () => {
    const same = { org_id: `again-${version}`, name: "Again", email: "again@initech.example" };
    const { id, session } = await m.bought({ customer: same });
    await m.says(await m.job(id), { signal: "succeeded" });
    const next = await m.offered({ customer: same });
    await m.begin(next);
    const payload = await createOf(next);
    expect(payload["customer"]).toBe(session["customer"]);
    expect(payload).not.toHaveProperty("customer_email");
  });

  test("a Stripe customer belongs to one address: a person with another address is not sent to pay as that customer", async () => {
    const same = { org_id: `kept-${version}`, name: "Kept", email: "buyer@kept.example" };
    const { id } = await m.bought({ customer: same });
    await m.says(await m.job(id), { signal: "succeeded" });
    const next = await m.offered({ customer: { ...same, email: "somebody@else.example" } });
    await m.begin(next);
    const payload = await createOf(next);
    expect(payload["customer_email"]).toBe("somebody@else.example");
    expect(payload).not.toHaveProperty("customer");
  });

  test("a page belongs to the address it was made for: another address gets a new page, and the old one is closed", async () => {
    const { id, session } = await m.opened({ customer: { org_id: `moved-${version}`, email: "first@moved.example" } });
    const address = "select public.set_customer_address($1, $2, 'ada')";
    await rowsOf(m.superuser, address, [id, "second@moved.example"]);
    expect(await m.checkout(id)).toMatchObject({ state: "open", url: null });
    const second = await m.begin(id);
    await m.deliver();
    const made = m.stripe.asked("checkout.create").at(-1);
    expect(made).toMatchObject({ checkout_id: second.checkout_id, customer_email: "second@moved.example" });
    expect(m.stripe.things.get(session.id)).toMatchObject({ status: "expired" });
    expect((await m.checkout(id))?.url).toMatch(/^https:/);
  });

  test("a payment is remembered under the address of its page, not under the request's later address", async () => {
    const same = { org_id: `late-${version}`, name: "Late", email: "first@late.example" };
    const { id, session } = await m.opened({ customer: same });
    const address = "select public.set_customer_address($1, $2, 'ada')";
    await rowsOf(m.superuser, address, [id, "second@late.example"]);
    const paid = m.paid(session);
    await m.tells("checkout.session.completed", paid);
    await m.says(await m.job(id), { signal: "succeeded" });
    const second = await m.offered({ customer: { ...same, email: "second@late.example" } });
    await m.begin(second);
    expect(await createOf(second)).not.toHaveProperty("customer");
    const first = await m.offered({ customer: same });
    await m.begin(first);
    expect((await createOf(first))["customer"]).toBe(paid["customer"]);
  });

  test("an offer without a price cannot be paid; one with a price can only be confirmed by paying", async () => {
    const free = await m.offered({ size: "2XL" });
    expect(await codeOf(m.begin(free))).toBe("conflict");
    const priced = await m.offered();
    expect(await codeOf(m.apply(priced, "CUSTOMER_CONFIRMED", "customer:customer"))).toBe("payment_due");
    expect(await codeOf(m.begin(priced, "door"))).toBe("invalid_input");
  });

  test("a page lives no longer than the offer, but at least half an hour", async () => {
    const id = await m.offered();
    await rowsOf(
      m.superuser,
      "update capacity.requests set next_deadline_at = now() + interval '3 hours' where id = $1",
      [id],
    );
    await m.begin(id);
    const near = await m.offered();
    await rowsOf(
      m.superuser,
      "update capacity.requests set next_deadline_at = now() + interval '3 minutes' where id = $1",
      [near],
    );
    await m.begin(near);
    // Stripe allows less than a day, by its own clock.
    const far = await m.offered();
    await rowsOf(
      m.superuser,
      "update capacity.requests set next_deadline_at = now() + interval '9 days' where id = $1",
      [far],
    );
    await m.begin(far);
    const lives =
      "select round(extract(epoch from expires_at - created_at) / 60)::int as minutes from billing.checkouts where request_id = any ($1) order by created_at";
    expect(await rowsOf(m.superuser, lives, [[id, near, far]])).toEqual([
      { minutes: 180 },
      { minutes: 35 },
      { minutes: 1435 },
    ]);
  });

  test("every step of a checkout is in the table, and paid is final", async () => {
    const steps = await rowsOf<{ state_before: string; event: string; state_after: string }>(
      m.superuser,
      "select state_before, event, state_after from billing.checkout_transitions()",
    );
    const states = ["asked", "open", "processing", "abandoned", "failed", "expired", "mismatched"];
    for (const state of states) {
      expect(steps).toContainEqual({ state_before: state, event: "PAID", state_after: "paid" });
    }
    expect(steps.filter(({ state_before }) => state_before === "paid")).toEqual([]);
    expect(new Set(steps.map(({ state_before, event }) => `${state_before} ${event}`)).size).toBe(steps.length);
  });
});
