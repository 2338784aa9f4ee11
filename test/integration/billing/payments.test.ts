/**
 * What becomes of payments: the customer confirms by paying, and money that bought nothing goes back by itself.
 */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { oneOf, rowsOf } from "../capacity/workflow.ts";
import { startMoney } from "./money.ts";

describe.each(POSTGRES_VERSIONS)("payments on PostgreSQL %i", async (version) => {
  const m = await startMoney(version);

  test("a paid session confirms the request, makes its subscription and its job, and dispatches it once", async () => {
    const { id, session } = await m.opened();
    const paid = m.paid(session);
    expect(await m.tells("checkout.session.completed", paid, { id: `evt_${version}one` })).toEqual({
      received: true,
      new: true,
      outcome: "done",
    });
    expect(await m.state(id)).toBe("PROVISIONING");
    expect(await m.payments(id)).toMatchObject([
      { purpose: "confirmation", counts: true, payment_intent: paid["payment_intent"], refund_reason: null },
    ]);
    expect(
      await rowsOf(m.superuser, "select kind, state from billing.subscriptions where request_id = $1", [id]),
    ).toEqual([{ kind: "one_off", state: "active" }]);
    const job = await m.job(id);
    expect(job).toMatchObject({ state: "queued" });
    expect((await m.calls(job)).map(({ what }) => what)).toEqual(["dispatch"]);
    expect(await m.books(id)).toEqual(["taken 120000"]);
    expect(await m.said(id)).toEqual(["The customer paid USD 1,200.00."]);
    expect(await m.checkout(id)).toMatchObject({ state: "paid", url: null });
    expect(
      await oneOf(m.superuser, "select used_for from capacity.confirmation_tokens where request_id = $1", [id]),
    ).toEqual({ used_for: "CUSTOMER_CONFIRMED" });
    expect(await m.problems()).toEqual([]);
  });
});
