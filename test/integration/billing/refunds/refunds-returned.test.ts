/** Refunds that come back: the bank returns them, somebody cancels them at Stripe, or Stripe does not make them. Who sends the money again? */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf, rowsOf } from "../../capacity/harness.ts";
import { startMoney } from "../harness.ts";
import { refundingWith } from "../refunding.ts";
import type { Thing } from "../stand-in.ts";

describe.each(POSTGRES_VERSIONS)("refunds that come back on PostgreSQL %i", async (version) => {
  const m = await startMoney(version);
  const { refundOf, refund, madeFor } = refundingWith(m);

  /** Two of an operator's: the first came back, the second is pending. */
  const backDuring = async (): Promise<{ id: string; first: Thing; second: () => Thing }> => {
    const { id, session } = await m.bought();
    await refund(id, "otto", 20_000);
    await m.deliver();
    const first = madeFor(session);
    m.stripe.instead("refund", (payload) => ({
      kind: "delivered",
      response: refundOf(session, 30_000, {
        status: "pending",
        metadata: { headroom_refund: payload["refund_id"]!, headroom_installation: payload["installation_id"]! },
      }),
    }));
    await refund(id, "otto", 30_000);
    await m.deliver();
    await m.tells("refund.failed", { ...first, status: "failed", failure_reason: "expired_or_canceled_card" });
    const [second] = [...m.stripe.things.values()].filter(
      (thing) => thing["payment_intent"] === session["payment_intent"] && thing["amount"] === 30_000,
    );
    return { id, first, second: () => ({ ...second!, status: "succeeded" }) };
  };
  const waitingOf = (id: string): Promise<unknown[]> =>
    rowsOf(m.superuser, "select state, amount::integer from billing.waiting where request_id = $1 order by 1", [id]);
  const storyOf = async (id: string): Promise<unknown> => {
    const { refunds } = await oneOf<{ refunds: { state: string; amount: number }[] }>(
      m.superuser,
      "select billing.refund_story(p) as refunds from billing.payments p where p.request_id = $1",
      [id],
    );
    return refunds.map(({ state, amount }) => `${state} ${amount}`);
  };

  test("an operator's refund came back while another is pending: it is made again exactly once, after the other has ended; meanwhile everybody is told that it waits", async () => {
    const { id, first, second } = await backDuring();
    expect(await m.refunds(id)).toEqual([
      "ours person 20000 failed",
      "ours person 30000 pending",
      "ours person 20000 held refund",
    ]);
    expect(await waitingOf(id)).toEqual([
      { state: "refund_held_refund", amount: 20_000 },
      { state: "refund_sent", amount: 30_000 },
    ]);
    expect(await storyOf(id)).toEqual(["under_way 30000", "due 20000"]);
    await m.tells("refund.failed", { ...first, status: "failed" });
    await m.look(id);
    await m.tells("refund.updated", second());
    await m.deliver();
    await m.look(id);
    await m.deliver();
    expect(await m.refunds(id)).toEqual([
      "ours person 20000 failed",
      "ours person 30000 succeeded",
      "ours person 20000 succeeded",
    ]);
    expect(await storyOf(id)).toEqual(["done 30000", "done 20000"]);
    expect(await waitingOf(id)).toEqual([]);
    expect(await m.problems()).toEqual([]);
  });

  test("an operator's refund came back while another is pending: the other comes back as well: both are made again, one after the other", async () => {
    const { id, second } = await backDuring();
    await m.tells("refund.failed", { ...second(), status: "failed" });
    await m.deliver();
    expect((await m.refunds(id)).slice(2)).toEqual(["ours person 20000 succeeded", "ours person 30000 sent"]);
    await m.deliver();
    expect((await m.refunds(id)).slice(2)).toEqual(["ours person 20000 succeeded", "ours person 30000 succeeded"]);
    expect(await m.problems()).toEqual([]);
  });

  test("an operator's refund came back while another is pending: what goes back in the dashboard meanwhile is deducted", async () => {
    const { id, first, second } = await backDuring();
    await m.tells("refund.created", { ...first, id: `${first.id}x`, amount: 80_000, metadata: {} });
    expect((await m.refunds(id))[2]).toBe("ours person 10000 held refund");
    await m.tells("refund.created", { ...first, id: `${first.id}y`, amount: 10_000, metadata: {} });
    expect((await m.refunds(id))[2]).toBe("ours person 10000 superseded");
    await m.tells("refund.updated", second());
    await m.deliver();
    expect(await m.books(id)).toHaveLength(6);
    expect(await m.problems()).toEqual([]);
  });

  test("an operator's refund came back while another is pending: the request fails meanwhile: all of it goes back, once", async () => {
    const { id, second } = await backDuring();
    await m.apply(id, "PROVISIONING_FAILED", "otto");
    await m.tells("refund.updated", second());
    for (let n = 0; n < 3; n += 1) await m.deliver();
    expect((await m.refunds(id)).slice(2)).toEqual(["ours person 20000 succeeded", "ours failed 70000 succeeded"]);
    expect(await m.problems()).toEqual([]);
  });

  test("an operator's refund came back while another is pending: the other is given up, and the one that waited goes out", async () => {
    const { id, session } = await m.bought();
    await refund(id, "otto", 20_000);
    await m.deliver();
    const first = madeFor(session);
    m.stripe.instead("refund", () => ({ kind: "rejected", code: "card_gone", reason: "no" }));
    await refund(id, "otto", 30_000);
    await m.deliver();
    await m.tells("refund.failed", { ...first, status: "failed" });
    await m.look(id);
    for (let n = 0; n < 3; n += 1) await m.deliver();
    expect(await m.refunds(id)).toEqual([
      "ours person 20000 failed",
      "ours person 30000 superseded",
      "ours person 20000 succeeded",
    ]);
    expect(await m.problems()).toEqual([]);
  });

  test("an operator's refund that Stripe did not make is listed, and shown to the customer, until it is made", async () => {
    const { id } = await m.bought();
    m.stripe.instead("refund", () => ({ kind: "rejected", code: "card_gone", reason: "no" }));
    await refund(id, "otto", 20_000);
    await m.deliver();
    await m.look(id);
    await m.deliver();
    const waiting = "select state from billing.waiting where request_id = $1";
    expect(await m.refunds(id)).toEqual(["ours person 20000 superseded"]);
    expect((await m.said(id)).at(-1)).toMatch(/An operator sees to it: headroom payments refund [0-9a-f-]{36}$/);
    expect(await rowsOf(m.superuser, waiting, [id])).toEqual([{ state: "refund_failed" }]);
    const story =
      "select billing.refund_story(p) #>> '{0,state}' as state from billing.payments p where p.request_id = $1";
    expect(await oneOf(m.superuser, story, [id])).toEqual({ state: "failed" });
    await refund(id, "otto", 20_000);
    expect(await rowsOf(m.superuser, waiting, [id])).toEqual([{ state: "refund_sent" }]);
    expect(await oneOf(m.superuser, story, [id])).toEqual({ state: "under_way" });
  });

  test("an operator's refund that was given up but made anyway, and then failed, waits for the operator again", async () => {
    const { id, session } = await m.bought();
    m.stripe.instead("refund", () => ({ kind: "rejected", code: "card_gone", reason: "no" }));
    await refund(id, "otto", 20_000);
    await m.deliver();
    await m.look(id);
    await m.deliver();
    const [asked] = m.stripe.asked("refund").slice(-1);
    const metadata = { headroom_refund: asked!["refund_id"]!, headroom_installation: asked!["installation_id"]! };
    const failed = refundOf(session, 20_000, { status: "failed", metadata });
    await m.tells("refund.failed", failed);
    expect(await m.tells("refund.updated", failed)).toMatchObject({ outcome: "known" });
    expect(await m.refunds(id)).toEqual(["ours person 20000 superseded"]);
    const waiting = "select state from billing.waiting where request_id = $1";
    expect(await rowsOf(m.superuser, waiting, [id])).toEqual([{ state: "refund_failed" }]);
    expect(await m.books(id)).toEqual(["taken 120000"]);
    expect(await m.problems()).toEqual([]);
  });

  test("a failed refund of the dashboard is listed, whatever had gone back before it failed", async () => {
    const { id, session } = await m.bought();
    const first = refundOf(session, 10_000);
    await m.tells("refund.created", first);
    await m.tells("refund.created", refundOf(session, 5_000));
    await m.tells("refund.failed", { ...first, status: "failed" });
    const waiting = "select state from billing.waiting where request_id = $1";
    expect(await rowsOf(m.superuser, waiting, [id])).toEqual([{ state: "refund_failed" }]);
    await m.tells("refund.created", refundOf(session, 10_000));
    expect(await rowsOf(m.superuser, waiting, [id])).toEqual([]);
  });

  test("a refund that was cancelled at Stripe is not repeated automatically, even on an old report; a person may repeat it", async () => {
    const { id, session } = await m.bought();
    m.stripe.instead("refund", (payload) => ({
      kind: "delivered",
      response: refundOf(session, 120_000, {
        status: "pending",
        metadata: { headroom_refund: payload["refund_id"]!, headroom_installation: payload["installation_id"]! },
      }),
    }));
    await m.apply(id, "CANCEL_APPROVED", "rita");
    await m.deliver();
    const cancelled = { ...madeFor(session), status: "canceled" };
    m.stripe.put(cancelled);
    await m.look(id);
    await m.deliver();
    expect(await m.tells("refund.updated", cancelled)).toMatchObject({ outcome: "known" });
    await m.look(id);
    await m.deliver();
    expect(await m.refunds(id)).toEqual(["ours cancelled 120000 cancelled", "ours cancelled 120000 held person"]);
    expect(m.stripe.asked("refund").filter((asked) => asked["destination"] === session["payment_intent"])).toHaveLength(
      1,
    );
    expect(await m.problems()).toEqual([]);
    await refund(id, "otto", 50_000);
    for (let n = 0; n < 2; n += 1) await m.deliver();
    expect((await m.refunds(id)).slice(1)).toEqual([
      "ours cancelled 120000 superseded",
      "ours person 50000 succeeded",
      "ours cancelled 70000 held person",
    ]);
    expect(await m.books(id)).toEqual(["taken 120000", "refunded -50000"]);
    expect(await m.problems()).toEqual([]);
  });

  test("ours was cancelled at Stripe and somebody refunded all of it there: whichever is reported first, nobody is asked to look", async () => {
    const { id, session } = await m.bought();
    m.stripe.instead("refund", (payload) => ({
      kind: "delivered",
      response: refundOf(session, 120_000, {
        status: "pending",
        metadata: { headroom_refund: payload["refund_id"]!, headroom_installation: payload["installation_id"]! },
      }),
    }));
    await m.apply(id, "CANCEL_APPROVED", "rita");
    await m.deliver();
    m.stripe.put({ ...madeFor(session), status: "canceled" });
    expect(await m.tells("refund.created", refundOf(session, 120_000))).toMatchObject({ outcome: "known" });
    for (let n = 0; n < 2; n += 1) {
      await m.look(id);
      await m.deliver();
    }
    expect((await m.refunds(id)).toSorted()).toEqual([
      "ours cancelled 120000 cancelled",
      "ours cancelled 120000 superseded",
      "outside outside 120000 succeeded",
    ]);
    expect(await m.books(id)).toEqual(["taken 120000", "refunded -120000"]);
    expect(await rowsOf(m.superuser, "select said from billing.findings where request_id = $1", [id])).toEqual([]);
    expect(await m.problems()).toEqual([]);
  });

  test("Stripe reports refunds of more than the payment, and says so again when it is asked: people look at it", async () => {
    const { id, session } = await m.bought();
    await m.tells("refund.created", refundOf(session, 100_000));
    await m.tells("refund.created", refundOf(session, 50_000));
    await m.deliver();
    await m.look(id);
    await m.deliver();
    expect(await m.refunds(id)).toEqual(["outside outside 100000 succeeded"]);
    expect(await rowsOf(m.superuser, "select said from billing.findings where request_id = $1", [id])).toEqual([
      { said: "Stripe reports refunds of more than the payment of USD 1,200.00." },
    ]);
  });

  test("a refund that needs the customer is announced once, stays pending, and is not sent again", async () => {
    const { id, session } = await m.bought();
    const outside = refundOf(session, 20_000, { status: "requires_action" });
    expect(await m.tells("refund.created", outside)).toMatchObject({ outcome: "done" });
    expect(await m.tells("refund.updated", outside)).toMatchObject({ outcome: "known" });
    await m.look(id);
    await m.deliver();
    expect(await m.refunds(id)).toEqual(["outside outside 20000 pending"]);
    expect((await m.said(id)).filter((said) => said.includes("waits for the customer"))).toHaveLength(1);
    const story =
      "select billing.refund_story(p) #>> '{0,state}' as state from billing.payments p where p.request_id = $1";
    expect(await oneOf(m.superuser, story, [id])).toEqual({ state: "asked" });
    await m.tells("refund.updated", { ...outside, status: "succeeded" });
    expect(await m.books(id)).toEqual(["taken 120000", "refunded -20000"]);
  });
});
