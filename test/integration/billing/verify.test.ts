/**
 * Verification of money: correct books pass, and each planted mistake is named (I8).
 */
import { describe, expect, test } from "vitest";
import { verifyPayments } from "../../../src/billing/index.ts";
import { codeOf, rowsOf } from "../capacity/harness.ts";
import { startMoney } from "./harness.ts";

/** Planting mistakes needs a superuser, so one version is enough. */
describe("the verification of money", async () => {
  const m = await startMoney(18);
  const outside = (paymentId: string, amount: number): Promise<unknown> =>
    rowsOf(
      m.superuser,
      `insert into billing.refunds (id, workspace_id, request_id, payment_id, origin, reason, currency, amount, state, stripe_id, asked_by)
       select gen_random_uuid(), p.workspace_id, p.request_id, p.id, 'outside', 'x', p.currency, $2, 'succeeded', 're_x' || gen_random_uuid(), 'x'
         from billing.payments p where p.id = $1`,
      [paymentId, amount],
    );

  test.each<[string, string[], (id: string, paymentId: string) => Promise<unknown>]>([
    [
      "a charge that is not in the books",
      ["books_differ", "books_differ"],
      (_, paymentId) =>
        rowsOf(m.superuser, "update billing.payments set session_id = session_id || 'x' where id = $1", [paymentId]),
    ],
    ["a refund that is not in the books", ["books_differ"], (_, paymentId) => outside(paymentId, 100)],
    ["more refunded than was paid", ["books_differ", "refunds_exceed"], (_, paymentId) => outside(paymentId, 120_001)],
    [
      "an entry that refers to nothing",
      ["books_differ"],
      (_, paymentId) =>
        rowsOf(
          m.superuser,
          `insert into billing.entries (workspace_id, payment_id, kind, source_id, currency, amount, event_id, at)
           values ('acme', $1, 'refunded', 're_none', 'USD', -1, 'x', now())`,
          [paymentId],
        ),
    ],
    [
      "a forgotten refund",
      ["refund_missing"],
      async (id) => {
        await m.apply(id, "CANCEL_APPROVED", "rita");
        await rowsOf(m.superuser, "delete from billing.refunds where request_id = $1", [id]);
      },
    ],
    [
      "what runs although it was refunded",
      ["refund_missing", "refund_unwarranted"],
      async (id) => {
        await m.says(await m.job(id), { signal: "succeeded" });
        await rowsOf(m.superuser, "update billing.payments set refund_reason = 'failed' where request_id = $1", [id]);
      },
    ],
    [
      "a refund without a row",
      ["refund_row_differs"],
      (_, paymentId) =>
        rowsOf(
          m.superuser,
          `insert into billing.refunds (id, workspace_id, request_id, payment_id, origin, reason, currency, amount, state, asked_by)
           select gen_random_uuid(), p.workspace_id, p.request_id, p.id, 'ours', 'x', p.currency, 1, 'sent', 'x' from billing.payments p where p.id = $1`,
          [paymentId],
        ),
    ],
    [
      "a refund that the bank returned and nobody reopened",
      ["refund_forgotten", "refund_row_differs"],
      (_, paymentId) =>
        rowsOf(
          m.superuser,
          `insert into billing.refunds (id, workspace_id, request_id, payment_id, origin, reason, currency, amount, state, failure, asked_by)
           select gen_random_uuid(), p.workspace_id, p.request_id, p.id, 'ours', 'person', p.currency, 100, 'failed', 'x', 'otto'
             from billing.payments p where p.id = $1`,
          [paymentId],
        ),
    ],
    [
      "a second charge that counts",
      ["books_differ", "payment_unused", "payment_unused", "payment_unused", "payment_unused"],
      async (id) => {
        await rowsOf(m.superuser, "drop index billing.payments_counting");
        await rowsOf(
          m.superuser,
          `insert into billing.payments (id, workspace_id, request_id, purpose, session_id, currency, amount, counts, paid_at, event_id)
           values (gen_random_uuid(), 'acme', $1, 'confirmation', 'cs_second', 'USD', 120000, true, now(), 'x')`,
          [id],
        );
      },
    ],
    [
      "a confirmation without a payment",
      ["unpaid_confirmation"],
      async (id) => {
        await rowsOf(m.superuser, "delete from billing.subscriptions where request_id = $1", [id]);
        await rowsOf(m.superuser, "alter table billing.entries disable trigger append_only");
        await rowsOf(
          m.superuser,
          "delete from billing.entries where payment_id in (select p.id from billing.payments p where p.request_id = $1)",
          [id],
        );
        await rowsOf(m.superuser, "alter table billing.entries enable trigger append_only");
        await rowsOf(m.superuser, "delete from billing.payments where request_id = $1", [id]);
      },
    ],
  ])("finds %s", async (_, codes, plant) => {
    const { id } = await m.bought();
    const before = (await m.problems()).length;
    const [payment] = await m.payments(id);
    await plant(id, payment!.id);
    const found = (await m.problems()) as { invariant: string; code: string; subject: string }[];
    expect(found.length - before).toBe(codes.length);
    expect(found.every(({ invariant }) => invariant === "I8")).toBe(true);
    const known = new Set((await m.payments(id)).map((row) => row.id));
    const refunds = await rowsOf<{ id: string }>(m.superuser, "select id from billing.refunds where request_id = $1", [
      id,
    ]);
    for (const refund of refunds) known.add(refund.id);
    const ours = found.filter(({ subject }) => subject === id || known.has(subject));
    expect(ours.map(({ code }) => code).toSorted()).toEqual(codes);
  });

  test("batches cover everything once", async () => {
    const all = await rowsOf<{ id: string }>(m.superuser, "select id from billing.payments");
    const client = await m.db.as("headroom_auditor").connect();
    let payments = 0;
    let findings = 0;
    for await (const batch of verifyPayments(client, { paymentsPerBatch: 2 })) {
      payments += batch.counts.payments;
      findings += batch.findings.length;
    }
    await client.end();
    expect(payments).toBe(all.length);
    expect(findings).toBe((await m.problems()).length);
    expect(await codeOf(rowsOf(m.superuser, "select billing.verify_payments('x')"))).toBe("invalid_input");
    expect(await codeOf(rowsOf(m.superuser, "select billing.verify_payments('', 0)"))).toBe("invalid_input");
  });

  test("the balance of a day is the sum of the books", async () => {
    const [row] = await rowsOf<{ taken: number; refunded: number; disputed: number; net: number }>(
      m.superuser,
      "select sum(taken)::bigint as taken, sum(refunded)::bigint as refunded, sum(disputed)::bigint as disputed, sum(net)::bigint as net from public.billing_balance",
    );
    const [sum] = await rowsOf<{ sum: number }>(m.superuser, "select sum(amount)::bigint as sum from billing.entries");
    expect(row!.net).toBe(sum!.sum);
    expect(row!.taken - row!.refunded - row!.disputed).toBe(row!.net);
  });

  test("the rules of entries of the books never change, for anybody", async () => {
    await expect(rowsOf(m.superuser, "update billing.entries set amount = 1")).rejects.toMatchObject({ code: "PT403" });
    await expect(rowsOf(m.superuser, "delete from billing.entries")).rejects.toMatchObject({ code: "PT403" });
    await expect(rowsOf(m.superuser, "truncate billing.entries")).rejects.toMatchObject({ code: "PT403" });
  });
});
