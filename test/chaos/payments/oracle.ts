/**
 * The verdict about money, from two sides: the database, and the stand-in for Stripe. Neither knows which faults
 * happened.
 */
import { verifyPayments } from "../../../src/billing/verify.ts";
import { verify } from "../../../src/capacity/verify.ts";
import { verifyJobs } from "../../../src/provisioning/verify.ts";
import type { Payment } from "../../../src/sandbox/stripe/things.ts";
import type { Findings } from "../kit/findings.ts";
import { noteVerify } from "../kit/verify.ts";
import { foreignRail } from "./directory.ts";
import type { PaymentsStage } from "./stage.ts";
import type { Holdings } from "./stripe-child.ts";

interface OurPayment {
  readonly id: string;
  readonly request_id: string;
  readonly purpose: "confirmation" | "renewal" | "unmatched";
  readonly payment_intent: string | null;
  readonly currency: string;
  readonly amount: number;
  readonly counts: boolean;
  readonly refund_reason: string | null;
  readonly request_state: string;
  readonly subscriptions: number;
  readonly jobs: number;
  readonly dispatches: number;
  /** An operator recorded how the job ended, or GitHub was never asked. */
  readonly by_hand: boolean;
  readonly held_by: string | null;
  readonly told: boolean;
}

interface OurRow {
  readonly stripe_id: string;
  readonly state: string;
  readonly amount: number | null;
}

/** The invariants once everything has come to rest. */
export async function judge(stage: PaymentsStage, findings: Findings): Promise<void> {
  const holdings = await stage.stripe.ask("holdings");
  const payments = await stage.rows<OurPayment>(paymentsQuery);
  await judgeBalance(stage, holdings, findings);
  judgePayments(payments, holdings, findings);
  await judgeRest(stage, holdings, findings);
  judgeOutcomes(payments, holdings, findings);
  judgeCharges(holdings, findings);
  judgeRuns(stage, findings);
  judgeTimes(stage, payments, holdings, findings);
  for (const { what } of await stage.rows<{ what: string }>(stuckQuery)) findings.add("nothing is stuck", what);
  await noteVerify(stage, [verify, verifyJobs, verifyPayments], findings);
}

function inWords(books: { taken: number; refunded: number; disputed: number } | undefined): string {
  const { taken, refunded, disputed } = books ?? { taken: 0, refunded: 0, disputed: 0 };
  return `taken ${taken}, refunded ${Math.abs(refunded)}, disputed ${Math.abs(disputed)}`;
}

/** To the cent, for each currency. */
async function judgeBalance(stage: PaymentsStage, { books }: Holdings, findings: Findings): Promise<void> {
  const ours = await stage.rows<{ currency: string; taken: number; refunded: number; disputed: number }>(
    `select currency, sum(taken)::float8 as taken, sum(refunded)::float8 as refunded, sum(disputed)::float8 as disputed
       from public.billing_balance group by currency`,
  );
  const currencies = new Set([
    ...ours.map(({ currency }) => currency),
    ...books.map(({ currency }) => currency.toUpperCase()),
  ]);
  for (const currency of currencies) {
    const here = inWords(ours.find((each) => each.currency === currency));
    const there = inWords(books.find((each) => each.currency.toUpperCase() === currency));
    if (here !== there)
      findings.add("the balance is Stripe's, to the cent", `${currency}: ${here}; at Stripe ${there}`);
  }
}

function judgePayments(ours: readonly OurPayment[], { payments }: Holdings, findings: Findings): void {
  const invariant = "each payment at Stripe is one here, and no other";
  const known = Map.groupBy(ours, ({ payment_intent: intent }) => intent);
  for (const { id, status, amount, currency } of payments) {
    const here = known.get(id) ?? [];
    known.delete(id);
    const isTaken = status === "succeeded";
    if (here.length !== (isTaken ? 1 : 0)) findings.add(invariant, `${id} (${status}): ${here.length} here`);
    for (const each of here) {
      if (each.amount !== amount || each.currency !== currency.toUpperCase())
        findings.add(invariant, `${id}: ${amount} ${currency}, and here ${each.amount} ${each.currency}`);
    }
  }
  for (const [intent, here] of known)
    findings.add(invariant, `Stripe has no ${intent}: ${here.map(({ id }) => id).join()}`);
}

async function judgeRest(stage: PaymentsStage, holdings: Holdings, findings: Findings): Promise<void> {
  await compare(stage, findings, {
    invariant: "each refund at Stripe is one here, and no other",
    ours: "select stripe_id, state, amount::float8 as amount from billing.refunds where stripe_id is not null",
    theirs: holdings.refunds,
  });
  await compare(stage, findings, {
    invariant: "each dispute at Stripe is one here, and no other",
    ours: "select stripe_id, status as state, amount::float8 as amount from billing.disputes",
    theirs: holdings.disputes,
  });
  for (const [mark, same] of Map.groupBy(holdings.refunds, ({ metadata }) => metadata["headroom_refund"] ?? "")) {
    if (mark !== "" && same.length > 1)
      findings.add(
        "one instruction is one refund",
        `${mark}: ${same.map(({ id, amount }) => `${id} (${amount})`).join(", ")}`,
      );
  }
  await judgeSubscriptions(stage, holdings, findings);
}

export async function judgeSubscriptions(
  stage: PaymentsStage,
  { sessions, subscriptions }: Holdings,
  findings: Findings,
): Promise<void> {
  const paid = sessions.filter(({ paymentStatus }) => paymentStatus === "paid");
  const bought = new Set(paid.map(({ subscription }) => subscription));
  const ids = new Set((await stage.rows<OurRow>(subscriptionsQuery)).map(({ stripe_id: id }) => id));
  await compare(stage, findings, {
    invariant: "each subscription at Stripe is one here, or is ended",
    ours: subscriptionsQuery,
    // A subscription whose payment was refunded, or failed, was never bought here: it only has to end.
    theirs: subscriptions.filter(({ id, status }) => ids.has(id) || (bought.has(id) && status !== "canceled")),
    agrees: sameSubscription,
  });
  const unwanted = await stage.rows<OurRow>(`${subscriptionsQuery} and r.state not in ('PROVISIONING', 'COMPLETED')`);
  const live = new Set(subscriptions.flatMap(({ id, status }) => (status === "canceled" ? [] : [id])));
  for (const { stripe_id: id } of unwanted) {
    if (live.has(id)) findings.add("nobody goes on paying for what does not run", id);
  }
}

interface Comparison {
  readonly invariant: string;
  /** A query of ids at Stripe, states and amounts. */
  readonly ours: string;
  readonly theirs: readonly { readonly id: string; readonly status: string; readonly amount?: number }[];
  /** Whether two states mean the same. Default: they have one name. */
  readonly agrees?: (there: string, here: string) => boolean;
}

async function compare(
  stage: PaymentsStage,
  findings: Findings,
  { invariant, ours, theirs, agrees = (there, here) => there === here }: Comparison,
): Promise<void> {
  const known = new Map((await stage.rows<OurRow>(ours)).map((row) => [row.stripe_id, row]));
  for (const { id, status, amount } of theirs) {
    const here = known.get(id);
    known.delete(id);
    if (here === undefined || !agrees(status, here.state) || (amount !== undefined && here.amount !== amount))
      findings.add(
        invariant,
        `${id} is ${status} (${amount ?? "-"}), here ${here?.state ?? "unknown"} (${here?.amount ?? "-"})`,
      );
  }
  for (const { stripe_id: id, state } of known.values()) findings.add(invariant, `Stripe has no ${id}, here ${state}`);
}

function sameSubscription(there: string, here: string): boolean {
  if (there === "canceled") return here === "cancelled" || here === "ended";
  if (there === "past_due") return here === "past_due" || here === "unpaid";
  return there === here;
}

/** The amount that was neither refunded nor taken back by a bank. */
function keptOf({ id, amount }: Payment, { refunds, disputes }: Index): number {
  const back = (refunds.get(id) ?? []).filter(({ status }) => status !== "failed");
  const lost = (disputes.get(id) ?? []).filter(({ status }) => status === "lost");
  return amount - sumOf(back) - sumOf(lost);
}

const sumOf = (list: readonly { readonly amount: number }[]): number =>
  list.reduce((sum, each) => sum + each.amount, 0);

interface Index {
  readonly refunds: ReadonlyMap<string, Holdings["refunds"]>;
  readonly disputes: ReadonlyMap<string, Holdings["disputes"]>;
}

function indexOf({ refunds, disputes }: Holdings): Index {
  return {
    refunds: Map.groupBy(refunds, ({ paymentIntent }) => paymentIntent),
    disputes: Map.groupBy(disputes, ({ paymentIntent }) => paymentIntent),
  };
}

const isOpenDispute = ({ status }: { readonly status: string }): boolean => !/^(won|lost|warning_closed)$/.test(status);

/** Every payment has bought something that runs, was refunded in full, or is held for a reason that was reported to people. */
function judgeOutcomes(ours: readonly OurPayment[], holdings: Holdings, findings: Findings): void {
  const index = indexOf(holdings);
  const theirs = new Map(holdings.payments.map((payment) => [payment.id, payment]));
  for (const payment of ours) {
    const { id, request_id: request, purpose, payment_intent: intent, counts, refund_reason: reason } = payment;
    const there = theirs.get(intent ?? "");
    if (there === undefined) continue;
    const kept = keptOf(there, index);
    // A bank may take back a refunded payment: that is between the bank and us. Only refunds are ours.
    const refunded = sumOf((index.refunds.get(there.id) ?? []).filter(({ status }) => status !== "failed"));
    if (refunded > there.amount) findings.add("no more is refunded than was paid", `${id} of ${request}: ${refunded}`);
    if (counts && reason !== null && purpose !== "renewal" && payment.request_state === "COMPLETED")
      findings.add("what runs is paid for", `${id} of ${request} goes back (${reason}), and its capacity runs`);
    if (counts && reason === null && purpose === "renewal") continue;
    const hasEnded = /^(REJECTED|CANCELLED|EXPIRED|FAILED)$/.test(payment.request_state);
    if (counts && reason === null && !hasEnded) {
      const { subscriptions, jobs, dispatches, by_hand: byHand, request_state: state } = payment;
      if (state !== "COMPLETED" || subscriptions !== 1 || jobs !== 1 || (byHand ? dispatches > 1 : dispatches < 1))
        findings.add(
          "what counts bought one subscription, one job and one dispatch",
          `${id} of ${request} (${state}): ${subscriptions}, ${jobs}, ${dispatches}`,
        );
      continue;
    }
    const isHeld = payment.held_by === "person" && payment.told;
    const isDisputed = (index.disputes.get(there.id) ?? []).some(isOpenDispute);
    if (kept > 0 && !isHeld && !isDisputed)
      findings.add(
        "what bought nothing went back in full",
        `${id} of ${request} (${reason ?? "no reason"}): ${kept} is kept`,
      );
  }
}

/** From Stripe's side only: a customer who paid twice for a request has one payment refunded. */
function judgeCharges(holdings: Holdings, findings: Findings): void {
  const index = indexOf(holdings);
  const payments = new Map(holdings.payments.map((payment) => [payment.id, payment]));
  const byRequest = Map.groupBy(holdings.sessions, ({ metadata }) => metadata["headroom_request"] ?? "?");
  for (const [request, sessions] of byRequest) {
    const kept = sessions
      .flatMap(({ paymentIntent }) => payments.get(paymentIntent) ?? [])
      .filter((payment) => payment.status === "succeeded" && keptOf(payment, index) > 0)
      .filter(({ id }) => !(index.disputes.get(id) ?? []).some(isOpenDispute))
      // After three refunds that failed a person is asked, as the outcome of the payment shows.
      .filter(({ id }) => (index.refunds.get(id) ?? []).filter(({ status }) => status === "failed").length < 3);
    if (kept.length > 1)
      findings.add(
        "nobody is charged twice",
        `${request}: ${kept.map(({ id, amount }) => `${id} (${amount})`).join(", ")}`,
      );
  }
}

/** A payment that counts was paid, or in progress, before the offer ended. */
function judgeTimes(
  { deadlines }: PaymentsStage,
  ours: readonly OurPayment[],
  { payments }: Holdings,
  findings: Findings,
): void {
  const madeAt = new Map(payments.map(({ id, created }) => [id, created * 1_000]));
  for (const { request_id: request, payment_intent: intent, counts, purpose } of ours) {
    const deadline = deadlines.get(request)?.getTime() ?? Infinity;
    const paid = madeAt.get(intent ?? "") ?? 0;
    if (counts && purpose !== "renewal" && paid > deadline)
      findings.add("what counts was paid in time", `${request}: ${new Date(paid).toISOString()}`);
  }
}

function judgeRuns({ works }: PaymentsStage, findings: Findings): void {
  for (const [mark, runs] of Map.groupBy(works.runs, (run) => run.mark)) {
    if (runs.length > 1) findings.add("an attempt is dispatched once", `${mark}: ${runs.length} runs`);
  }
}

const subscriptionsQuery = `
  select s.stripe_id, s.state, null::float8 as amount
    from billing.subscriptions s join billing.payments p on p.id = s.payment_id join capacity.requests r on r.id = s.request_id
   where s.stripe_id is not null`;

const paymentsQuery = `
  select p.id, p.request_id, p.purpose, p.payment_intent, p.currency, p.amount::float8 as amount, p.counts, p.refund_reason,
         r.state as request_state,
         (select count(*)::integer from billing.subscriptions s where s.request_id = p.request_id) as subscriptions,
         (select count(*)::integer from provisioning.jobs j where j.request_id = p.request_id) as jobs,
         (select count(*)::integer from provisioning.attempts a join provisioning.jobs j on j.id = a.job_id
           where j.request_id = p.request_id and a.task = 'provision') as dispatches,
         exists (select from provisioning.jobs j join provisioning.events e on e.job_id = j.id
                  where j.request_id = p.request_id and e.event like 'RECORDED%') as by_hand,
         (select f.held_by from billing.refunds f where f.payment_id = p.id and f.state = 'held') as held_by,
         exists (select from capacity.notices n where n.request_id = p.request_id and n.kind in ('payment', 'refund')
                    and n.said like '%An operator sees to it%') as told
    from billing.payments p join capacity.requests r on r.id = p.request_id`;

/** Items that must be gone once everything has come to rest; a stage counts them while it waits. */
export const stuckQuery = `
  select format('%s waits in the outbox (%s)', m.idempotency_key || ' of ' || m.instruction_id, s.name) as what
    from outbox.pending p join outbox.payloads m on m.outbox_id = p.outbox_id
    join outbox.streams s on s.stream_id = m.stream_id and s.name in ('billing', 'payments', 'refunds', 'subscriptions', 'provisioning')
    join outbox.rails r on r.rail_id = m.rail_id and r.name <> '${foreignRail}'
  union all
  select format('what Stripe said of %s is not read', outbox_key) from billing.sightings
  union all
  select format('checkout %s of %s is %s', c.number, c.request_id, c.state) from billing.checkouts c
   where c.state in ('asked', 'open', 'processing', 'abandoned')
  union all
  select format('refund of %s is %s (%s)', f.request_id, f.state, f.held_by) from billing.refunds f
   where f.state in ('sent', 'pending') or f.held_by = 'payment_intent'
  union all
  select format('payment of %s has no id at Stripe', p.request_id) from billing.payments p where p.payment_intent is null
  union all
  select format('job of %s is %s', j.request_id, j.state) from provisioning.jobs j
   where j.state in ('waiting', 'queued', 'provisioning', 'failed') or j.cleanup = 'under_way'
  union all
  select format('%s waits for its customer', r.id) from capacity.requests r where r.state = 'CUSTOMER_CONFIRMATION_REQUIRED'
  union all
  select format('comparison %s is at %s', x.id, x.cursor) from billing.reconciliations x where x.finished_at is null`;
