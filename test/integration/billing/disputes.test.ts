/**
 * Payments that customers dispute with their bank: refunds wait, people are told, and the books follow, whatever the order of events.
 */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { codeOf, rowsOf } from "../capacity/harness.ts";
import { startMoney } from "./harness.ts";
import type { Thing } from "./stand-in.ts";

describe.each(POSTGRES_VERSIONS)("disputes on PostgreSQL %i", async (version) => {
  const m = await startMoney(version);
  const disputeOf = (session: Thing, amount = 120_000): Thing => ({
    object: "dispute",
    id: m.stripe.nextId("dp"),
    status: "needs_response",
    amount,
    currency: "usd",
    payment_intent: session["payment_intent"] ?? null,
    reason: "fraudulent",
    created: Math.floor(Date.now() / 1000),
  });

  test("a dispute and a refund that arrive while their payment is being recorded are read again a little later", async () => {
    const { id, session } = await m.opened();
    const paid = m.paid(session);
    const dispute = { ...disputeOf(paid), evidence: { customer_email_address: "buyer@initech.example" } };
    const refund = {
      object: "refund",
      id: m.stripe.nextId("re"),
      status: "succeeded",
      amount: 100,
      currency: "usd",
      payment_intent: paid["payment_intent"]!,
    };
    expect(await m.tells("charge.dispute.created", dispute)).toMatchObject({ outcome: "ignored" });
    expect(await m.tells("refund.created", refund)).toMatchObject({ outcome: "ignored" });
    await m.tells("checkout.session.completed", paid);
    const kept = "select object::text as text from billing.sightings where outbox_key like 'heard:%'";
    const heard = await rowsOf<{ text: string }>(m.superuser, kept);
    expect(heard).toHaveLength(2);
    expect(JSON.stringify(heard)).not.toContain("initech");
    await rowsOf(m.superuser, "update billing.sightings set next_read_at = now()");
    await m.timers();
    expect(await m.refunds(id)).toEqual(["outside outside 100 succeeded"]);
    expect(await rowsOf(m.superuser, "select outcome from billing.disputes where request_id = $1", [id])).toEqual([
      { outcome: "open" },
    ]);
    expect(await rowsOf(m.superuser, kept)).toEqual([]);
  });

  test("an open dispute stops refunds and pings; won, the refund goes out", async () => {
    const { id, session } = await m.bought();
    const dispute = disputeOf(session);
    await m.tells("charge.dispute.created", dispute);
    expect((await m.said(id)).at(-1)).toMatch(/^The customer disputes the payment of USD 1,200.00 with their bank/);
    await m.apply(id, "CANCEL_APPROVED", "rita");
    expect(await m.refunds(id)).toEqual(["ours cancelled 120000 held dispute"]);
    const [payment] = await m.payments(id);
    const refund = "select public.refund_payment($1, 'please', null, 'otto')";
    expect(await codeOf(rowsOf(m.superuser, refund, [payment!.id]))).toBe("conflict");
    expect(await m.problems()).toEqual([]);
    await m.tells("charge.dispute.closed", { ...dispute, status: "won" });
    await m.deliver();
    expect(await m.refunds(id)).toEqual(["ours cancelled 120000 succeeded"]);
    expect(await m.books(id)).toEqual(["taken 120000", "disputed -120000", "dispute_won 120000", "refunded -120000"]);
    expect(await m.problems()).toEqual([]);
  });

  test("a lost dispute is treated as a refund: nothing more goes back", async () => {
    const { id, session } = await m.bought();
    const dispute = disputeOf(session);
    await m.tells("charge.dispute.created", dispute);
    await m.apply(id, "CANCEL_APPROVED", "rita");
    await m.tells("charge.dispute.closed", { ...dispute, status: "lost" });
    await m.deliver();
    expect(await m.refunds(id)).toEqual(["ours cancelled 120000 superseded"]);
    expect(await m.books(id)).toEqual(["taken 120000", "disputed -120000"]);
    expect((await m.said(id)).at(-1)).toBe(
      "The dispute about USD 1,200.00 is lost: the money stays with the customer, and is treated as refunded.",
    );
    expect(await m.problems()).toEqual([]);
  });

  test("a dispute about a part that is lost: the rest goes back", async () => {
    const { id, session } = await m.bought();
    const dispute = disputeOf(session, 20_000);
    await m.tells("charge.dispute.created", dispute);
    await m.apply(id, "CANCEL_APPROVED", "rita");
    await m.tells("charge.dispute.closed", { ...dispute, status: "lost" });
    await m.deliver();
    expect(await m.refunds(id)).toEqual(["ours cancelled 100000 succeeded"]);
    expect(await m.problems()).toEqual([]);
  });

  test.each([
    ["won", ["taken 120000"]],
    ["lost", ["taken 120000", "disputed -120000"]],
  ])("reported as %s before it is reported as opened, it stays so", async (status, books) => {
    const { id, session } = await m.bought();
    const dispute = disputeOf(session);
    await m.tells("charge.dispute.closed", { ...dispute, status });
    for (const late of ["created", "funds_withdrawn", "updated"]) {
      expect(await m.tells(`charge.dispute.${late}`, dispute, { ago: 600 })).toMatchObject({ outcome: "known" });
    }
    expect(await m.books(id)).toEqual(books);
    expect(await m.problems()).toEqual([]);
  });

  test("an inquiry takes no money; it does once it becomes a dispute", async () => {
    const { id, session } = await m.bought();
    const dispute = disputeOf(session);
    await m.tells("charge.dispute.created", { ...dispute, status: "warning_needs_response" });
    expect(await m.books(id)).toEqual(["taken 120000"]);
    expect(await m.problems()).toEqual([]);
    await m.tells("charge.dispute.updated", dispute);
    await m.tells("charge.dispute.funds_withdrawn", dispute);
    expect(await m.books(id)).toEqual(["taken 120000", "disputed -120000"]);
    expect(await m.problems()).toEqual([]);
    const inquiry = disputeOf((await m.bought()).session);
    await m.tells("charge.dispute.created", { ...inquiry, status: "warning_needs_response" });
    await m.tells("charge.dispute.closed", { ...inquiry, status: "warning_closed" });
    expect(await m.problems()).toEqual([]);
  });

  test("a late report of an earlier stage does not turn a dispute back into an inquiry, or an answered one into an unanswered one", async () => {
    const { id, session } = await m.bought();
    const dispute = disputeOf(session);
    await m.tells("charge.dispute.updated", { ...dispute, status: "under_review" });
    for (const status of ["needs_response", "warning_under_review", "warning_needs_response"]) {
      expect(await m.tells("charge.dispute.created", { ...dispute, status }, { ago: 600 })).toMatchObject({
        outcome: "known",
      });
    }
    expect(await rowsOf(m.superuser, "select status from billing.disputes where request_id = $1", [id])).toEqual([
      { status: "under_review" },
    ]);
    expect(await m.books(id)).toEqual(["taken 120000", "disputed -120000"]);
    expect(await m.problems()).toEqual([]);
  });

  test("an appeal reopens a lost dispute: refunds wait again, and won, the money is back in the books", async () => {
    const { id, session } = await m.bought();
    const dispute = disputeOf(session);
    await m.tells("charge.dispute.created", dispute);
    await m.apply(id, "CANCEL_APPROVED", "rita");
    await m.tells("charge.dispute.closed", { ...dispute, status: "lost" });
    const appeal = { ...dispute, status: "appeal_needs_response" };
    m.stripe.put(appeal);
    expect(await m.tells("charge.dispute.updated", appeal)).toMatchObject({ outcome: "known" });
    await m.deliver();
    expect((await m.said(id)).some((said) => said.startsWith("The dispute about USD 1,200.00 continues"))).toBe(true);
    expect((await m.refunds(id)).at(-1)).toBe("ours cancelled 120000 held dispute");
    expect(await m.problems()).toEqual([]);
    await m.tells("charge.dispute.updated", { ...dispute, status: "appeal_under_review" });
    await m.tells("charge.dispute.closed", { ...dispute, status: "won" });
    await m.deliver();
    expect((await m.refunds(id)).at(-1)).toBe("ours cancelled 120000 succeeded");
    expect(await m.books(id)).toEqual(["taken 120000", "disputed -120000", "dispute_won 120000", "refunded -120000"]);
    expect(await m.problems()).toEqual([]);
  });

  test("a late report of an appeal does not reopen a dispute that Stripe calls lost", async () => {
    const { id, session } = await m.bought();
    const dispute = disputeOf(session);
    await m.tells("charge.dispute.updated", { ...dispute, status: "appeal_under_review" });
    const lost = { ...dispute, status: "lost" };
    m.stripe.put(lost);
    await m.tells("charge.dispute.closed", lost);
    await m.tells("charge.dispute.updated", { ...dispute, status: "appeal_needs_response" }, { ago: 600 });
    await m.deliver();
    expect(await rowsOf(m.superuser, "select outcome from billing.disputes where request_id = $1", [id])).toEqual([
      { outcome: "lost" },
    ]);
    expect(await m.problems()).toEqual([]);
  });

  test.each(["appeal_needs_response", "lost"])("a dispute that was won and is now %s is a finding", async (status) => {
    const { id, session } = await m.bought();
    const dispute = disputeOf(session);
    await m.tells("charge.dispute.created", dispute);
    await m.tells("charge.dispute.closed", { ...dispute, status: "won" });
    m.stripe.put({ ...dispute, status });
    await m.tells("charge.dispute.updated", { ...dispute, status });
    await m.deliver();
    expect(await m.books(id)).toEqual(["taken 120000", "disputed -120000", "dispute_won 120000"]);
    expect(await rowsOf(m.superuser, "select kind from billing.findings where resolved_at is null")).toEqual([
      { kind: "unknown_dispute" },
    ]);
    await rowsOf(m.superuser, "update billing.findings set resolved_at = now(), resolved_by = 'x', resolution = 'x'");
  });

  test("a lost dispute that is won by an unreported appeal is back in the books", async () => {
    const { id, session } = await m.bought();
    const dispute = disputeOf(session);
    await m.tells("charge.dispute.closed", { ...dispute, status: "lost" });
    m.stripe.put({ ...dispute, status: "won" });
    await m.tells("charge.dispute.funds_reinstated", { ...dispute, status: "won" });
    await m.deliver();
    expect(await m.books(id)).toEqual(["taken 120000", "disputed -120000", "dispute_won 120000"]);
    expect(await m.problems()).toEqual([]);
  });

  test("a dispute with an unknown status is a finding, and refunds wait until it has ended", async () => {
    const { id, session } = await m.bought();
    const dispute = disputeOf(session);
    expect(await m.tells("charge.dispute.created", { ...dispute, status: "arbitration" })).toMatchObject({
      status: 422,
      code: "unknown_dispute",
    });
    await m.apply(id, "CANCEL_APPROVED", "rita");
    expect(await m.refunds(id)).toEqual(["ours cancelled 120000 held dispute"]);
    expect(await m.books(id)).toEqual(["taken 120000"]);
    await m.tells("charge.dispute.closed", { ...dispute, status: "lost" });
    await m.deliver();
    expect(await m.refunds(id)).toEqual(["ours cancelled 120000 superseded"]);
    expect(await m.books(id)).toEqual(["taken 120000", "disputed -120000"]);
    await rowsOf(m.superuser, "update billing.findings set resolved_at = now(), resolved_by = 'x', resolution = 'x'");
    expect(await m.problems()).toEqual([]);
  });

  test("Stripe refuses a refund because of an unreported dispute: the refund waits, and is not sent again immediately", async () => {
    const { id, session } = await m.bought();
    m.stripe.instead("refund", () => ({ kind: "rejected", code: "disputed", reason: "charge disputed" }));
    await m.apply(id, "CANCEL_APPROVED", "rita");
    await m.deliver();
    await m.look(id);
    await m.deliver();
    expect(await m.refunds(id)).toEqual(["ours cancelled 120000 superseded", "ours cancelled 120000 held dispute"]);
    expect(await m.problems()).toEqual([]);
    const dispute = disputeOf(session);
    await m.tells("charge.dispute.created", dispute);
    await m.tells("charge.dispute.closed", { ...dispute, status: "won" });
    await m.deliver();
    expect((await m.refunds(id)).at(-1)).toBe("ours cancelled 120000 succeeded");
    expect(await m.problems()).toEqual([]);
  });

  test("the sweep asks about a dispute whose end was not reported, and sends the refund that waited for it", async () => {
    const { id, session } = await m.bought();
    const dispute = disputeOf(session);
    await m.tells("charge.dispute.created", dispute);
    await m.apply(id, "CANCEL_APPROVED", "rita");
    expect(await m.refunds(id)).toEqual(["ours cancelled 120000 held dispute"]);
    m.stripe.put({ ...dispute, status: "won" });
    await m.look(id);
    await m.deliver();
    await m.deliver();
    expect(await m.refunds(id)).toEqual(["ours cancelled 120000 succeeded"]);
    expect(await m.books(id)).toEqual(["taken 120000", "disputed -120000", "dispute_won 120000", "refunded -120000"]);
    expect(await m.problems()).toEqual([]);
  });

  test("the sweep also asks about a dispute of a payment that is kept, until it has ended", async () => {
    const { id, session } = await m.bought();
    const dispute = disputeOf(session);
    await m.tells("charge.dispute.created", dispute);
    m.stripe.put({ ...dispute, status: "lost" });
    await m.look(id);
    await m.deliver();
    expect((await m.said(id)).at(-1)).toMatch(/^The dispute about USD 1,200.00 is lost/);
    await m.look(id);
    expect(
      await rowsOf(m.superuser, "select from billing.payments where request_id = $1 and next_look_at is not null", [
        id,
      ]),
    ).toEqual([]);
  });

  test("a dispute that does not match its payment is a finding; one of another account is ignored", async () => {
    const { id, session } = await m.bought();
    expect(await m.tells("charge.dispute.created", { ...disputeOf(session), currency: "eur" })).toMatchObject({
      status: 422,
      code: "unknown_dispute",
    });
    expect(
      await m.tells("charge.dispute.created", { ...disputeOf(session), payment_intent: "pi_theirs" }),
    ).toMatchObject({
      outcome: "ignored",
    });
    expect(await m.books(id)).toEqual(["taken 120000"]);
    await rowsOf(m.superuser, "update billing.findings set resolved_at = now(), resolved_by = 'x', resolution = 'x'");
  });
});
