/** A payment can be found by any of its numbers. */
import { expect, test } from "vitest";
import { oneOf, rowsOf } from "../capacity/harness.ts";
import { startCaseStage } from "./cases/stage.ts";
import { steps } from "./cases/steps.ts";

const stage = await startCaseStage();
const { p, sandbox } = stage;

const found = async (id: string): Promise<string | null> =>
  (await oneOf<{ id: string | null }>(p.superuser, "select (billing.find_payment($1)).id", [id])).id;

test("a payment is found by its receipt, charge, refund or dispute, and by every other id that Stripe has for it", async () => {
  const scene = await stage.open({ kind: "one_off" });
  await steps["The customer opens Stripe's page."](stage, scene);
  steps["The customer pays by card."](stage, scene);
  await stage.flow();
  await steps["An operator refunds USD 100.00."](stage, scene);
  await stage.flow();
  await stage.sweep();
  steps["The customer disputes the USD 200.00 that are left."](stage, scene);
  await steps["What Stripe has is compared with the books."](stage);
  const session = scene.sessions[0] ?? "";
  const { paymentIntent } = sandbox.stripe.session(session);
  const { id, refund } = await oneOf<{ id: string; refund: string }>(
    p.superuser,
    "select p.id, r.id as refund from billing.payments p join billing.refunds r on r.payment_id = p.id where p.request_id = $1",
    [scene.id],
  );
  const page = await (await scene.visitor.get(`/confirm/${scene.token}`)).text();
  const receipt = /Receipt number<\/dt>\s*<dd>([0-9A-F]{12})</.exec(page)?.[1] ?? "";
  const ids = [
    id,
    refund,
    receipt,
    receipt.toLowerCase(),
    session,
    paymentIntent,
    paymentIntent.replace("pi_", "ch_"),
    sandbox.stripe.refunds(paymentIntent)[0]?.id ?? "",
    sandbox.stripe.disputes(paymentIntent)[0]?.id ?? "",
  ];
  expect(await Promise.all(ids.map(found))).toEqual(ids.map(() => id));
  for (const nothing of ["", "0".repeat(12), "pi_", "ch_nobody", "CR-2026-000001"])
    expect(await found(nothing)).toBeNull();
});

test("a charge is known after a comparison, without a refund or dispute that names it; the charge of a renewal is asked for", async () => {
  const scene = await stage.open({ kind: "recurring" });
  await steps["The customer opens Stripe's page."](stage, scene);
  steps["The customer pays by card."](stage, scene);
  await stage.flow();
  await steps["The capacity is set up."](stage, scene);
  steps["A month passes, and the next one is paid."](stage, scene);
  await stage.flow();
  await steps["What Stripe has is compared with the books."](stage);
  await rowsOf(
    p.superuser,
    "update billing.payments set recorded_at = now() - interval '2 hours' where request_id = $1",
    [scene.id],
  );
  await rowsOf(p.superuser, "select billing.ask_charges()");
  await stage.flow();
  await stage.sweep();
  const payments = await rowsOf<{ id: string; payment_intent: string; invoice_id: string }>(
    p.superuser,
    "select id, payment_intent, invoice_id from billing.payments where request_id = $1 order by recorded_at, id",
    [scene.id],
  );
  expect(payments).toHaveLength(2);
  for (const { id, payment_intent: intent, invoice_id: invoice } of payments) {
    expect([await found(intent.replace("pi_", "ch_")), await found(invoice)]).toEqual([id, id]);
  }
  const subscription = sandbox.stripe.session(scene.sessions[0] ?? "").subscription ?? "";
  const { first } = await oneOf<{ first: string }>(
    p.superuser,
    "select payment_id as first from billing.subscriptions where request_id = $1",
    [scene.id],
  );
  expect(await found(subscription)).toBe(first);
});
