/**
 * Refunds: ours, by people and automatic, and those made in Stripe; those that fail, immediately or days later.
 */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { codeOf, oneOf, rowsOf } from "../../capacity/harness.ts";
import { startMoney } from "../harness.ts";
import { refundingWith } from "../refunding.ts";

describe.each(POSTGRES_VERSIONS)("refunds on PostgreSQL %i", async (version) => {
  const m = await startMoney(version);
  const { refundOf, refund, madeFor } = refundingWith(m);

  test.each([
    ["failed", "PROVISIONING_FAILED", "otto", "FAILED"],
    ["cancelled", "CANCEL_APPROVED", "rita", "CANCELLED"],
  ] as const)("a paid request that %s is refunded in full", async (reason, event, actor, state) => {
    const { id } = await m.bought();
    await m.apply(id, event, actor);
    await m.deliver();
    expect(await m.state(id)).toBe(state);
    expect(await m.refunds(id)).toEqual([`ours ${reason} 120000 succeeded`]);
    expect(await m.books(id)).toEqual(["taken 120000", "refunded -120000"]);
    const bought = "select state from billing.subscriptions where request_id = $1";
    expect(await rowsOf(m.superuser, bought, [id])).toEqual([{ state: "cancelled" }]);
    expect(await m.problems()).toEqual([]);
  });

  test("what was refunded in Stripe's dashboard is not refunded again: only the rest goes back", async () => {
    const { id, session } = await m.bought();
    expect(await m.tells("refund.created", refundOf(session, 50_000))).toMatchObject({ outcome: "done" });
    expect((await m.said(id)).at(-1)).toBe(
      "USD 500.00 went back to the customer, by a refund in Stripe's dashboard. USD 700.00 of the payment is left.",
    );
    await m.apply(id, "CANCEL_APPROVED", "rita");
    await m.deliver();
    expect(await m.refunds(id)).toEqual(["outside outside 50000 succeeded", "ours cancelled 70000 succeeded"]);
    expect(await m.problems()).toEqual([]);
  });

  test("all of it refunded in the dashboard while the capacity runs: nothing is torn down, and people are asked", async () => {
    const { id, session } = await m.bought();
    await m.tells("refund.created", refundOf(session, 120_000));
    expect(await m.state(id)).toBe("PROVISIONING");
    expect((await m.said(id)).at(-1)).toMatch(/The capacity is not stopped: an operator decides/);
  });

  test("a refund of ours finds less left than it asks for: the missing part was refunded outside, and the rest goes back", async () => {
    const { id, session } = await m.bought();
    m.stripe.instead("refund", () => ({
      kind: "rejected",
      code: "nothing_left",
      reason: "greater than unrefunded amount",
    }));
    await m.apply(id, "CANCEL_APPROVED", "rita");
    await m.deliver();
    const outside = refundOf(session, 30_000);
    await m.look(id);
    await m.deliver();
    await m.deliver();
    expect(await m.refunds(id)).toEqual([
      "ours cancelled 120000 superseded",
      "outside outside 30000 succeeded",
      "ours cancelled 90000 succeeded",
    ]);
    expect(outside["amount"]).toBe(30_000);
    expect(await m.books(id)).toEqual(["taken 120000", "refunded -30000", "refunded -90000"]);
    expect(await m.problems()).toEqual([]);
  });

  test("a refund that failed days later is made again, twice; then it waits for a person", async () => {
    const { id, session } = await m.bought();
    await m.apply(id, "CANCEL_APPROVED", "rita");
    await m.deliver();
    for (let n = 0; n < 3; n += 1) {
      const failed = { ...madeFor(session), status: "failed", failure_reason: "expired_or_canceled_card" };
      expect(await m.tells("refund.failed", failed)).toMatchObject({ outcome: "done" });
      expect(await m.tells("refund.updated", { ...failed, status: "succeeded" })).toMatchObject({ outcome: "known" });
      await m.deliver();
    }
    expect(await m.refunds(id)).toEqual([
      "ours cancelled 120000 failed",
      "ours cancelled 120000 failed",
      "ours cancelled 120000 failed",
      "ours cancelled 120000 held person",
    ]);
    expect((await m.said(id)).at(-1)).toMatch(/has failed 3 times, and is not tried again automatically/);
    expect(await m.problems()).toEqual([]);
    await refund(id, "otto");
    await m.deliver();
    expect((await m.refunds(id)).slice(-2)).toEqual([
      "ours cancelled 120000 superseded",
      "ours person 120000 succeeded",
    ]);
    const sum =
      "select sum(e.amount)::int as net from billing.entries e join billing.payments p on p.id = e.payment_id where p.request_id = $1";
    expect(await oneOf(m.superuser, sum, [id])).toEqual({ net: 0 });
    expect(await m.problems()).toEqual([]);
  });

  test("a refund that the bank sends back weeks later is noticed, even when its event is lost", async () => {
    const { id, session } = await m.bought();
    await m.apply(id, "CANCEL_APPROVED", "rita");
    await m.deliver();
    const due =
      "select extract(day from next_look_at - created_at)::integer as after from billing.refunds where request_id = $1 order by created_at";
    expect(await rowsOf(m.superuser, due, [id])).toMatchObject([{ after: 10 }]);
    const made = madeFor(session);
    m.stripe.put({ ...made, status: "failed", failure_reason: "lost_or_stolen_card" });
    await m.look(id);
    await m.deliver();
    await m.deliver();
    expect(await m.refunds(id)).toEqual(["ours cancelled 120000 failed", "ours cancelled 120000 succeeded"]);
    expect(await m.problems()).toEqual([]);
    await rowsOf(
      m.superuser,
      "update billing.refunds set created_at = created_at - interval '10 days' where request_id = $1",
      [id],
    );
    await m.look(id);
    expect(await rowsOf(m.superuser, due, [id])).toMatchObject([{ after: null }, { after: 30 }]);
    await rowsOf(
      m.superuser,
      "update billing.refunds set created_at = created_at - interval '30 days' where request_id = $1",
      [id],
    );
    await m.look(id);
    expect(await rowsOf(m.superuser, due, [id])).toMatchObject([{ after: null }, { after: null }]);
  });

  test("a refund that is reported as failed before it is reported as succeeded leaves the books unchanged", async () => {
    const { id, session } = await m.bought();
    const outside = refundOf(session, 10_000);
    await m.tells("refund.failed", { ...outside, status: "failed" });
    expect(await m.tells("refund.created", outside, { ago: 100 })).toMatchObject({ outcome: "known" });
    expect(await m.refunds(id)).toEqual(["outside outside 10000 failed"]);
    expect(await m.books(id)).toEqual(["taken 120000"]);
    expect(await m.problems()).toEqual([]);
  });

  test("Stripe's answer and its event are one refund", async () => {
    const { id, session } = await m.bought();
    await m.apply(id, "CANCEL_APPROVED", "rita");
    await m.deliver();
    expect(await m.tells("refund.created", madeFor(session))).toMatchObject({ outcome: "known" });
    expect(await m.books(id)).toEqual(["taken 120000", "refunded -120000"]);
  });

  test("a refund that was given up in doubt but made anyway does not hold up other refunds", async () => {
    const { id, session } = await m.bought();
    await rowsOf(m.superuser, "update outbox.streams set max_tries = 1 where name = 'refunds'");
    m.stripe.instead("refund", (payload) => {
      refundOf(session, 20_000, {
        metadata: { headroom_refund: payload["refund_id"]!, headroom_installation: payload["installation_id"]! },
      });
      return { kind: "unknown", code: "timeout", reason: "no answer" };
    });
    await refund(id, "otto", 20_000);
    await m.deliver();
    await rowsOf(m.superuser, "update outbox.streams set max_tries = 8 where name = 'refunds'");
    await m.tells("refund.created", madeFor(session));
    await m.apply(id, "CANCEL_APPROVED", "rita");
    await m.deliver();
    expect(await m.refunds(id)).toEqual(["ours person 20000 succeeded", "ours cancelled 100000 succeeded"]);
    const dead = "select from outbox.dead d join outbox.streams s using (stream_id) where s.name = 'refunds'";
    expect(await rowsOf(m.superuser, dead)).toEqual([]);
    expect(await m.problems()).toEqual([]);
  });

  test("a row that is given up after its refund was reported is settled by the query for the next one", async () => {
    const { id, session } = await m.bought();
    await rowsOf(m.superuser, "update outbox.streams set max_tries = 1 where name = 'refunds'");
    m.stripe.instead("refund", () => ({ kind: "unknown", code: "timeout", reason: "no answer" }));
    await refund(id, "otto", 20_000);
    const { refund_id } = await oneOf<{ refund_id: string }>(
      m.superuser,
      "select id as refund_id from billing.refunds where request_id = $1",
      [id],
    );
    const { installation } = await oneOf<{ installation: string }>(
      m.superuser,
      "select billing.installation_id() as installation",
    );
    const metadata = { headroom_refund: refund_id, headroom_installation: installation };
    await m.tells("refund.created", refundOf(session, 20_000, { metadata }));
    await m.deliver();
    await rowsOf(m.superuser, "update outbox.streams set max_tries = 8 where name = 'refunds'");
    await m.apply(id, "CANCEL_APPROVED", "rita");
    await m.look(id);
    await m.deliver();
    expect(await m.refunds(id)).toEqual(["ours person 20000 succeeded", "ours cancelled 100000 succeeded"]);
    expect(await m.problems()).toEqual([]);
  });

  test("a pending refund stays pending until Stripe reports more, and the sweep asks about it", async () => {
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
    expect(await m.refunds(id)).toEqual(["ours cancelled 120000 pending"]);
    m.stripe.put({ ...madeFor(session), status: "succeeded" });
    await m.look(id);
    await m.deliver();
    expect(await m.refunds(id)).toEqual(["ours cancelled 120000 succeeded"]);
  });

  test("an operator refunds a part, with a reason; a requester may not, and nobody may refund too much or without a reason", async () => {
    const { id } = await m.bought();
    expect(await codeOf(refund(id, "rita", 100))).toBe("not_allowed");
    expect(await codeOf(refund(id, "otto", 120_001))).toBe("invalid_input");
    expect(await codeOf(refund(id, "otto", 0))).toBe("invalid_input");
    expect(await codeOf(refund(id, "otto", 100, " "))).toBe("invalid_input");
    await rowsOf(m.superuser, "delete from capacity.acts");
    await refund(id, "otto", 20_000);
    expect(await rowsOf(m.superuser, "select split_part(account, ' ', 1) as who from capacity.acts")).toEqual([
      { who: "otto" },
    ]);
    expect(await codeOf(refund(id, "otto", 20_000))).toBe("conflict");
    await m.deliver();
    expect(await m.refunds(id)).toEqual(["ours person 20000 succeeded"]);
    expect((await m.said(id)).slice(-2)).toEqual([
      "Otto refunds USD 200.00.",
      "USD 200.00 went back to the customer: a person decided so. USD 1,000.00 of the payment is left.",
    ]);
    // A call that expects another amount to be left is a repeat, or was overtaken.
    const seen = "select public.refund_payment($1, 'why', 20000, 'otto', 120000)";
    expect(await codeOf(rowsOf(m.superuser, seen, [(await m.payments(id))[0]?.id]))).toBe("conflict");
    await m.apply(id, "PROVISIONING_FAILED", "otto");
    await m.deliver();
    expect(await m.refunds(id)).toEqual(["ours person 20000 succeeded", "ours failed 100000 succeeded"]);
    expect(await codeOf(refund(id, "otto"))).toBe("conflict");
    expect(await m.problems()).toEqual([]);
  });

  test.each([
    ["more than was paid", { amount: 120_001 }],
    ["another currency", { currency: "eur" }],
  ])("a refund of %s is a finding, and moves nothing", async (_, changes) => {
    const { id, session } = await m.bought();
    const odd = refundOf(session, 100, changes);
    expect(await m.tells("refund.created", odd)).toMatchObject({
      outcome: "finding",
      status: 422,
      code: "amount_mismatch",
    });
    expect(await m.refunds(id)).toEqual([]);
    expect(await m.books(id)).toEqual(["taken 120000"]);
    await rowsOf(m.superuser, "update billing.findings set resolved_at = now(), resolved_by = 'x', resolution = 'x'");
  });

  test("a refund of another payment that merely claims to be ours is a finding, and ours still goes back", async () => {
    const { id, session } = await m.bought();
    const { session: other } = await m.bought();
    await m.apply(id, "CANCEL_APPROVED", "rita");
    const { installation, refund_id } = await oneOf<{ installation: string; refund_id: string }>(
      m.superuser,
      "select billing.installation_id() as installation, r.id as refund_id from billing.refunds r where r.request_id = $1",
      [id],
    );
    const marks = { headroom_installation: installation, headroom_refund: refund_id };
    const answer = await m.tells("refund.created", refundOf(other, 120_000, { metadata: marks }));
    expect(answer).toMatchObject({ outcome: "finding", code: "amount_mismatch" });
    expect(await m.refunds(id)).toEqual(["ours cancelled 120000 sent"]);
    await m.deliver();
    expect(await m.refunds(id)).toEqual(["ours cancelled 120000 succeeded"]);
    expect(madeFor(session)["metadata"]).toMatchObject({ headroom_refund: refund_id });
    await rowsOf(m.superuser, "update billing.findings set resolved_at = now(), resolved_by = 'x', resolution = 'x'");
  });

  test("an unknown refund of ours is a finding; one of another account is ignored", async () => {
    const { id: installation } = await oneOf<{ id: string }>(m.superuser, "select id from billing.installation");
    const stray = {
      object: "refund",
      id: `re_stray${version}`,
      status: "succeeded",
      amount: 1,
      currency: "usd",
      payment_intent: "pi_x",
    };
    expect(await m.tells("refund.created", { ...stray, id: `re_theirs${version}` })).toMatchObject({
      outcome: "ignored",
    });
    expect(
      await m.tells("refund.created", { ...stray, metadata: { headroom_installation: installation } }),
    ).toMatchObject({
      code: "unknown_refund",
    });
    await rowsOf(m.superuser, "update billing.findings set resolved_at = now(), resolved_by = 'x', resolution = 'x'");
  });
});
