/**
 * The verdict over lives that have come to rest: compares the product's data with Stripe's own books, and checks where the money of each
 * request is. It knows of no planted bug, and of the acts only when a subscription was ended.
 */
import type { Stripe } from "stripe";
import { verifyPayments } from "../../../../src/billing/verify.ts";
import { Client } from "pg";
import { readBooks, type StripeBooks } from "./books.ts";
import { readOurs, stuckQuery, withoutPlay, type OurPayment, type Ours } from "./ours.ts";
import { keys, type LifeStage, type Scene } from "./stage.ts";

export interface Fault {
  /** The number of the life; -1 if no single life is to blame. */
  readonly life: number;
  readonly rule: string;
  readonly what: string;
}

const hasEnded = (state: string | undefined): boolean => /^(REJECTED|CANCELLED|EXPIRED|FAILED)$/.test(state ?? "");
const isVain = (status: string | null): boolean => status === "failed" || status === "canceled";
const isOpenDispute = ({ status }: { readonly status: string }): boolean => !/^(won|lost|warning_closed)$/.test(status);
const sum = (list: readonly { readonly amount: number }[]): number => list.reduce((all, { amount }) => all + amount, 0);
const idOf = (field: string | { readonly id: string } | null | undefined): string =>
  typeof field === "string" ? field : (field?.id ?? "");

export async function judge(stage: LifeStage): Promise<Fault[]> {
  const ours = await readOurs(stage);
  const play = stage.isLive ? await readBooks(stage, keys.test) : undefined;
  const verdict = new Verdict(stage, await readBooks(stage, stage.key), withoutPlay(ours, play), play);
  if (play !== undefined) await verdict.play(ours, play);
  verdict.payments();
  verdict.refunds();
  verdict.disputes();
  verdict.subscriptions();
  for (const scene of stage.scenes) verdict.moneyOf(scene);
  verdict.findings();
  await verdict.stuck();
  await verdict.verify();
  await verdict.balance();
  verdict.faults.push(...stage.troubles);
  return verdict.faults;
}

class Verdict {
  readonly faults: Fault[] = [];
  readonly #stage: LifeStage;
  readonly #books: StripeBooks;
  readonly #ours: Ours;
  readonly #refundsOf: ReadonlyMap<string, readonly Stripe.Refund[]>;
  readonly #disputesOf: ReadonlyMap<string, readonly Stripe.Dispute[]>;
  readonly #requestOf = new Map<string, string>();
  /** Invoices by their payment. */
  readonly #invoiceOf = new Map<string, Stripe.Invoice>();
  /** Payments that the product refused to accept, and reported to people. */
  readonly #refusedIntents = new Set<string>();

  /** Requests that were started with test money, before the account went live: people decide about them. */
  readonly #mixed: ReadonlySet<string>;

  constructor(stage: LifeStage, books: StripeBooks, ours: Ours, play: StripeBooks | undefined) {
    this.#stage = stage;
    this.#mixed = new Set(play?.sessions.map(({ metadata }) => metadata?.["headroom_request"] ?? "?"));
    this.#books = books;
    this.#ours = ours;
    this.#refundsOf = Map.groupBy(books.refunds, ({ payment_intent: intent }) => idOf(intent));
    this.#disputesOf = Map.groupBy(books.disputes, ({ payment_intent: intent }) => idOf(intent));
    const requestOfSubscription = new Map(
      books.subscriptions.map(({ id, metadata }) => [id, metadata["headroom_request"]]),
    );
    for (const session of books.sessions) {
      const intent = idOf(session.payment_intent);
      if (intent !== "") this.#requestOf.set(intent, session.metadata?.["headroom_request"] ?? "?");
    }
    for (const invoice of books.invoices) {
      const subscription = idOf(invoice.parent?.subscription_details?.subscription);
      for (const { payment } of invoice.payments?.data ?? []) {
        this.#requestOf.set(idOf(payment.payment_intent), requestOfSubscription.get(subscription) ?? "?");
        this.#invoiceOf.set(idOf(payment.payment_intent), invoice);
      }
    }
    const refused = new Set(ours.findings.map(({ stripe_id: id }) => id));
    for (const session of books.sessions)
      if (refused.has(session.id)) this.#refusedIntents.add(idOf(session.payment_intent));
  }

  note(life: number, rule: string, what: string): void {
    this.faults.push({ life, rule, what });
  }

  #lifeOf(request: string | null | undefined): number {
    return this.#stage.sceneOf(request ?? undefined)?.life.number ?? -1;
  }

  #blame(intent: string, rule: string, what: string): void {
    this.note(this.#lifeOf(this.#requestOf.get(intent)), rule, what);
  }

  /** Test money does not count once the installation is live. */
  async play(ours: Ours, play: StripeBooks): Promise<void> {
    const [row] = await this.#stage.rows<{ since: number }>(
      "select extract(epoch from live_since)::float8 as since from billing.installation where live_since is not null",
    );
    const since = row?.since ?? Infinity;
    const paid = [
      ...play.intents.flatMap(({ id, created, status }) => (status === "succeeded" ? [{ id, at: created }] : [])),
      ...play.invoices.map(({ id, status_transitions: { paid_at: at } }) => ({ id, at: at ?? 0 })),
    ];
    for (const { id, at } of paid) {
      const here = ours.payments.find(
        ({ payment_intent: intent, invoice_id: invoice }) => intent === id || invoice === id,
      );
      if (at > since && here !== undefined)
        this.note(
          this.#lifeOf(here.request_id),
          "test money counts for nothing where real money is taken",
          `${id} counts here`,
        );
    }
  }

  payments(): void {
    const rule = "each payment at Stripe is one here, and no other";
    const ours = Map.groupBy(this.#ours.payments, ({ payment_intent: intent }) => intent ?? "");
    for (const { id, status, amount_received: amount, currency } of this.#books.intents) {
      const here = ours.get(id) ?? [];
      ours.delete(id);
      if (this.#refusedIntents.has(id) && here.length === 0) continue;
      if (here.length !== (status === "succeeded" ? 1 : 0))
        this.#blame(id, rule, `${id} (${status}): ${here.length} here`);
      for (const each of here)
        if (each.amount !== amount || each.currency !== currency.toUpperCase())
          this.#blame(id, rule, `${id}: ${amount} ${currency}, and here ${each.amount} ${each.currency}`);
    }
    for (const [intent, here] of ours)
      for (const { id, request_id: request } of here)
        this.note(this.#lifeOf(request), rule, `Stripe has no payment "${intent}" (${id})`);
    const invoices = new Set(this.#ours.payments.map(({ invoice_id: id }) => id));
    for (const { id, status, amount_paid: amount, parent } of this.#books.invoices) {
      const request = this.#books.subscriptions.find(
        (each) => each.id === idOf(parent?.subscription_details?.subscription),
      )?.metadata["headroom_request"];
      if ((status === "paid" && amount > 0) !== invoices.has(id))
        this.note(
          this.#lifeOf(request),
          "each invoice that is paid is a payment here, and no other",
          `${id} is ${status ?? "?"}`,
        );
    }
  }

  refunds(): void {
    const rule = "each refund at Stripe is one here, and no other";
    const ours = new Map(this.#ours.refunds.map((refund) => [refund.stripe_id, refund]));
    for (const { id, status, amount, payment_intent: field } of this.#books.refunds) {
      const intent = idOf(field);
      const here = ours.get(id);
      ours.delete(id);
      if (here === undefined && this.#refusedIntents.has(intent)) continue;
      const agrees =
        here !== undefined &&
        here.amount === amount &&
        (here.state === status || (isVain(status) && /^(failed|cancell?ed)$/.test(here.state)));
      if (!agrees)
        this.#blame(
          intent,
          rule,
          `${id} is ${status ?? "?"} (${amount}), here ${here?.state ?? "unknown"} (${here?.amount ?? "-"})`,
        );
    }
    for (const { id, stripe_id: stripeId, state, request_id: request } of ours.values())
      if (stripeId !== null || /^(sent|pending|succeeded)$/.test(state))
        this.note(this.#lifeOf(request), rule, `Stripe has no refund ${stripeId ?? id}, here ${state}`);
    for (const [mark, same] of Map.groupBy(this.#books.refunds, ({ metadata }) => metadata?.["headroom_refund"] ?? ""))
      if (mark !== "" && same.length > 1)
        this.#blame(
          idOf(same[0]?.payment_intent),
          "one instruction is one refund",
          `${mark}: ${same.map(({ id }) => id).join(", ")}`,
        );
  }

  disputes(): void {
    const rule = "each dispute at Stripe is one here, and no other";
    const ours = new Map(this.#ours.disputes.map((dispute) => [dispute.stripe_id, dispute]));
    for (const { id, status, amount, payment_intent: field } of this.#books.disputes) {
      const here = ours.get(id);
      ours.delete(id);
      if (here === undefined && this.#refusedIntents.has(idOf(field))) continue;
      if (here?.state !== status || here.amount !== amount)
        this.#blame(
          idOf(field),
          rule,
          `${id} is ${status} (${amount}), here ${here?.state ?? "unknown"} (${here?.amount ?? "-"})`,
        );
    }
    for (const { stripe_id: id, request_id: request } of ours.values())
      this.note(this.#lifeOf(request), rule, `Stripe has no dispute ${id}`);
  }

  subscriptions(): void {
    const rule = "each subscription at Stripe is one here, or is ended";
    const ours = new Map(this.#ours.subscriptions.map((subscription) => [subscription.stripe_id, subscription]));
    for (const { id, status, metadata } of this.#books.subscriptions) {
      const here = ours.get(id);
      ours.delete(id);
      const life = this.#lifeOf(metadata["headroom_request"]);
      // A subscription whose first payment was refunded, or failed, was never bought here: it only has to end.
      const agrees = here === undefined ? status === "canceled" : sameSubscription(status, here.state);
      if (!agrees) this.note(life, rule, `${id} is ${status}, here ${here?.state ?? "unknown"}`);
      if (here !== undefined && status !== "canceled" && hasEnded(this.#ours.states.get(here.request_id)))
        this.note(life, "nobody goes on paying for what does not run", id);
    }
    for (const { stripe_id: id, request_id: request } of ours.values())
      this.note(this.#lifeOf(request), rule, `Stripe has no subscription ${id}`);
  }

  /** I8, from Stripe's side: each charge is either earned or refunded, and nothing is charged or refunded twice. */
  moneyOf(scene: Scene): void {
    if (this.#mixed.has(scene.id)) return;
    const state = this.#ours.states.get(scene.id);
    const charged = this.#books.intents.filter(
      ({ id, status }) => status === "succeeded" && this.#requestOf.get(id) === scene.id,
    );
    const confirmations: string[] = [];
    for (const { id, amount_received: amount } of charged) {
      const refunds = (this.#refundsOf.get(id) ?? []).filter(({ status }) => !isVain(status));
      const lost = (this.#disputesOf.get(id) ?? []).filter(({ status }) => status === "lost");
      if (sum(refunds) > amount)
        this.note(scene.life.number, "no more is refunded than was paid", `${id}: ${sum(refunds)} of ${amount}`);
      if (this.#refusedIntents.has(id)) continue;
      const here = this.#ours.payments.find(({ payment_intent: intent }) => intent === id);
      const kept = Math.max(0, amount - sum(refunds) - sum(lost));
      const waits = (here?.held_by === "person" && here.told) || (this.#disputesOf.get(id) ?? []).some(isOpenDispute);
      this.#operators(scene, id, amount, refunds);
      if (hasEnded(state) && kept > 0 && !waits)
        this.note(
          scene.life.number,
          "a request that ended keeps no money",
          `${id} (${state ?? "?"}): ${kept} of ${amount} is kept`,
        );
      const invoice = this.#invoiceOf.get(id);
      if (invoice?.billing_reason === "subscription_cycle") this.#renewal(scene, state, id, invoice, kept, waits, here);
      else if (kept > 0 && !waits) confirmations.push(id);
      else if (!hasEnded(state) && here?.counts === true) confirmations.push(id);
    }
    if (!hasEnded(state) && new Set(confirmations).size > 1)
      this.note(scene.life.number, "nobody is charged twice", `${state ?? "?"}: ${confirmations.join(", ")}`);
    this.#unwarranted(scene, state);
    this.#inTime(scene, state, charged);
  }

  /** An operator's refund has arrived, or people know that it waits. A cancelled refund is not sent again. */
  #operators(scene: Scene, id: string, amount: number, standing: readonly Stripe.Refund[]): void {
    const all = this.#refundsOf.get(id) ?? [];
    const cancelled = all.filter(
      ({ status, metadata }) => status === "canceled" && metadata?.["headroom_refund"] !== undefined,
    );
    const sentBack = (scene.sentBack.get(id) ?? 0) - sum(cancelled);
    const lost = sum(
      (this.#disputesOf.get(id) ?? []).filter(({ status }) => status === "lost" || isOpenDispute({ status })),
    );
    const payment = this.#ours.payments.find(({ payment_intent: intent }) => intent === id);
    const waits = this.#ours.refunds.some(({ payment_id: of, state }) => of === payment?.id && state === "held");
    if (sum(standing) < Math.min(sentBack, amount - lost) && !waits && payment?.unmade !== true)
      this.note(scene.life.number, "what an operator sends back goes back", `${id}: ${sum(standing)} of ${sentBack}`);
    for (const { id: refund, amount: part, metadata } of cancelled) {
      const isPersons = metadata?.["headroom_reason"] === "person";
      const again = all.some(
        (other) =>
          isPersons && other.id > refund && other.amount === part && other.metadata?.["headroom_reason"] === "person",
      );
      if (again && (scene.sentBack.get(id) ?? 0) < 2 * part)
        this.note(scene.life.number, "a refund that was cancelled is not sent again", `${refund} of ${id}`);
    }
  }

  /** A month is earned when it was paid before its subscription ended. */
  #renewal(
    scene: Scene,
    state: string | undefined,
    id: string,
    invoice: Stripe.Invoice,
    kept: number,
    waits: boolean,
    here: OurPayment | undefined,
  ): void {
    if (hasEnded(state)) return;
    const paidAt = invoice.status_transitions.paid_at ?? 0;
    const byUs = scene.did.find(({ act }) => act === "an operator ends it")?.at ?? Infinity;
    const outside = scene.did.find(({ act }) => act === "it is ended in the dashboard")?.at ?? Infinity;
    const goesBack = here?.refund_reason != null;
    if (paidAt < Math.min(byUs, outside) && goesBack)
      this.note(
        scene.life.number,
        "a month that was paid before the end is kept",
        `${id} goes back (${here.refund_reason ?? ""})`,
      );
    if (paidAt > byUs && kept > 0 && !waits)
      this.note(scene.life.number, "a month that was charged after we ended it goes back", `${id}: ${kept} is kept`);
  }

  /** A payment that counts was made before the offer expired. */
  #inTime(scene: Scene, state: string | undefined, charged: readonly Stripe.PaymentIntent[]): void {
    const over = scene.did.find(({ act }) => act === "the offer is over")?.at ?? Infinity;
    if (!hasEnded(state) && charged.length > 0 && charged.every(({ created }) => created > over))
      this.note(scene.life.number, "what counts was paid in time", charged.map(({ id }) => id).join(", "));
  }

  /** A payment for something that runs is not refunded automatically. */
  #unwarranted(scene: Scene, state: string | undefined): void {
    if (state !== "COMPLETED" && state !== "PROVISIONING") return;
    for (const { id, request_id: request, counts, purpose, refund_reason: reason } of this.#ours.payments)
      if (request === scene.id && counts && purpose !== "renewal" && reason !== null)
        this.note(scene.life.number, "what runs is paid for", `${id} goes back (${reason})`);
  }

  /** Exactly the disagreements are reported to people. */
  findings(): void {
    for (const { kind, stripe_id: id, said, request_id: request } of this.#ours.findings) {
      const scene = this.#stage.sceneOf(request ?? undefined);
      const isRight =
        kind === "amount_mismatch" &&
        scene?.did.some(({ act }) => act === "the amount is changed, and the customer pays");
      const isMixed = kind === "test_payment" && this.#mixed.has(request ?? "");
      if (isRight !== true && !isMixed)
        this.note(this.#lifeOf(request), "findings name what is to be named", `${kind} ${id}: ${said}`);
    }
  }

  /** A payment of this request that was not accepted was reported to people: it waits until they have reviewed it. */
  #isRefused(request: string): boolean {
    return this.#ours.findings.some((finding) => finding.kind === "amount_mismatch" && finding.request_id === request);
  }

  async stuck(): Promise<void> {
    for (const { request, what } of await this.#stage.rows<{ request: string; what: string }>(stuckQuery))
      if (!this.#mixed.has(request) && !this.#isRefused(request))
        this.note(this.#lifeOf(request), "nothing is stuck", what);
  }

  async verify(): Promise<void> {
    const client = new Client({ connectionString: this.#stage.database.url });
    await client.connect();
    try {
      for await (const { findings } of verifyPayments(client))
        for (const { code, subject, detail } of findings) {
          if (code === "open_finding") continue;
          const request = this.#ours.requestOf.get(subject) ?? subject;
          if (!this.#mixed.has(request)) this.note(this.#lifeOf(request), `verify: ${code}`, `${subject}: ${detail}`);
        }
    } finally {
      await client.end();
    }
  }

  /** To the cent, for each currency; without refused payments. */
  async balance(): Promise<void> {
    if (this.#stage.isLive) return;
    const ours = await this.#stage.rows<{ currency: string; words: string }>(
      `select currency, format('taken %s, refunded %s, disputed %s', sum(taken), sum(refunded), sum(disputed)) as words
         from public.billing_balance group by currency`,
    );
    const theirs = Map.groupBy(
      this.#books.intents.filter(({ id, status }) => status === "succeeded" && !this.#refusedIntents.has(id)),
      ({ currency }) => currency.toUpperCase(),
    );
    for (const [currency, intents] of theirs) {
      const refunds = intents
        .flatMap(({ id }) => this.#refundsOf.get(id) ?? [])
        .filter(({ status }) => status === "succeeded");
      const held = intents
        .flatMap(({ id }) => this.#disputesOf.get(id) ?? [])
        .filter(({ status }) => /^(needs_response|under_review|lost)$/.test(status));
      const taken = intents.reduce((all, { amount_received: amount }) => all + amount, 0);
      const there = `taken ${taken}, refunded ${sum(refunds)}, disputed ${sum(held)}`;
      const here = ours.find((each) => each.currency === currency)?.words ?? "nothing";
      if (here !== there)
        this.note(-1, "the balance is Stripe's, to the cent", `${currency}: ${here}; at Stripe ${there}`);
    }
  }
}

function sameSubscription(there: string, here: string): boolean {
  if (there === "canceled") return here === "cancelled" || here === "ended";
  if (there === "past_due" || there === "unpaid") return here === "past_due" || here === "unpaid";
  return there === here;
}
