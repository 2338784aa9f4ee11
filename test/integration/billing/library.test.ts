/** The functions of "headroom/billing", as an operator of the installation calls them. */
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import {
  currencyDigits,
  formatAmount,
  getPayment,
  getPayments,
  listBalance,
  listFindings,
  listPayments,
  listPrices,
  listRates,
  listReconciliations,
  listSettings,
  listWaiting,
  moneyGauges,
  priceStatuses,
  putSettings,
  reconcile,
  refundPayment,
  resolveFinding,
  setPrice,
  setRate,
  totalsOf,
  verifyPayments,
  waitingCounts,
  withdrawPrice,
} from "../../../src/billing/index.ts";
import { startMoney } from "./harness.ts";

const m = await startMoney(18);
const control = m.db.as("headroom_control");
const auditor = m.db.as("headroom_auditor");

async function paymentOf(id: string): Promise<string> {
  const [payment] = await m.payments(id);
  if (payment === undefined) throw new Error(`${id} was not paid.`);
  return payment.id;
}

test("a payment is found by its id, by its ids at Stripe and with its request", async () => {
  const { id, session } = await m.bought();
  const paymentId = await paymentOf(id);
  const found = await getPayment(control.pool, paymentId);
  expect(found).toMatchObject({
    outcome: "found",
    payment: {
      id: paymentId,
      requestId: id,
      currency: "USD",
      status: "paid",
      counts: true,
      sessionId: session.id,
      refunds: [],
      disputes: [],
      entries: [{ kind: "taken", sourceId: session.id, at: expect.any(Date) }],
    },
  });
  expect(await getPayment(control.pool, (await m.payments(id))[0]?.payment_intent ?? "")).toEqual(found);
  expect(await getPayment(control.pool, session.id)).toEqual(found);
  const { payment } = found.outcome === "found" ? found : { payment: undefined };
  expect(await getPayments(control.pool, id)).toMatchObject({
    outcome: "found",
    money: { state: "paid", offer: { currency: "USD", amount: payment?.amount }, payments: [{ id: paymentId }] },
  });
  expect(await getPayment(control.pool, "pi_nobody")).toMatchObject({ outcome: "refused", code: "not_found" });
  expect(await listPayments(auditor.pool, { requestId: id })).toMatchObject({
    outcome: "listed",
    payments: [{ id: paymentId, left: payment?.amount, status: "paid" }],
  });
  expect(await listPayments(control.pool, { limit: 0 })).toMatchObject({ outcome: "refused", code: "invalid_input" });
});

test("a refund needs an operator and a reason, and is of no more than is left", async () => {
  const { id } = await m.bought();
  const paymentId = await paymentOf(id);
  const reason = "They bought the wrong size.";
  expect(await refundPayment(control.pool, paymentId, { as: "rita", reason })).toMatchObject({ code: "not_allowed" });
  expect(await refundPayment(control.pool, paymentId, { as: "otto", reason: " " })).toMatchObject({
    code: "invalid_input",
  });
  expect(await refundPayment(control.pool, paymentId, { as: "otto", reason, amount: 999_999_999 })).toMatchObject({
    code: "invalid_input",
  });
  expect(await refundPayment(control.pool, paymentId, { as: "otto", reason, amount: 0 })).toMatchObject({
    code: "invalid_input",
  });
  const asked = await refundPayment(control.pool, paymentId, { as: "otto", reason, amount: 5_000 });
  expect(asked).toMatchObject({
    outcome: "asked",
    payment: { status: "refunding", refunds: [{ amount: 5_000, state: "sent", askedBy: "otto", why: reason }] },
  });
  const waiting = await listWaiting(auditor.pool);
  expect(waiting).toMatchObject({
    waiting: expect.arrayContaining([expect.objectContaining({ state: "refund_sent", requestId: id, amount: 5_000 })]),
  });
  await m.deliver();
  expect(await getPayment(control.pool, paymentId)).toMatchObject({
    payment: { status: "partly_refunded", refunds: [{ state: "succeeded" }] },
  });
});

test("the books are listed by day, and totals are by currency alone", async () => {
  const { id } = await m.bought({ size: "YEN" });
  const { payments } = await getPayments(control.pool, id).then((answer) =>
    answer.outcome === "found" ? answer.money : { payments: [] },
  );
  const balance = await listBalance(auditor.pool, { workspaceId: "acme" });
  if (balance.outcome === "refused") throw new Error(balance.message);
  const totals = totalsOf(balance.days);
  expect(totals.map(({ currency }) => currency).toSorted()).toEqual(["JPY", "USD"]);
  for (const { taken, refunded, disputed, net } of totals) expect(net).toBe(taken - refunded - disputed);
  expect(totals.find(({ currency }) => currency === "JPY")?.taken).toBe(payments[0]?.amount);
  expect(await listBalance(auditor.pool, { from: "2001-01-02", to: "2001-01-01" })).toMatchObject({
    code: "invalid_input",
  });
  expect(await listBalance(auditor.pool, { to: "2001-01-01" })).toEqual({ outcome: "balanced", days: [] });
});

test("waiting work is listed and counted alike, and books that do not add up are counted", async () => {
  const { id, session } = await m.opened();
  await m.tells("checkout.session.completed", m.paid(session, { payment_status: "unpaid" }));
  const counts = await waitingCounts(m.db.as("headroom_executor").pool);
  const listed = await listWaiting(control.pool, { limit: 10_000 });
  if (listed.outcome === "refused") throw new Error(listed.message);
  expect(listed.waiting).toContainEqual(expect.objectContaining({ state: "processing", requestId: id }));
  for (const { state, waiting } of counts.filter(({ state: of }) => !["unread", "unreconciled", "books"].includes(of)))
    expect([state, listed.waiting.filter((row) => row.state === state).length]).toEqual([state, waiting]);
  expect(counts.find(({ state }) => state === "books")).toMatchObject({ waiting: 0 });
  const bought = await m.bought();
  const paymentId = await paymentOf(bought.id);
  await m.superuser.query("update billing.payments set amount = amount + 1 where id = $1", [paymentId]);
  expect(await waitingCounts(control.pool)).toContainEqual({ state: "books", waiting: 1, oldestSeconds: 0 });
  const gauges = await moneyGauges(control.pool);
  expect(gauges).toContain('headroom_billing_waiting{state="books"} 1\n');
  expect(gauges).toMatch(/^headroom_billing_oldest_seconds\{state="processing"\} \d/m);
  const findings: string[] = [];
  for await (const batch of verifyPayments(auditor.pool)) findings.push(...batch.findings.map(({ code }) => code));
  expect(findings).toContain("books_differ");
  await m.superuser.query("update billing.payments set amount = amount - 1 where id = $1", [paymentId]);
});

test("a finding stays open until a person states the outcome", async () => {
  const { id, session } = await m.opened();
  const answer = await m.tells("checkout.session.completed", m.paid(session, { amount_total: 1 }));
  expect(answer).toMatchObject({ outcome: "finding", status: 422 });
  const open = await listFindings(auditor.pool, { workspaceId: "acme" });
  if (open.outcome === "refused") throw new Error(open.message);
  const finding = open.findings.find(({ requestId }) => requestId === id);
  expect(finding).toMatchObject({ kind: "amount_mismatch", stripeId: session.id, resolved: null });
  const findingId = finding?.id ?? "";
  expect(await resolveFinding(control.pool, findingId, "", "otto")).toMatchObject({ code: "invalid_input" });
  expect(await resolveFinding(control.pool, findingId, "A test of ours.", "otto")).toEqual({ outcome: "resolved" });
  expect(await resolveFinding(control.pool, findingId, "Again.", "otto")).toMatchObject({ code: "not_found" });
  expect(await listFindings(auditor.pool)).toMatchObject({
    findings: expect.not.arrayContaining([expect.objectContaining({ id: findingId })]),
  });
  expect(await listFindings(auditor.pool, { all: true })).toMatchObject({
    findings: expect.arrayContaining([
      expect.objectContaining({ id: findingId, resolved: expect.objectContaining({ resolution: "A test of ours." }) }),
    ]),
  });
});

test("a comparison is started, followed page by page, and complete when all pages are read", async () => {
  const begun = await reconcile(control.pool, "otto");
  if (begun.outcome === "refused") throw new Error(begun.message);
  expect(await listReconciliations(auditor.pool, { id: begun.id })).toMatchObject([
    { askedBy: "otto", state: "under_way", pages: 0, finishedAt: null },
  ]);
  for (let page = 0; page < 6; page += 1) await m.deliver();
  expect(await listReconciliations(auditor.pool, { id: begun.id })).toMatchObject([{ state: "complete", pages: 5 }]);
  expect(await reconcile(control.pool, "otto", { since: new Date("2001-01-01") })).toMatchObject({
    code: "invalid_input",
  });
});

/** The amounts of one size, with their states. */
async function statuses() {
  const prices = (await listPrices(auditor.pool, "acme")).filter(({ size }) => size === "LIB");
  return priceStatuses(prices, new Date()).map((status, index) => [prices[index]?.unitAmount, status]);
}

test("a newer price replaces an older one, and after it is withdrawn the older one applies again", async () => {
  const base = { size: "LIB", kind: "recurring", currency: "EUR", unitAmount: 10_000 } as const;
  const first = await setPrice(control.pool, "acme", base, "test");
  const second = await setPrice(control.pool, "acme", { ...base, unitAmount: 12_000 }, "test");
  expect(await setPrice(control.pool, "acme", { ...base, unitAmount: 12_000 }, "test")).toEqual(second);
  const later = new Date(Date.now() + 86_400_000);
  await setPrice(control.pool, "acme", { ...base, unitAmount: 13_000, validFrom: later }, "test");
  expect(await statuses()).toEqual([
    [13_000, "later"],
    [12_000, "applies"],
    [10_000, "replaced"],
  ]);
  if (first.outcome === "refused" || second.outcome === "refused") throw new Error("A price was refused.");
  expect(await withdrawPrice(control.pool, second.price.id, "a slip", "test")).toMatchObject({
    outcome: "withdrawn",
    price: { withdrawn: { by: "test", why: "a slip" } },
  });
  expect((await statuses()).slice(1)).toEqual([
    [12_000, "withdrawn"],
    [10_000, "applies"],
  ]);
  expect(await setPrice(control.pool, "acme", { ...base, unitAmount: 0 }, "test")).toMatchObject({
    outcome: "refused",
    code: "invalid_input",
  });
  expect(await withdrawPrice(control.pool, first.price.id, " ", "test")).toMatchObject({ code: "invalid_input" });
});

test("rates and settings are changed one by one, and a bad one is refused with an explanation", async () => {
  expect(await setRate(control.pool, "acme", { currency: "EUR", usd: "1.08000000001" }, "test")).toEqual({
    outcome: "set",
  });
  expect(await listRates(auditor.pool, "acme")).toMatchObject([{ currency: "EUR", usd: "1.08000000001" }]);
  expect(await setRate(control.pool, "acme", { currency: "USD", usd: "1" }, "test")).toMatchObject({
    code: "invalid_input",
  });
  await setRate(control.pool, "acme", { currency: "EUR", usd: null }, "test");
  expect(await listRates(auditor.pool, "acme")).toEqual([]);
  expect(await putSettings(control.pool, "acme", { graceDays: 3, selfServiceRequester: "rita" })).toMatchObject({
    outcome: "put",
    settings: { graceDays: 3, selfServiceRequester: "rita", holdDays: 14 },
  });
  expect(await putSettings(control.pool, "acme", { selfServiceRequester: "nobody" })).toMatchObject({
    code: "invalid_input",
    detail: expect.stringContaining("active member"),
  });
  await putSettings(control.pool, "acme", { graceDays: 7, selfServiceRequester: null });
  expect((await listSettings(auditor.pool)).find(({ workspaceId }) => workspaceId === "acme")).toMatchObject({
    graceDays: 7,
    selfServiceRequester: null,
  });
});

test("amounts are written as the database writes them, in every currency", async () => {
  const { rows } = await m.superuser.query<{ currency: string; digits: number; amount: string; words: string }>(
    `select c as currency, billing.currency_digits(c) as digits, x as amount, billing.amount_words(c, x) as words
       from (select chr(a) || chr(b) || chr(d) as c from generate_series(65, 90) a, generate_series(65, 90) b, generate_series(65, 90) d) k
      cross join unnest('{0, 7, 10, 100, 123456700, 99999999, -1250}'::bigint[]) x
      where billing.currency_digits(c) is not null`,
  );
  expect(rows.length).toBeGreaterThan(900);
  for (const { currency, digits, amount, words } of rows) {
    expect([currency, currencyDigits(currency)]).toEqual([currency, digits]);
    expect(formatAmount(currency, Number(amount))).toBe(words);
  }
});

test("the guide for setting up the webhook names exactly the events that we handle", async () => {
  const guide = await readFile(new URL("../../../docs/guides/payment.md", import.meta.url), "utf8");
  const named = /```text\n([^`]+)```/.exec(guide)?.[1]?.trim().split("\n");
  const { rows } = await m.superuser.query<{ event_type: string }>("select event_type from billing.event_rules()");
  expect(named).toEqual(rows.map((row) => row.event_type));
});
