/** Every remedy that threads, lists and refusals about money advise is accepted when it is followed. */
import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/contract/rail.ts";
import { headroom, type Outcome } from "../cli/harness.ts";
import { oneOf, rowsOf } from "../capacity/harness.ts";
import { startMoney } from "./harness.ts";

const m = await startMoney(18);
const env = { DATABASE_URL: m.db.as("headroom_control").url };
const cli = (...parameters: string[]): Promise<Outcome> => headroom(parameters, { env });

/** The command that a text advises, with the placeholders filled in; undefined when it advises none. */
function adviceIn(text: string): string[] | undefined {
  const [, command] =
    /headroom ((?:payments|prices|request|outbox) [^\n]*?)(?:[.;]? (?:The|This|An|It) .*)?$/m.exec(text) ?? [];
  if (command === undefined) return undefined;
  const words = command
    .replace(/\s+\(.*\)$/, "")
    .replaceAll(/ --(?:as|reason) (?:<\w+>|"…")/g, "")
    .replace(/\.$/, "")
    .split(" ");
  const acts = ["refund", "end", "resolve"].includes(words[1] ?? "");
  if (!acts) return words;
  const who = words[1] === "resolve" ? [] : ["--as", "otto", "--yes"];
  return [...words, "--reason", "It was advised.", ...who];
}

/** Follows the advice: `accepted`, `nothing advised`, or how it was refused. */
async function take(text: string): Promise<string> {
  const advice = adviceIn(text);
  if (advice === undefined) return "nothing advised";
  const { status, err } = await cli(...advice);
  return status === 0 ? "accepted" : `${advice.join(" ")}: ${err}`;
}

const last = async (id: string): Promise<string> => (await m.said(id)).at(-1) ?? "";
const show = async (id: string): Promise<string> => (await cli("payments", "show", id)).out;

async function paid(input: Parameters<typeof m.bought>[0] = { quantity: 1 }) {
  const { id, session } = await m.bought(input);
  const [payment] = await m.payments(id);
  const intent = session["payment_intent"] ?? null;
  const told = (type: string, object: Record<string, Json>): Promise<unknown> =>
    m.tells(type, { currency: "usd", payment_intent: intent, created: Math.floor(Date.now() / 1000), ...object });
  const dispute = (dp: string, status: string): Promise<unknown> =>
    told("charge.dispute.updated", { object: "dispute", id: dp, status, amount: 30_000 });
  const refund = (re: string, status: string, amount: number): Promise<unknown> =>
    told(status === "failed" ? "refund.failed" : "refund.created", { object: "refund", id: re, status, amount });
  return { id, paymentId: payment?.id ?? "", dispute, refund };
}

/** A refund that was made three times and came back three times. */
async function heldForPerson() {
  const scene = await paid();
  await m.apply(scene.id, "CANCEL_APPROVED", "rita");
  for (let turn = 0; turn < 3; turn += 1) {
    await m.deliver();
    const { re } = await oneOf<{ re: string }>(
      m.superuser,
      "select stripe_id as re from billing.refunds where request_id = $1 order by created_at desc limit 1",
      [scene.id],
    );
    await m.tells("refund.failed", { ...m.stripe.things.get(re), status: "failed", failure_reason: "declined" });
  }
  return scene;
}

describe("a refund that waits for a person", () => {
  test("can be made by the command in the thread, and by that of the list and of the payment", async () => {
    const one = await heldForPerson();
    expect(await last(one.id)).toContain("has failed 3 times");
    expect(await take(await last(one.id))).toBe("accepted");
    const other = await heldForPerson();
    const listed = await cli("payments", "list", "--waiting");
    expect(await take(listed.out)).toBe("accepted");
    expect(await take(await show(other.paymentId))).toBe("accepted");
  });

  test("is not advised while the customer disputes the payment, when it would be refused", async () => {
    const scene = await paid();
    await m.apply(scene.id, "CANCEL_APPROVED", "rita");
    await rowsOf(
      m.superuser,
      `insert into billing.refunds (id, workspace_id, request_id, payment_id, origin, reason, currency, amount, state, failure, asked_by)
       select gen_random_uuid(), p.workspace_id, p.request_id, p.id, 'ours', 'cancelled', p.currency, p.amount, 'failed', 'declined', 'system'
         from billing.payments p, generate_series(1, 2) where p.id = $1`,
      [scene.paymentId],
    );
    await m.deliver();
    const { re } = await oneOf<{ re: string }>(
      m.superuser,
      "select stripe_id as re from billing.refunds where request_id = $1 and stripe_id is not null",
      [scene.id],
    );
    await scene.dispute(m.stripe.nextId("dp"), "needs_response");
    await m.tells("refund.failed", { ...m.stripe.things.get(re), status: "failed", failure_reason: "declined" });
    expect(await m.refunds(scene.id)).toContain("ours cancelled 30000 held person");
    expect(await take(await last(scene.id))).toBe("nothing advised");
    expect(await take(await show(scene.paymentId))).toBe("nothing advised");
  });

  test("can be made once the dispute has ended", async () => {
    const scene = await heldForPerson();
    const dp = m.stripe.nextId("dp");
    await scene.dispute(dp, "needs_response");
    await scene.dispute(dp, "won");
    expect(await take(await show(scene.paymentId))).toBe("accepted");
  });
});

describe("a refund that failed", () => {
  test("is advised again while something is left of the payment, and not when nothing is", async () => {
    const scene = await paid();
    const re = m.stripe.nextId("re");
    await scene.refund(re, "succeeded", 30_000);
    await scene.refund(re, "failed", 30_000);
    expect(adviceIn(await show(scene.paymentId))?.slice(0, 2)).toEqual(["payments", "refund"]);
    await scene.dispute(m.stripe.nextId("dp"), "lost");
    expect(await take(await show(scene.paymentId))).toBe("nothing advised");
    const other = await paid();
    const failed = m.stripe.nextId("re");
    await other.refund(failed, "succeeded", 30_000);
    await other.refund(failed, "failed", 30_000);
    expect(await take(await show(other.paymentId))).toBe("accepted");
    // It is pending now: another would be refused.
    expect(await take(await show(other.paymentId))).toBe("nothing advised");
  });
});

const refuseRefund = (code: string): void =>
  m.stripe.instead("refund", () => ({ kind: "rejected", code, reason: "refused on purpose" }));

/** An operator's refund that Stripe refuses to make. */
async function unmade(code: string) {
  const scene = await paid();
  refuseRefund(code);
  expect(await take(`headroom payments refund ${scene.paymentId}`)).toBe("accepted");
  await m.deliver();
  return scene;
}

/** What the thread says of it after Stripe was asked for its refunds. */
async function toldOf(id: string): Promise<string> {
  await m.look(id);
  await m.deliver();
  return (await m.said(id)).find((said) => said.includes("did not make the refund")) ?? "";
}

describe("an operator's refund that Stripe did not make", () => {
  test("can be made by the command in the thread", async () => {
    const { id } = await unmade("not_refundable");
    expect(await take(await toldOf(id))).toBe("accepted");
  });

  test("is not announced as sent again while a refund waits for a person", async () => {
    const { id } = await heldForPerson();
    refuseRefund("not_refundable");
    expect(await take(await last(id))).toBe("accepted");
    await m.deliver();
    expect(await toldOf(id)).toBe("Stripe did not make the refund of USD 300.00.");
    expect(await m.refunds(id)).toContain("ours cancelled 30000 held person");
    expect(await take(await last(id))).toBe("accepted");
  });

  test("is not advised while a dispute is open, whether reported or not", async () => {
    const unheard = await unmade("disputed");
    expect(await toldOf(unheard.id)).toMatch(/once the dispute about it has ended\.$/);
    const scene = await unmade("disputed");
    const dp = m.stripe.nextId("dp");
    await scene.dispute(dp, "needs_response");
    const told = await toldOf(scene.id);
    expect(told).toMatch(/once the dispute about it has ended\.$/);
    expect(await take(told)).toBe("nothing advised");
    expect(await take(await show(scene.paymentId))).toBe("nothing advised");
    await scene.dispute(dp, "won");
    expect(await take(await show(scene.paymentId))).toBe("accepted");
  });
});

const refuse = (): void =>
  m.stripe.instead("checkout.create", () => ({ kind: "rejected", code: "http_400", reason: "refused on purpose" }));
const offersAgain = (said: string): boolean => /can (?:pay|try) again/.test(said);

describe("a customer who can pay again", () => {
  test("is told so after a page could not be made, and can", async () => {
    const id = await m.offered();
    refuse();
    await m.begin(id);
    await m.deliver();
    await m.look(id);
    expect(offersAgain(await last(id))).toBe(true);
    expect(await m.begin(id)).toMatchObject({ state: "asked" });
  });

  test("is not told so when the offer has ended, its price is withdrawn, or a payment is being looked at", async () => {
    const ends: readonly string[] = [
      "update capacity.requests set next_deadline_at = now() where id = $1",
      "select capacity.decide($1, 'CANCEL_APPROVED', row('user', 'rita', 'api')::capacity.actor, '{\"reason\": \"no more\"}')",
      "select billing.withdraw_price((r.offer ->> 'price_id')::uuid, 'a typing error', 'otto') from capacity.requests r where r.id = $1",
      "insert into billing.findings (kind, stripe_id, request_id, said, event_id) values ('amount_mismatch', 'cs_held', $1, 'Odd.', 'evt_x')",
    ];
    for (const [at, end] of ends.entries()) {
      await rowsOf(
        m.superuser,
        "insert into billing.prices (workspace_id, size, kind, currency, unit_amount, created_by) values ('acme', $1, 'one_off', 'USD', 500, 'test')",
        [`END-${at}`],
      );
      const id = await m.offered({ size: `END-${at}` });
      refuse();
      await m.begin(id);
      await m.deliver();
      await rowsOf(m.superuser, end, [id]);
      await rowsOf(m.superuser, "select billing.tell_no_page(c) from billing.checkouts c where c.request_id = $1", [
        id,
      ]);
      expect(await last(id)).toContain("could not make the page");
      expect([end, offersAgain(await last(id))]).toEqual([end, false]);
      await expect(m.begin(id)).rejects.toThrow();
    }
  });
});

describe("other advice", () => {
  test("a price that was withdrawn: cancelling is accepted, and so is asking again", async () => {
    const { id: price } = await oneOf<{ id: string }>(
      m.superuser,
      "insert into billing.prices (workspace_id, size, kind, currency, unit_amount, created_by) values ('acme', 'GONE', 'one_off', 'USD', 500, 'test') returning id",
    );
    const id = await m.offered({ size: "GONE" });
    await rowsOf(m.superuser, "select billing.withdraw_price($1, 'a typing error', 'otto')", [price]);
    expect(await last(id)).toContain("Cancel the request, and submit it again");
    await m.apply(id, "CANCEL_APPROVED", "rita");
    await m.offered({ size: "GONE" });
  });

  test("the end of a term: the subscription can be ended by the command in the thread", async () => {
    const { id } = await paid({ size: "MONTHLY", quantity: 1 });
    await rowsOf(
      m.superuser,
      "update billing.subscriptions set ends_at = now() - interval '1 hour' where request_id = $1",
      [id],
    );
    await m.look(id);
    expect(await take((await m.said(id)).find((said) => said.includes("headroom payments end")) ?? "")).toBe(
      "accepted",
    );
  });

  test("a payment in test mode: the customer pays again by the link", async () => {
    const { id, session } = await m.opened();
    await rowsOf(m.superuser, "update billing.installation set live_since = now()");
    expect(await m.tells("checkout.session.completed", m.paid(session))).toMatchObject({ code: "test_payment" });
    await rowsOf(m.superuser, "update billing.installation set live_since = null");
    const before = await m.checkout(id);
    const again = await m.begin(id);
    expect([again.state, again.checkout_id === before?.checkout_id]).toEqual(["asked", false]);
  });

  test("a finding: it is resolved by the command below the list", async () => {
    await rowsOf(
      m.superuser,
      "insert into billing.findings (kind, stripe_id, said, event_id) values ('unknown_payment', 'cs_stray', 'Odd.', 'evt_y')",
    );
    const { out } = await cli("payments", "findings");
    expect(await take(out.slice(out.indexOf("Next:")))).toBe("accepted");
  });

  test("an attempt to end what is not charged again is pointed to a command that is accepted", async () => {
    const { id, paymentId } = await paid();
    const refused = await cli("payments", "end", id, "--as", "otto", "--reason", "Enough.", "--yes");
    expect(refused.err).toContain("headroom payments refund");
    expect(await take(`headroom payments refund ${paymentId}`)).toBe("accepted");
  });
});
