/**
 * The acts of a life, by the sentence that names each: to the request, at Stripe, at the bank, in the dashboard. Each does what is possible
 * in the current state; false means that there was nothing to do.
 *
 * After a step no event was delivered and nothing was swept yet: several steps may come together (stage.react).
 */
import type { Payment, Refund, Session, Subscription } from "../../../../src/sandbox/stripe/things.ts";
import type { FaultKind } from "../../../../src/sandbox/core/faults.ts";
import { cards } from "../settings.ts";
import type { LifeStage, Scene } from "./stage.ts";

type Act = (stage: LifeStage, scene: Scene, by: number) => unknown;

function pick<T>(list: readonly T[], by: number): T | undefined {
  return list[Math.min(list.length - 1, Math.floor(by * list.length))];
}

export function sessionsOf({ sandbox }: LifeStage, { id }: Scene): readonly Session[] {
  return sandbox.stripe.sessions().filter(({ metadata }) => metadata["headroom_request"] === id);
}

export function paymentsOf(stage: LifeStage, scene: Scene): readonly Payment[] {
  const { stripe } = stage.sandbox;
  return sessionsOf(stage, scene)
    .filter(({ status }) => status === "complete")
    .flatMap((session) => stripe.paymentsOf(session));
}

const taken = (stage: LifeStage, scene: Scene): readonly Payment[] =>
  paymentsOf(stage, scene).filter(({ status }) => status === "succeeded");

function refundsOf(stage: LifeStage, scene: Scene, status: RegExp): readonly Refund[] {
  return paymentsOf(stage, scene)
    .flatMap(({ id }) => stage.sandbox.stripe.refunds(id))
    .filter((refund) => status.test(refund.status));
}

function subscriptionOf(stage: LifeStage, scene: Scene): Subscription | undefined {
  return stage.sandbox.stripe
    .subscriptions()
    .find(({ metadata, status }) => metadata["headroom_request"] === scene.id && status !== "canceled");
}

const openSessions = (stage: LifeStage, scene: Scene): readonly Session[] =>
  sessionsOf(stage, scene).filter(({ status, expiresAt }) => status === "open" && expiresAt > stage.now);

/** The customer's link, by the page; a customer who is sent to Stripe's page can pay there. */
const goToPay: Act = async (stage, scene) => {
  const { ok } = await stage.begin(scene);
  if (!ok) return false;
  await stage.react();
  const [checkout] = await stage.rows<{ state: string; url: string | null }>(
    "select c ->> 'state' as state, c ->> 'url' as url from public.get_checkout($1) c",
    [scene.token],
  );
  if (checkout?.state === "open" && checkout.url === null)
    stage.trouble(scene.life.number, "who goes to pay is led to Stripe", "the page is open, and nobody is led there");
  return true;
};

const payAt =
  (which: "newest" | "first", how: string): Act =>
  (stage, scene) => {
    const session = which === "newest" ? openSessions(stage, scene).at(-1) : openSessions(stage, scene)[0];
    if (session === undefined) return false;
    const { stripe } = stage.sandbox;
    return stage.tolerantly(() => (how === "debit" ? stripe.payLater(session.id) : stripe.tryToPay(session.id, how)));
  };

const settleDebit =
  (how: "succeeded" | "failed"): Act =>
  (stage, scene) => {
    const session = sessionsOf(stage, scene).find(({ later }) => later === "processing");
    return session !== undefined && stage.tolerantly(() => stage.sandbox.stripe.settle(session.id, how));
  };

const refundByOperator =
  (isPart: boolean): Act =>
  async (stage, scene, by) => {
    const payments = await stage.rows<{
      id: string;
      intent: string | null;
      amount: number;
      left: number;
      currency: string;
    }>(
      `select p.id::text, p.payment_intent as intent, p.amount::float8 as amount, billing.left_of(p.id)::float8 as left, p.currency
         from billing.payments p where p.request_id = $1 order by p.recorded_at, p.id`,
      [scene.id],
    );
    const payment = pick(payments, by);
    if (payment === undefined) return false;
    const step = payment.currency === "KWD" ? 10 : 1;
    const part = Math.max(step, Math.floor((payment.amount * (0.1 + by / 2)) / step) * step);
    const wanted = isPart ? part : payment.left;
    const did = await stage.tolerantly(() =>
      stage.rows("select public.refund_payment($1, 'we agreed so', $2, 'otto')", [payment.id, isPart ? part : null]),
    );
    const { sentBack } = scene;
    if (did && payment.intent !== null) sentBack.set(payment.intent, (sentBack.get(payment.intent) ?? 0) + wanted);
    return did;
  };

const refundOutside =
  (isPart: boolean): Act =>
  (stage, scene, by) => {
    const payment = pick(taken(stage, scene), by);
    if (payment === undefined) return false;
    const step = payment.currency === "kwd" ? 10 : 1;
    const part = Math.max(step, Math.floor((payment.amount * (0.1 + by / 2)) / step) * step);
    return stage.tolerantly(() => stage.sandbox.stripe.refundOutside(payment.id, isPart ? part : undefined));
  };

/** Banks have 30 days to return a refund that had arrived. */
const longestReturnSeconds = 29 * 86_400;

const settleRefund =
  (from: RegExp, how: "succeeded" | "failed" | "canceled"): Act =>
  (stage, scene, by) => {
    const open = refundsOf(stage, scene, from).filter(
      ({ status, created }) => status === "pending" || stage.now - created < longestReturnSeconds,
    );
    const refund = pick(open, by);
    if (refund === undefined) return false;
    return stage.tolerantly(() => stage.sandbox.stripe.settleRefund(refund.id, how));
  };

const dispute =
  (isInquiry: boolean): Act =>
  (stage, scene, by) => {
    const payment = pick(taken(stage, scene), by);
    return payment !== undefined && stage.tolerantly(() => stage.sandbox.stripe.dispute(payment.id, { isInquiry }));
  };

const moveDispute =
  (how: "on" | "won" | "lost"): Act =>
  (stage, scene, by) => {
    const { stripe } = stage.sandbox;
    const open = paymentsOf(stage, scene)
      .flatMap(({ id }) => stripe.disputes(id))
      .filter(({ status }) => !/^(won|lost|warning_closed)$/.test(status));
    const one = pick(open, by);
    if (one === undefined) return false;
    return stage.tolerantly(() => (how === "on" ? stripe.advanceDispute(one.id) : stripe.closeDispute(one.id, how)));
  };

const withBill =
  (work: (stage: LifeStage, invoice: string) => unknown): Act =>
  (stage, scene) => {
    const { stripe } = stage.sandbox;
    const own = new Set(sessionsOf(stage, scene).map(({ subscription }) => subscription));
    const bill = stripe
      .invoices()
      .find(
        ({ subscription, status, attempts }) =>
          own.has(subscription) && /^(open|uncollectible)$/.test(status) && attempts > 0,
      );
    return bill !== undefined && stage.tolerantly(() => work(stage, bill.id));
  };

const decide =
  (text: string): Act =>
  (stage, { id }) =>
    stage.tolerantly(() => stage.rows(text, [id]));

/** The next calls of Stripe fail, no matter which life makes them. */
const failNext =
  (kinds: readonly FaultKind[]): Act =>
  (stage, _, by) => {
    const kind = pick(kinds, by) ?? "error500";
    stage.sandbox.faults.add({ provider: "stripe", kind, times: 1 + Math.floor(by * 3) });
    stage.count(`fault: ${kind}`);
  };

export const acts = {
  "the customer goes to pay": goToPay,
  "the customer goes to pay in another tab": async (stage, scene, by) => {
    await stage.rows(
      `update billing.checkouts set expires_at = life.now() + interval '1 minute' where request_id = $1 and state in ('asked', 'open')`,
      [scene.id],
    );
    return goToPay(stage, scene, by);
  },
  "the customer pays": payAt("newest", cards.good),
  "the customer pays on the first page": payAt("first", cards.good),
  "the customer pays, and refunds take days": payAt("newest", cards["refund pends"]),
  "the customer pays, and it is disputed": payAt("newest", cards.disputes),
  "the customer pays, and the bank inquires": payAt("newest", cards["bank inquires"]),
  "the customer pays by debit": payAt("newest", "debit"),
  "the amount is changed, and the customer pays": (stage, scene, by) => {
    const session = openSessions(stage, scene).at(-1);
    if (session === undefined || session.mode === "subscription") return false;
    stage.sandbox.stripe.discount(session.id, Math.max(500, Math.floor((session.amount * (0.5 + by / 3)) / 10) * 10));
    return payAt("newest", cards.good)(stage, scene, by);
  },
  "the debit arrives": settleDebit("succeeded"),
  "the debit fails": settleDebit("failed"),
  "the page runs out": (stage, scene) => {
    const session = openSessions(stage, scene).at(-1);
    return session !== undefined && stage.tolerantly(() => stage.sandbox.stripe.expire(session.id));
  },
  "the customer declines": (stage, { token }) =>
    stage.tolerantly(() => stage.rows("select public.decide_by_token($1, 'decline')", [token])),
  "the offer is over": (stage: LifeStage, { id }: Scene) =>
    stage.rows(
      `update capacity.requests set next_deadline_at = life.now() where id = $1 and state = 'CUSTOMER_CONFIRMATION_REQUIRED'`,
      [id],
    ),

  "the offer is over, and the customer pays": async (stage, scene, by) => {
    await acts["the offer is over"](stage, scene);
    scene.did.push({ act: "the offer is over", at: stage.now });
    await stage.tick(60);
    return payAt("newest", cards.good)(stage, scene, by);
  },

  "the capacity is set up": decide(
    "select public.complete_provisioning_job(j.id::text, 'bought elsewhere', 'otto') from provisioning.jobs j where j.request_id = $1",
  ),
  "setting it up fails": decide(
    "select public.fail_provisioning_job(j.id::text, 'not possible', 'otto') from provisioning.jobs j where j.request_id = $1",
  ),
  "the request is cancelled": decide(
    `select capacity.decide($1, 'CANCEL_APPROVED', row('user', 'rita', 'test')::capacity.actor, '{"reason": "because"}')`,
  ),
  "the customer is erased": decide("select public.erase_customer($1, 'they asked for it', 'ada')"),

  "an operator refunds": refundByOperator(false),
  "an operator refunds a part": refundByOperator(true),
  "somebody refunds in the dashboard": refundOutside(false),
  "somebody refunds a part in the dashboard": refundOutside(true),
  "the bank settles a refund": settleRefund(/^pending$/, "succeeded"),
  "the bank returns a refund": settleRefund(/^(pending|succeeded)$/, "failed"),
  "the bank returns the first refund": (stage, scene) =>
    settleRefund(/^(pending|succeeded)$/, "failed")(stage, scene, 0),
  "a refund is cancelled in the dashboard": settleRefund(/^pending$/, "canceled"),

  "the customer disputes": dispute(false),
  "the bank inquires": dispute(true),
  "a dispute goes on": moveDispute("on"),
  "a dispute is won": moveDispute("won"),
  "a dispute is lost": moveDispute("lost"),

  "the next renewal fails": (_, { willFail }) => willFail.push(1),
  "the bill is paid": withBill(({ sandbox }, bill) => sandbox.stripe.payAgain(bill, "succeeded")),
  "the bill is paid much later": withBill(({ sandbox }, bill) => sandbox.stripe.payAgain(bill, "failed")),
  "the bill is voided": withBill(({ sandbox }, bill) => sandbox.stripe.voidInvoice(bill)),
  "the bill is given up": withBill(({ sandbox }, bill) => sandbox.stripe.giveUpInvoice(bill)),
  "Stripe gives up on the bills": (stage, scene) => {
    const subscription = subscriptionOf(stage, scene);
    return (
      subscription?.status === "past_due" && stage.tolerantly(() => stage.sandbox.stripe.leaveUnpaid(subscription.id))
    );
  },
  "an operator ends it": decide("select public.end_subscription($1, 'The term is over.', 'otto')"),
  "it is ended in the dashboard": (stage, scene) => {
    const subscription = subscriptionOf(stage, scene);
    return subscription !== undefined && stage.tolerantly(() => stage.sandbox.stripe.cancelOutside(subscription.id));
  },
  "it is to end with the month": (stage, scene) => {
    const subscription = subscriptionOf(stage, scene);
    return (
      subscription !== undefined && stage.tolerantly(() => stage.sandbox.stripe.cancelAtPeriodEnd(subscription.id))
    );
  },
  "it is to go on": (stage, scene) => {
    const subscription = subscriptionOf(stage, scene);
    if (subscription?.cancelAtPeriodEnd !== true) return false;
    return stage.tolerantly(() => stage.sandbox.stripe.cancelAtPeriodEnd(subscription.id, false));
  },

  "Stripe hangs up": failNext(["rateLimit", "dropAfterAccept", "cutAnswer", "locked", "dropBeforeAccept"]),
  "Stripe fails": failNext(["error500", "error500AfterAccept", "garbage"]),
} as const satisfies Readonly<Record<string, Act>>;
export type ActName = keyof typeof acts;

/** One step of a life. */
export async function perform(stage: LifeStage, scene: Scene, act: ActName, by: number): Promise<void> {
  const did = await acts[act](stage, scene, by);
  stage.count(did === false ? `nothing to do: ${act}` : act);
  if (did !== false) scene.did.push({ act, at: stage.now });
  stage.collect();
}
