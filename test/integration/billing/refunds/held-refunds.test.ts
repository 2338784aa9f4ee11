/** A waiting refund shows what would go back now; the amount is decided when it is sent. */
import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/contract/rail.ts";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { rowsOf } from "../../capacity/harness.ts";
import { startMoney } from "../harness.ts";

describe.each(POSTGRES_VERSIONS)("refunds that wait on PostgreSQL %i", async (version) => {
  const m = await startMoney(version);

  async function disputed(): Promise<{
    id: string;
    intent: Json;
    dispute: (status: string, amount?: number) => Promise<unknown>;
  }> {
    const { id, session } = await m.bought({ quantity: 1 });
    const intent = session["payment_intent"] ?? null;
    const dispute = m.stripe.nextId("dp");
    return {
      id,
      intent,
      dispute: (status, amount = 30_000) =>
        m.tells("charge.dispute.updated", {
          object: "dispute",
          id: dispute,
          status,
          amount,
          currency: "usd",
          payment_intent: intent,
          created: Math.floor(Date.now() / 1000),
        }),
    };
  }

  const outside = (intent: Json, amount: number, id: string, status = "succeeded"): Promise<unknown> =>
    m.tells(status === "failed" ? "refund.failed" : "refund.created", {
      object: "refund",
      id,
      status,
      amount,
      currency: "usd",
      payment_intent: intent,
    });

  const ours = async (id: string): Promise<string[]> => (await m.refunds(id)).filter((line) => line.startsWith("ours"));

  test("less is left, and it says so immediately", async () => {
    const { id, intent, dispute } = await disputed();
    await dispute("needs_response");
    await m.apply(id, "CANCEL_APPROVED", "rita");
    expect(await ours(id)).toEqual(["ours cancelled 30000 held dispute"]);
    await outside(intent, 10_000, m.stripe.nextId("re"));
    expect(await ours(id)).toEqual(["ours cancelled 20000 held dispute"]);
    await dispute("won");
    await m.deliver();
    expect(await ours(id)).toEqual(["ours cancelled 20000 succeeded"]);
    expect(await m.problems()).toEqual([]);
  });

  test("more is left again, and all of it goes back immediately", async () => {
    const { id, intent, dispute } = await disputed();
    const refund = m.stripe.nextId("re");
    await outside(intent, 10_000, refund);
    await dispute("needs_response");
    await m.apply(id, "CANCEL_APPROVED", "rita");
    expect(await ours(id)).toEqual(["ours cancelled 20000 held dispute"]);
    await outside(intent, 10_000, refund, "failed");
    expect(await ours(id)).toEqual(["ours cancelled 30000 held dispute"]);
    await dispute("won");
    await m.deliver();
    expect(await ours(id)).toEqual(["ours cancelled 30000 succeeded"]);
    expect(m.stripe.asked("refund").at(-1)).toMatchObject({ amount: 30_000 });
  });

  test("nothing is left, and it is set aside, even while the dispute is open", async () => {
    const { id, intent, dispute } = await disputed();
    await dispute("warning_needs_response");
    await m.apply(id, "CANCEL_APPROVED", "rita");
    await outside(intent, 30_000, m.stripe.nextId("re"));
    expect(await ours(id)).toEqual(["ours cancelled 30000 superseded"]);
  });

  test("a part of the dispute is lost, and the rest goes back", async () => {
    const { id, dispute } = await disputed();
    await dispute("needs_response", 20_000);
    await m.apply(id, "CANCEL_APPROVED", "rita");
    await dispute("lost", 20_000);
    await m.deliver();
    expect(await ours(id)).toEqual(["ours cancelled 10000 succeeded"]);
  });

  test("a person is asked to decide, and somebody refunds all of it in the dashboard: nobody is asked any more", async () => {
    const { id, intent } = await disputed();
    await rowsOf(
      m.superuser,
      `insert into billing.refunds (id, workspace_id, request_id, payment_id, origin, reason, currency, amount, state, held_by, asked_by)
       select gen_random_uuid(), p.workspace_id, p.request_id, p.id, 'ours', 'person', p.currency, 30000, 'held', 'person', 'otto'
         from billing.payments p where p.request_id = $1`,
      [id],
    );
    await outside(intent, 10_000, m.stripe.nextId("re"));
    expect(await ours(id)).toEqual(["ours person 20000 held person"]);
    await outside(intent, 20_000, m.stripe.nextId("re"));
    expect(await ours(id)).toEqual(["ours person 20000 superseded"]);
  });
});
