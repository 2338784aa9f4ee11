/**
 * Two things at the same instant, as named interleavings: what one transaction does while the other holds its locks. Nothing deadlocks,
 * nobody is charged for nothing, and nothing is bought twice.
 */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS, type TestClient } from "../../../helpers/database.ts";
import { codeOf, rowsOf } from "../../capacity/harness.ts";
import { secretKey } from "../../provisioning/harness.ts";
import { startMoney } from "../harness.ts";
import type { Thing } from "../stand-in.ts";

const sweep = (client: TestClient): Promise<unknown> => client.query("select public.run_capacity_request_timers()");

describe.each(POSTGRES_VERSIONS)("concurrent events of money on PostgreSQL %i", async (version) => {
  const m = await startMoney(version);
  const completed = "checkout.session.completed";
  /** A transaction on a connection of its own, left open. */
  async function open(): Promise<TestClient> {
    const client = await m.db.superuser.connect();
    await client.query("begin");
    await client.query("select set_config('headroom.secret_key', $1, true)", [secretKey]);
    return client;
  }
  const secondSession = async (id: string): Promise<Thing> => {
    await rowsOf(m.superuser, "update billing.checkouts set expires_at = now() where request_id = $1", [id]);
    await m.begin(id);
    await m.deliver();
    return m.stripe.things.get((await m.checkout(id))!.url!.split("/").at(-1)!)!;
  };

  test("a payment arrives while the sweep ends the offer: it goes back", async () => {
    const { id, session } = await m.opened();
    await m.passDeadline(id);
    const [one, two] = [await open(), await open()];
    await sweep(one);
    const heard = m.tells(completed, m.paid(session), { client: two });
    await m.db.waitUntilBlocked(two);
    await one.query("commit");
    expect(await heard).toMatchObject({ outcome: "done" });
    await two.query("commit");
    await m.deliver();
    expect([await m.state(id), await m.refunds(id)]).toEqual(["EXPIRED", ["ours late 120000 succeeded"]]);
    expect(await m.problems()).toEqual([]);
  });

  test("the first live payment is reported while the sweep reads about it: both succeed, and it counts once", async () => {
    const { id, session } = await m.opened();
    const live = m.paid(session, { livemode: true });
    const [one, two] = [await open(), await open()];
    await two.query("select billing.try_lock($1)", [id]);
    const heard = m.tells(completed, live, { client: one });
    await m.db.waitUntilBlocked(one);
    await two.query("select billing.apply_stripe_object($1, 'look:1', now())", [JSON.stringify(live)]);
    await two.query("commit");
    expect(await heard).toMatchObject({ outcome: "known" });
    await one.query("commit");
    await rowsOf(m.superuser, "update billing.installation set live_since = null");
    expect([await m.state(id), (await m.payments(id)).length]).toEqual(["PROVISIONING", 1]);
  });

  test("a customer is erased while their payment arrives: it counts, and its page stays paid", async () => {
    const { id, session } = await m.opened();
    const [one, two] = [await open(), await open()];
    await m.tells(completed, m.paid(session), { client: one });
    const erased = two.query("select public.erase_customer($1, 'they asked', 'ada')", [id]);
    await m.db.waitUntilBlocked(two);
    await one.query("commit");
    await erased;
    await two.query("commit");
    await m.deliver();
    expect(await rowsOf(m.superuser, "select state from billing.checkouts where request_id = $1", [id])).toEqual([
      { state: "paid" },
    ]);
    expect([await m.state(id), await m.problems()]).toEqual(["PROVISIONING", []]);
  });

  test("a payment arrives while its customer is erased: it still counts", async () => {
    const { id, session } = await m.opened();
    const [one, two] = [await open(), await open()];
    await one.query("select public.erase_customer($1, 'they asked', 'ada')", [id]);
    const heard = m.tells(completed, m.paid(session), { client: two });
    await m.db.waitUntilBlocked(two);
    await one.query("commit");
    expect(await heard).toMatchObject({ outcome: "done" });
    await two.query("commit");
    await m.deliver();
    expect([await m.state(id), await m.refunds(id), await m.problems()]).toEqual(["PROVISIONING", [], []]);
  });

  test("a price is withdrawn while an offer at it is being paid: the payment counts, and nothing is ended", async () => {
    const { id, session } = await m.opened({ size: "YEN" });
    const [one, two] = [await open(), await open()];
    await m.tells(completed, m.paid(session), { client: one });
    const withdrawn = two.query(
      `select billing.withdraw_price((offer ->> 'price_id')::uuid, 'a mistake', 'otto') from capacity.requests where id = $1`,
      [id],
    );
    await m.db.waitUntilBlocked(two);
    await one.query("commit");
    await withdrawn;
    await two.query("commit");
    expect([await m.state(id), await m.refunds(id)]).toEqual(["PROVISIONING", []]);
    expect(await m.problems()).toEqual([]);
  });

  test("the sweep skips an offer that is being paid, and the payment counts", async () => {
    const { id, session } = await m.opened();
    const paid = m.paid(session);
    const one = await open();
    await m.tells(completed, paid, { client: one, ago: 5 });
    await m.timers();
    await one.query("commit");
    await m.timers();
    expect(await m.state(id)).toBe("PROVISIONING");
  });

  test("a request is cancelled while its payment arrives: the money goes back", async () => {
    const { id, session } = await m.opened();
    const [one, two] = [await open(), await open()];
    await m.apply(id, "CANCEL_APPROVED", "rita", { client: one });
    const heard = m.tells(completed, m.paid(session), { client: two });
    await m.db.waitUntilBlocked(two);
    await one.query("commit");
    await heard;
    await two.query("commit");
    await m.deliver();
    expect([await m.state(id), await m.refunds(id)]).toEqual(["CANCELLED", ["ours cancelled 120000 succeeded"]]);
  });

  test("a payment arrives while its request is being cancelled: it counts, and the cancellation refunds it", async () => {
    const { id, session } = await m.opened();
    const [one, two] = [await open(), await open()];
    await m.tells(completed, m.paid(session), { client: one });
    const cancel = m.apply(id, "CANCEL_APPROVED", "rita", { client: two });
    await m.db.waitUntilBlocked(two);
    await one.query("commit");
    await cancel;
    await two.query("commit");
    await m.deliver();
    expect(await m.payments(id)).toMatchObject([{ counts: true, refund_reason: "cancelled" }]);
    expect([await m.state(id), await m.refunds(id)]).toEqual(["CANCELLED", ["ours cancelled 120000 succeeded"]]);
    expect(await m.problems()).toEqual([]);
  });

  test("two sessions of one offer are paid at the same time: one counts, one goes back", async () => {
    const { id, session } = await m.opened();
    const other = await secondSession(id);
    const [one, two] = [await open(), await open()];
    await m.tells(completed, m.paid(session), { client: one });
    const second = m.tells(completed, m.paid(other), { client: two });
    await m.db.waitUntilBlocked(two);
    await one.query("commit");
    await second;
    await two.query("commit");
    await m.deliver();
    expect((await m.payments(id)).map(({ counts }) => counts)).toEqual([true, false]);
    expect(await m.refunds(id)).toEqual(["ours duplicate 120000 succeeded"]);
    expect((await m.calls(await m.job(id))).map(({ what }) => what)).toEqual(["dispatch"]);
  });

  test("the same event twice at the same time is handled once", async () => {
    const { id, session } = await m.opened();
    const paid = m.paid(session);
    const event = `evt_same${version}`;
    const [one, two] = [await open(), await open()];
    await m.tells(completed, paid, { client: one, id: event });
    const second = m.tells(completed, paid, { client: two, id: event });
    await m.db.waitUntilBlocked(two);
    await one.query("commit");
    expect(await second).toEqual({ received: true, new: false });
    await two.query("commit");
    expect(await m.books(id)).toEqual(["taken 120000"]);
  });

  test("the first of the two is rolled back: the second is handled", async () => {
    const { id, session } = await m.opened();
    const paid = m.paid(session);
    const event = `evt_again${version}`;
    const [one, two] = [await open(), await open()];
    await m.tells(completed, paid, { client: one, id: event });
    const second = m.tells(completed, paid, { client: two, id: event });
    await m.db.waitUntilBlocked(two);
    await one.query("rollback");
    expect(await second).toMatchObject({ new: true, outcome: "done" });
    await two.query("commit");
    expect(await m.books(id)).toEqual(["taken 120000"]);
  });

  test("a dispute comes while a refund is begun: the refund is out, and nothing more goes back", async () => {
    const { id, session } = await m.bought();
    const dispute = {
      object: "dispute",
      id: m.stripe.nextId("dp"),
      status: "needs_response",
      amount: 120_000,
      currency: "usd",
      payment_intent: session["payment_intent"],
    };
    const [one, two] = [await open(), await open()];
    await m.apply(id, "CANCEL_APPROVED", "rita", { client: one });
    const told = m.tells("charge.dispute.created", dispute, { client: two });
    await m.db.waitUntilBlocked(two);
    await one.query("commit");
    await told;
    await two.query("commit");
    await m.deliver();
    expect(await m.refunds(id)).toEqual(["ours cancelled 120000 succeeded"]);
    expect(await m.problems()).toEqual([]);
  });

  test("a refund is begun while a dispute comes: it waits", async () => {
    const { id, session } = await m.bought();
    const dispute = {
      object: "dispute",
      id: m.stripe.nextId("dp"),
      status: "needs_response",
      amount: 120_000,
      currency: "usd",
      payment_intent: session["payment_intent"],
    };
    const [one, two] = [await open(), await open()];
    await m.tells("charge.dispute.created", dispute, { client: one });
    const cancel = m.apply(id, "CANCEL_APPROVED", "rita", { client: two });
    await m.db.waitUntilBlocked(two);
    await one.query("commit");
    await cancel;
    await two.query("commit");
    expect(await m.refunds(id)).toEqual(["ours cancelled 120000 held dispute"]);
  });

  test.each([null, 10_000])(
    "two people refund a payment at the same time: one refund is made (of %s)",
    async (amount) => {
      const { id } = await m.bought();
      const [payment] = await m.payments(id);
      const [one, two] = [await open(), await open()];
      const refund = "select refund_payment($1, 'as promised', $2, $3)";
      await one.query(refund, [payment!.id, amount, "otto"]);
      const late = codeOf(two.query(refund, [payment!.id, amount, "ada"]));
      await m.db.waitUntilBlocked(two);
      await one.query("commit");
      expect(await late).toBe("conflict");
      await two.query("rollback");
      await m.deliver();
      expect(await m.refunds(id)).toEqual([`ours person ${amount ?? 120_000} succeeded`]);
      expect(await m.problems()).toEqual([]);
    },
  );

  test("a job fails permanently while a renewal is paid: both go back", async () => {
    const { id, session } = await m.bought({ size: "MONTHLY" });
    await rowsOf(m.superuser, "update billing.payments set payment_intent = $2 where request_id = $1", [
      id,
      m.stripe.nextId("pi"),
    ]);
    const renewal = {
      object: "invoice",
      id: m.stripe.nextId("in"),
      status: "paid",
      amount_paid: 40_000,
      currency: "usd",
      billing_reason: "subscription_cycle",
      subscription: session["subscription"],
      payment_intent: m.stripe.nextId("pi"),
    };
    const [one, two] = [await open(), await open()];
    await m.apply(id, "PROVISIONING_FAILED", "otto", { client: one });
    const heard = m.tells("invoice.paid", renewal, { client: two });
    await m.db.waitUntilBlocked(two);
    await one.query("commit");
    await heard;
    await two.query("commit");
    await m.deliver();
    expect((await m.refunds(id)).toSorted()).toEqual(["ours failed 40000 succeeded", "ours failed 40000 succeeded"]);
    expect(await m.problems()).toEqual([]);
  });

  test("two requests of a customer are paid at the same time: neither waits forever, one begins, one waits its turn", async () => {
    const customer = { org_id: `pair-${version}`, name: "Pair" };
    const first = await m.opened({ customer });
    const second = await m.opened({ customer });
    const [one, two] = [await open(), await open()];
    await m.tells(completed, m.paid(first.session), { client: one });
    const other = m.tells(completed, m.paid(second.session), { client: two });
    await m.db.waitUntilBlocked(two);
    await one.query("commit");
    await other;
    await two.query("commit");
    expect([(await m.job(first.id)).state, (await m.job(second.id)).state]).toEqual(["queued", "waiting"]);
  });

  test("two tabs go to pay at the same time: both get the same page", async () => {
    const id = await m.offered();
    const token = await m.token(id);
    const [one, two] = [await open(), await open()];
    const begin = "select public.begin_checkout($1) ->> 'checkout_id' as id";
    const first = await one.query<{ id: string }>(begin, [token]);
    const second = two.query<{ id: string }>(begin, [token]);
    await m.db.waitUntilBlocked(two);
    await one.query("commit");
    expect((await second).rows).toEqual(first.rows);
    await two.query("commit");
  });

  test("settling waits for no transaction that holds the request", async () => {
    const id = await m.offered();
    await m.begin(id);
    const one = await open();
    await one.query("select from capacity.requests where id = $1 for update", [id]);
    await m.deliver();
    expect((await m.checkout(id))?.url).toMatch(/^https:/);
    await one.query("commit");
  });
});
