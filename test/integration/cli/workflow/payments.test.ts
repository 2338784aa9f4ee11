/** `headroom payments …` against a real database, as the operators' role: from the payment to the books. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { startMoney } from "../../billing/harness.ts";
import { headroom, type Outcome } from "../harness.ts";

const m = await startMoney(18);
const env = { DATABASE_URL: m.db.as("headroom_control").url };

function payments(...parameters: string[]): Promise<Outcome> {
  return headroom(["payments", ...parameters], { env });
}

async function paymentsJson(...parameters: string[]) {
  const outcome = await payments(...parameters, "--json");
  return { status: outcome.status, answer: JSON.parse(outcome.out) };
}

async function bought(input?: Parameters<typeof m.bought>[0]) {
  const { id, session } = await m.bought(input);
  const [payment] = await m.payments(id);
  return { id, session, paymentId: payment?.id ?? "", intent: payment?.payment_intent ?? "" };
}

describe("list", () => {
  test("shows amounts in the currency's own decimals", async () => {
    const yen = await bought({ size: "YEN", quantity: 1 });
    const dollars = await bought({ size: "32XL", quantity: 4 });
    const { status, out, err } = await payments("list");
    expect({ status, err }).toEqual({ status: 0, err: "" });
    expect(out).toMatch(new RegExp(`^${dollars.paymentId} +${dollars.id} +USD 1,200.00 +USD 1,200.00 +paid`, "m"));
    expect(out).toMatch(new RegExp(`^${yen.paymentId} +${yen.id} +JPY 5,000 +JPY 5,000 +paid`, "m"));
    const { answer } = await paymentsJson("list", "--request", yen.id, "--workspace", "acme");
    expect(answer.payments).toMatchObject([{ id: yen.paymentId, amount: 5_000, currency: "JPY" }]);
  });

  test("has what waits, and what to do about it", async () => {
    const { id, session } = await m.opened();
    await m.tells("checkout.session.completed", m.paid(session, { payment_status: "unpaid" }));
    const { out } = await payments("list", "--waiting");
    expect(out).toMatch(new RegExp(String.raw`^processing +\d+ s +${id} +USD `, "m"));
    expect(out).toContain("Next: headroom payments ");
  });

  test("refuses bad input, and says so when nothing matches", async () => {
    expect((await payments("list", "--workspace", "globex")).out).toBe("No payments match.\n");
    expect(await payments("list", "--workspace", "nowhere")).toMatchObject({ status: 1, out: "" });
    expect(await payments("list", "--waiting", "--request", "CR-2026-000001")).toMatchObject({ status: 2 });
  });
});

describe("show", () => {
  test("has the refunds, the dispute and the books of a payment, by any of its ids", async () => {
    const { id, paymentId, intent, session } = await bought({ quantity: 1 });
    await m.tells("charge.dispute.created", {
      object: "dispute",
      id: m.stripe.nextId("dp"),
      status: "needs_response",
      amount: 30_000,
      currency: "usd",
      payment_intent: intent,
      charge: m.stripe.nextId("ch"),
      reason: "fraudulent",
      created: Math.floor(Date.now() / 1_000),
    });
    const { out, status } = await payments("show", paymentId);
    expect(status).toBe(0);
    expect(out).toMatch(/^amount +USD 300\.00$/m);
    expect(out).toMatch(/^stands +disputed by the customer$/m);
    expect(out).toMatch(/^dp_\S+ +USD 300\.00 +open +needs_response/m);
    expect(out).toMatch(/^taken +USD 300\.00/m);
    expect(out).toMatch(/^disputed +USD -300\.00/m);
    expect(out).toContain("Next: answer the dispute in Stripe's dashboard");
    expect((await payments("show", intent)).out).toBe(out);
    expect((await payments("show", session.id)).out).toBe(out);
    expect((await payments("show", paymentId.slice(-12))).out).toBe(out);
    expect((await payments("show", /\bdp_\w+/.exec(out)?.[0] ?? "")).out).toBe(out);
    const ofRequest = await payments("show", id.toLowerCase());
    expect(ofRequest.out).toMatch(/^price +USD 300\.00 once \(1 × USD 300\.00\)$/m);
    expect(ofRequest.out).not.toContain("subscription");
    expect(ofRequest.out).toContain(out);
    const { answer } = await paymentsJson("show", id);
    expect(answer).toMatchObject({ state: "disputed", payments: [{ id: paymentId, disputes: [{ outcome: "open" }] }] });
  });

  test.each([
    ["pi_nobody", 1, "There is no such payment"],
    ["CR-1999-000001", 1, "There is no such request"],
    ["payment 7", 2, "or name the request"],
  ])("%s is refused", async (id, status, words) => {
    const outcome = await payments("show", id);
    expect(outcome).toMatchObject({ status, out: "" });
    expect(outcome.err).toContain(words);
  });
});

describe("refund", () => {
  test("sends back a part, then the rest, and says what is pending", async () => {
    const { id, paymentId } = await bought({ quantity: 1 });
    const act = ["--as", "otto", "--reason", "The wrong size."];
    const part = await payments("refund", paymentId, "--amount", "120.50", "--currency", "usd", ...act);
    expect(part).toEqual({
      status: 0,
      err: "",
      out: `${id}: a refund of USD 120.50 is on its way to Stripe.\nNext: headroom payments show ${paymentId}\n`,
    });
    const twice = await payments("refund", paymentId, ...act);
    expect(twice).toMatchObject({ status: 1, err: expect.stringContaining("A refund of this payment is under way.") });
    await m.deliver();
    const { answer } = await paymentsJson("refund", paymentId, ...act);
    expect(answer).toMatchObject({
      left: 0,
      refunds: [{ amount: 12_050 }, { amount: 17_950, why: "The wrong size." }],
    });
    await m.deliver();
    expect(await m.books(id)).toEqual(["taken 30000", "refunded -12050", "refunded -17950"]);
    expect(await payments("refund", paymentId, ...act)).toMatchObject({ status: 1 });
  });

  test.each([
    [["--amount", "1.5"], 2, "USD is written with 2 decimals: give it as in 1200.00."],
    [["--amount", "1,200.00"], 2, "Give digits alone, without commas"],
    [["--amount", "10.00", "--currency", "EUR"], 2, "The payment is in USD, and not in EUR."],
    [["--amount", "9999.00"], 2, "At most USD 300.00 can be refunded"],
    [["--amount", "0.00"], 2, "Give more than nothing."],
  ])("%j is refused, and nothing moves", async (options, status, words) => {
    const { id, paymentId } = await bought({ quantity: 1 });
    const outcome = await payments("refund", paymentId, "--as", "otto", "--reason", "x", ...options);
    expect(outcome).toMatchObject({ status, out: "", err: expect.stringContaining(words) });
    expect(await m.refunds(id)).toEqual([]);
  });

  test("needs an operator, a member and a reason", async () => {
    const { paymentId } = await bought({ quantity: 1 });
    expect(await payments("refund", paymentId, "--as", "rita", "--reason", "x")).toMatchObject({
      status: 1,
      err: expect.stringContaining("Only an operator or an admin refunds a payment."),
    });
    expect(await payments("refund", paymentId, "--reason", "x")).toMatchObject({ status: 2 });
    expect(await payments("refund", paymentId, "--as", "otto")).toMatchObject({ status: 2 });
    expect(await payments("refund", "cr-2026-000001", "--as", "otto", "--reason", "x")).toMatchObject({
      status: 2,
      err: expect.stringContaining("headroom payments show CR-2026-000001 has those of the request"),
    });
  });
});

describe("reconcile and balance", () => {
  test("wait until all pages were read, whoever else sweeps, and say when the books were last compared", async () => {
    // From here on only a relay runs.
    await m.deliver();
    const compared = await payments("reconcile", "--since", "2d", "--wait", "--timeout", "60");
    expect(compared.out).toMatch(/^Compared \d+ objects at Stripe; nothing in them was new to us\.\n/);
    expect(compared.status).toBe(0);
    const { out, status } = await payments("balance");
    expect(status).toBe(0);
    expect(out).toMatch(/^acme +USD [\d,]+\.\d\d +USD /m);
    expect(out).toMatch(/^acme +JPY 5,000 +JPY 0 +JPY 0 +JPY 5,000$/m);
    expect(out).toMatch(/^Last compared with Stripe at \S+Z\.$/m);
    const { answer } = await paymentsJson("balance", "--by-day", "--workspace", "acme");
    expect(answer).toMatchObject({ off: 0, compared: { state: "complete" } });
    expect(answer.days.length).toBeGreaterThanOrEqual(answer.totals.length);
    expect((await payments("balance", "--to", "2001-01-01")).out).toContain("Nothing is in the books.");
  });

  test("without --wait it says that it has begun, and bad input is refused", async () => {
    expect((await payments("reconcile")).out).toMatch(/^The comparison with Stripe since \S+Z has begun/);
    expect(await payments("reconcile", "--since", "2001-01-01")).toMatchObject({ status: 1 });
    expect(await payments("balance", "--from", "yesterday")).toMatchObject({ status: 2 });
  });

  test("books that do not add up have an exit code of their own", async () => {
    const { paymentId } = await bought({ quantity: 1 });
    await m.superuser.query("update billing.payments set amount = amount + 1 where id = $1", [paymentId]);
    const { out, status } = await payments("balance");
    expect(status).toBe(1);
    expect(out).toContain("1 payment does not add up with their entries.\nNext: headroom verify");
    await m.superuser.query("update billing.payments set amount = amount - 1 where id = $1", [paymentId]);
  });
});

test("a finding is listed until a person states the outcome", async () => {
  const { id, session } = await m.opened();
  await m.tells("checkout.session.completed", m.paid(session, { amount_total: 1 }));
  const { out } = await payments("findings");
  const [, finding = ""] = new RegExp(`^(\\S+) +amount_mismatch +${session.id} +${id}`, "m").exec(out) ?? [];
  expect(out).toContain(`Next: headroom payments resolve ${finding} --reason "…"`);
  expect(await payments("resolve", "7", "--reason", "x")).toMatchObject({ status: 2 });
  expect(await payments("resolve", finding, "--reason", "A test of ours.", "--actor", "otto")).toMatchObject({
    status: 0,
    out: expect.stringContaining("otto has looked at it."),
  });
  expect(await payments("resolve", finding, "--reason", "Again.")).toMatchObject({ status: 1 });
  expect((await payments("findings")).out).toBe("What Stripe said agrees with what we know.\n");
  expect((await payments("findings", "--all")).out).toContain("otto: A test of ours.");
});

describe("request show", () => {
  test("has the price, the state of the payment, and no way to confirm without paying", async () => {
    const customer = { org_id: randomUUID(), name: "Initech", email: "buyer@initech.example" };
    const { id, session } = await m.opened({ quantity: 2, customer });
    const due = await headroom(["request", "show", id], { env });
    expect(due.out).toMatch(/^price +USD 600\.00 once\npayment +to be paid$/m);
    expect(due.out).toContain("Paying USD 600.00 once is the confirmation.");
    expect(due.out).toContain(`headroom request decline ${id} --as `);
    expect(due.out).not.toContain("headroom request confirm");
    await m.tells("checkout.session.completed", m.paid(session));
    const paid = await headroom(["request", "show", id], { env });
    expect(paid.out).toContain(`\nIts payment: paid.\n  headroom payments show ${id}\n`);
    const { money } = JSON.parse((await headroom(["request", "show", id, "--json"], { env })).out);
    expect(money).toMatchObject({ state: "paid", offer: { amount: 60_000 }, payments: [{ counts: true }] });
  });
});

/** The doctor's lines about Stripe's webhook. */
async function webhook() {
  const { out } = await headroom(["doctor", "--offline", "--json"], { env });
  return JSON.parse(out).findings.find(({ check }: { check: string }) => check === "stripe webhook");
}

test("doctor finds that Stripe's events do not arrive", async () => {
  await bought({ quantity: 1 });
  expect(await webhook()).toMatchObject({ status: "ok" });
  await m.superuser.query("update billing.payments set event_id = 'look:' || event_id");
  expect(await webhook()).toMatchObject({
    status: "failure",
    message: expect.stringContaining('No event of Stripe reported any of the last payments in workspace "acme"'),
    remedy: expect.stringContaining("https://capacity.acme.example/webhooks/stripe"),
  });
});
