/**
 * Everything that can happen in a case, by the sentence that names it in the table and in the documentation.
 *
 * After each step the events that Stripe sends have arrived and the relay has delivered what it could; the sweep runs where a step says so,
 * and at the end of every case.
 */
import { Stripe } from "stripe";
import type { Session, Subscription } from "../../../../src/sandbox/stripe/things.ts";
import { oneOf, rowsOf } from "../../capacity/workflow.ts";
import { putPrice } from "../pricing.ts";
import { webhookSecret, withoutChance, type CaseStage, type Scene } from "./stage.ts";

type Step = (stage: CaseStage, scene: Scene) => unknown;

async function goToPay({ sandbox }: CaseStage, scene: Scene): Promise<void> {
  const answer = await scene.visitor.post(`/confirm/${scene.token}`, { decision: "pay" });
  const to = answer.headers.get("location") ?? "";
  if (!to.startsWith(`${sandbox.url}/stripe/checkout/`)) {
    const told = to === "" ? answer : await scene.visitor.get(to);
    scene.answers.push(`${told.status}: ${alertOf(await told.text())}`);
    return;
  }
  scene.sessions.push(to.split("/").at(-1) ?? "");
}

function alertOf(page: string): string {
  const words = /role="alert"[^>]*>([^]*?)<\/div>/.exec(page)?.[1] ?? /<h1>([^]*?)<\/h1>/.exec(page)?.[1] ?? page;
  return withoutChance(
    words
      .replaceAll(/<[^>]+>/g, " ")
      .replaceAll(/\s+/g, " ")
      .trim(),
  );
}

const newest = (scene: Scene): string => scene.sessions.at(-1) ?? "";
const first = (scene: Scene): string => scene.sessions[0] ?? "";

function sessionOf({ sandbox }: CaseStage, scene: Scene): Session {
  return sandbox.stripe.session(newest(scene));
}

function subscriptionOf(stage: CaseStage, scene: Scene): Subscription {
  const id = stage.sandbox.stripe.session(first(scene)).subscription ?? "";
  const found = stage.sandbox.stripe.subscription(id);
  if (found === undefined) throw new Error("The session began no subscription.");
  return found;
}

const deadlineIn = (seconds: number): Step => {
  return ({ p }, { id }) =>
    rowsOf(
      p.superuser,
      "update capacity.requests set next_deadline_at = clock_timestamp() + $2 * interval '1 second' where id = $1",
      [id, seconds],
    );
};

/** An event as Stripe would sign it, sent by whoever it is. */
async function send(stage: CaseStage, scene: Scene, event: object, secret = webhookSecret): Promise<void> {
  const body = JSON.stringify({ object: "event", created: Math.floor(Date.now() / 1000), livemode: false, ...event });
  const header = Stripe.webhooks.generateTestHeaderString({ payload: body, secret });
  const answer = await fetch(new URL("/webhooks/stripe", stage.url), {
    method: "POST",
    body,
    headers: { "content-type": "application/json", "stripe-signature": header },
  });
  const said = (await answer.json()) as Readonly<Record<string, string | undefined>>;
  scene.answers.push(`${answer.status}: ${said["message"] ?? said["title"] ?? said["outcome"]}`);
}

/** The session as Stripe tells of it once it was paid. */
function paidSession(stage: CaseStage, scene: Scene): Record<string, unknown> {
  const { id, amount, currency, metadata, paymentIntent } = sessionOf(stage, scene);
  return {
    object: "checkout.session",
    id,
    status: "complete",
    payment_status: "paid",
    mode: "payment",
    amount_total: amount,
    currency,
    metadata,
    payment_intent: paymentIntent,
  };
}

let events = 0;
const completed = (object: unknown): object => ({
  id: `evt_case${(events += 1)}`,
  type: "checkout.session.completed",
  data: { object },
});

async function failThreeTimes({ p }: CaseStage, { id }: Scene): Promise<void> {
  const job = await p.job(id);
  for (const attempt of [1, 2, 3]) {
    const run = { attempt, run_id: 1_000_000 * Number(id.slice(-4)) + 100 * attempt };
    await p.says(job, { signal: "claim", ...run });
    await p.says(job, { signal: "failed", ...run, failed_step: "Apply", error: "quota exceeded" });
    if (attempt === 3) return;
    await p.superuser.query("select public.retry_provisioning_job($1, 'quota was raised', 'rita')", [job.id]);
    const cleanup = { task: "cleanup", attempt, run_id: run.run_id + 1 } as const;
    await p.says(job, { signal: "claim", ...cleanup });
    await p.says(job, { signal: "succeeded", ...cleanup });
  }
}

async function refundByOperator({ p }: CaseStage, scene: Scene, amount: number | null): Promise<void> {
  const client = await p.db.superuser.connect();
  try {
    await client.query("select set_config('request.jwt.claims', $1, false)", [
      JSON.stringify({ role: "service_role" }),
    ]);
    await client.query(
      `select public.refund_payment(p.id::text, 'we agreed so', $2, 'otto') from billing.payments p
        where p.request_id = $1 order by p.recorded_at limit 1`,
      [scene.id, amount],
    );
  } catch (error) {
    scene.answers.push((error as Error).message);
  } finally {
    await client.end();
  }
}

/** Somebody with the account's key. */
function stripeOf({ url }: CaseStage["sandbox"]): Stripe {
  const { hostname, port } = new URL(url);
  return new Stripe("sk_test_sandbox", { host: hostname, port, protocol: "http", maxNetworkRetries: 0 });
}

/** A session that somebody made with our mark, and not through us. */
async function strangePage({ sandbox, p }: CaseStage, scene: Scene): Promise<void> {
  const { installation } = await oneOf<{ installation: string }>(
    p.superuser,
    "select billing.installation_id() as installation",
  );
  const metadata = { headroom_installation: installation, headroom_request: scene.id, headroom_workspace: "acme" };
  const session = await stripeOf(sandbox).checkout.sessions.create({
    mode: "payment",
    line_items: [
      { quantity: 1, price_data: { currency: "usd", unit_amount: 30_000, product_data: { name: "By hand" } } },
    ],
    success_url: "https://shop.example/",
    metadata,
    payment_intent_data: { metadata },
  });
  scene.sessions.push(session.id);
}

/** The customer's other request, paid for and being set up. */
async function payOther(stage: CaseStage, scene: Scene): Promise<void> {
  const { id, token } = await stage.offer(scene.size, scene.customer);
  const other: Scene = { ...scene, id, token, sessions: [] };
  await goToPay(stage, other);
  stage.sandbox.stripe.pay(newest(other));
}

async function compare(stage: CaseStage): Promise<void> {
  const { p } = stage;
  await rowsOf(p.superuser, "select billing.reconcile_payments('otto')");
  for (let turn = 0; turn < 6; turn += 1) {
    await stage.flow();
    await stage.sweep();
  }
}

const failedRefund: Step = ({ sandbox: { stripe } }, scene) => {
  const refund = scene.sessions
    .flatMap((session) => stripe.paymentsOf(stripe.session(session)))
    .flatMap(({ id }) => stripe.refunds(id))
    .findLast(({ status }) => status !== "failed");
  stripe.settleRefund(refund?.id ?? "", "failed");
};

/** Money is known by the customer's id at Stripe, which somebody may delete there. */
async function deleteCustomer({ sandbox, p }: CaseStage, scene: Scene): Promise<void> {
  const { customer } = await oneOf<{ customer: string }>(
    p.superuser,
    "select c.stripe_id as customer from billing.customers c where c.customer_key = capacity.customer_key_of($1)",
    [scene.id],
  );
  await stripeOf(sandbox).customers.del(customer);
}

async function finishOther({ p }: CaseStage, scene: Scene): Promise<void> {
  const { id } = await oneOf<{ id: string }>(
    p.superuser,
    "select j.request_id as id from provisioning.jobs j where j.customer_key = capacity.customer_key_of($1)",
    [scene.id],
  );
  const job = await p.job(id);
  await p.says(job, { signal: "claim" });
  await p.says(job, { signal: "succeeded" });
}

const disputeOf = ({ sandbox: { stripe } }: CaseStage, scene: Scene): string =>
  stripe.disputes(stripe.payment(first(scene)).id).at(-1)?.id ?? "";

export const steps = {
  "The customer opens Stripe's page.": goToPay,
  "The customer opens Stripe's page again.": goToPay,
  "The customer pays by card.": ({ sandbox }, scene) => void sandbox.stripe.pay(newest(scene)),
  "The customer pays on the first page.": ({ sandbox }, scene) => void sandbox.stripe.pay(first(scene)),
  "The customer's card is declined.": ({ sandbox }, scene) => {
    const paying = sandbox.stripe.tryToPay(newest(scene), "4000000000000002");
    if (paying.kind === "declined") scene.answers.push(`Stripe: ${paying.message}`);
  },
  "The customer pays by a card whose refunds take days.": ({ sandbox }, scene) =>
    void sandbox.stripe.pay(newest(scene), "4000000000007726"),
  "The customer pays by a debit that takes days.": ({ sandbox }, scene) => void sandbox.stripe.payLater(newest(scene)),
  "The customer pays by a debit on the first page.": ({ sandbox }, scene) => void sandbox.stripe.payLater(first(scene)),
  "The debit arrives.": ({ sandbox }, scene) => sandbox.stripe.settle(newest(scene), "succeeded"),
  "The debit of the first page arrives.": ({ sandbox }, scene) => sandbox.stripe.settle(first(scene), "succeeded"),
  "The debit fails.": ({ sandbox }, scene) => sandbox.stripe.settle(newest(scene), "failed"),
  "The customer declines the offer.": async (_, { visitor, token }) =>
    visitor.post(`/confirm/${token}`, { decision: "decline" }),
  "The page at Stripe is about to run out.": ({ p }, { id }) =>
    rowsOf(p.superuser, "update billing.checkouts set expires_at = now() where request_id = $1", [id]),
  "The page at Stripe runs out.": ({ sandbox }, scene) => sandbox.stripe.expire(newest(scene)),
  "The customer pays another request of theirs, which is set up now.": payOther,
  "The customer's other request is running.": finishOther,
  "Somebody deletes the customer in Stripe's dashboard.": deleteCustomer,

  "Stripe sends every event three times.": ({ sandbox }) => void sandbox.stripe.deliver({ copies: 3 }),
  "Stripe's events are held up.": ({ sandbox }) => void sandbox.stripe.deliver({ held: true }),
  "The events arrive.": ({ sandbox }) => sandbox.stripe.release("as_made"),
  "The events arrive, the last one first.": ({ sandbox }) => sandbox.stripe.release("reversed"),
  "Stripe's events are lost.": ({ sandbox }) => void sandbox.stripe.deliver({ lostShare: 1 }),
  "Stripe's events arrive as usual again.": ({ sandbox }) => void sandbox.stripe.deliver({}),
  "Stripe sends its last event once more.": ({ sandbox: { stripe } }) =>
    stripe.resend(stripe.events().at(-1)?.id ?? ""),
  "Stripe makes the next refund and hangs up without an answer.": ({ sandbox }) =>
    void sandbox.faults.add({ provider: "stripe", kind: "dropAfterAccept", method: "refunds.create", times: 1 }),
  "Stripe refuses the next call.": ({ sandbox }) =>
    void sandbox.faults.add({ provider: "stripe", kind: "refuse", times: 1 }),
  "Stripe fails the next two calls.": ({ sandbox }) =>
    void sandbox.faults.add({ provider: "stripe", kind: "error500", times: 2 }),
  "Stripe fails the next call, and says so again under its key.": ({ sandbox }) =>
    void sandbox.faults.add({ provider: "stripe", kind: "error500Midway", times: 1 }),
  "Stripe makes the next page and says that it failed, again and again.": ({ sandbox }) =>
    void sandbox.faults.add({
      provider: "stripe",
      kind: "error500AfterAccept",
      method: "checkout.sessions.create",
      times: 1,
    }),

  "The sweep runs.": (stage) => stage.sweep(),
  "The time to answer ends.": deadlineIn(0),
  "The time to answer has been over for a minute.": deadlineIn(-60),
  "Five minutes pass, and the sweep runs.": async (stage) => {
    await rowsOf(stage.p.superuser, "update capacity.expiry_holds set look_again_at = now()");
    await stage.sweep();
  },
  "The time for which the offer waits for the debit is over, and the sweep runs.": async (stage, { id }) => {
    await rowsOf(stage.p.superuser, "update capacity.expiry_holds set look_again_at = now()");
    await rowsOf(
      stage.p.superuser,
      `update capacity.requests set next_deadline_at = now() - interval '15 days' where id = $1`,
      [id],
    );
    await rowsOf(
      stage.p.superuser,
      "update billing.checkouts set processing_since = now() - interval '16 days' where request_id = $1",
      [id],
    );
    await stage.sweep();
  },
  "What Stripe has is compared with the books.": compare,

  "The customer's data is erased.": ({ p }, { id }) =>
    rowsOf(p.superuser, "select public.erase_customer($1, 'They asked for it.', 'ada')", [id]),
  "An operator has looked at what does not agree.": ({ p }, { id }) =>
    rowsOf(
      p.superuser,
      "select billing.resolve_finding(f.id, 'otto', 'The rest was given back in Stripe.') from billing.findings f where f.request_id = $1",
      [id],
    ),

  "The requester cancels the request.": ({ p }, { id }) => p.apply(id, "CANCEL_APPROVED", "rita"),
  "The price is raised.": ({ p }, { size }) =>
    putPrice(p, { size, region: null, kind: "one_off", unit_amount: 45_000 }),
  "The price is withdrawn.": ({ p }, { priceId }) =>
    rowsOf(p.superuser, "select billing.withdraw_price($1, 'a typing error', 'otto')", [priceId]),
  "An operator refunds USD 100.00.": (stage, scene) => refundByOperator(stage, scene, 10_000),
  "An operator ends the subscription.": ({ p }, { id }) =>
    rowsOf(p.superuser, "select public.end_subscription($1, 'The term is over.', 'otto')", [id]),
  "An operator refunds all that is left.": (stage, scene) => refundByOperator(stage, scene, null),
  "Somebody refunds USD 100.00 in Stripe's dashboard.": ({ sandbox }, scene) =>
    void sandbox.stripe.refundOutside(newest(scene), 10_000),
  "Somebody refunds all that is left in Stripe's dashboard.": ({ sandbox }, scene) =>
    void sandbox.stripe.refundOutside(newest(scene)),
  "The bank sends the refund back.": failedRefund,
  "The refund arrives.": ({ sandbox: { stripe } }, scene) =>
    stripe.settleRefund(stripe.refunds(stripe.payment(newest(scene)).id).at(-1)?.id ?? "", "succeeded"),
  "The refund of the first page arrives.": ({ sandbox: { stripe } }, scene) =>
    stripe.settleRefund(stripe.refunds(stripe.payment(first(scene)).id).at(-1)?.id ?? "", "succeeded"),
  "The customer disputes the payment.": ({ sandbox }, scene) => void sandbox.stripe.dispute(newest(scene)),
  "The customer disputes the USD 200.00 that are left.": ({ sandbox }, scene) =>
    void sandbox.stripe.dispute(newest(scene), { amount: 20_000 }),
  "The bank inquires about the payment.": ({ sandbox }, scene) =>
    void sandbox.stripe.dispute(newest(scene), { isInquiry: true }),
  "The inquiry becomes a dispute.": (stage, scene) => stage.sandbox.stripe.advanceDispute(disputeOf(stage, scene)),
  "We answer the dispute.": (stage, scene) => stage.sandbox.stripe.advanceDispute(disputeOf(stage, scene)),
  "The dispute is won.": (stage, scene) => stage.sandbox.stripe.closeDispute(disputeOf(stage, scene), "won"),
  "The dispute is lost.": (stage, scene) => stage.sandbox.stripe.closeDispute(disputeOf(stage, scene), "lost"),
  "The inquiry ends.": (stage, scene) => stage.sandbox.stripe.closeDispute(disputeOf(stage, scene), "won"),

  "The capacity is set up.": async ({ p }, { id }) => {
    const job = await p.job(id);
    await p.says(job, { signal: "claim" });
    await p.says(job, { signal: "succeeded" });
  },
  "Setting it up fails three times.": failThreeTimes,

  "A month passes, and the next one is paid.": (stage, scene) =>
    void stage.sandbox.stripe.renew(subscriptionOf(stage, scene).id, "succeeded"),
  "A month passes, and the payment of the next one fails.": (stage, scene) =>
    void stage.sandbox.stripe.renew(subscriptionOf(stage, scene).id, "failed"),
  "Stripe tries again, and it is paid.": (stage, scene) =>
    stage.sandbox.stripe.payAgain(subscriptionOf(stage, scene).latestInvoice, "succeeded"),
  "The days of grace pass.": async (stage, { id }) => {
    await rowsOf(
      stage.p.superuser,
      "update billing.subscriptions set grace_until = now() - interval '1 second', next_look_at = now() where request_id = $1",
      [id],
    );
    await stage.sweep();
  },
  "Somebody ends the subscription in Stripe's dashboard.": (stage, scene) =>
    stage.sandbox.stripe.cancelOutside(subscriptionOf(stage, scene).id),
  "Somebody has the subscription end with the month.": (stage, scene) =>
    stage.sandbox.stripe.cancelAtPeriodEnd(subscriptionOf(stage, scene).id),
  "The month ends.": (stage, scene) => void stage.sandbox.stripe.renew(subscriptionOf(stage, scene).id, "succeeded"),
  "The term that was asked for ends.": async (stage, { id }) => {
    await rowsOf(
      stage.p.superuser,
      "update billing.subscriptions set ends_at = now() - interval '1 second', next_look_at = now() where request_id = $1",
      [id],
    );
    await stage.sweep();
  },

  "Somebody sends word of the payment with a wrong signature.": (stage, scene) =>
    send(stage, scene, completed(paidSession(stage, scene)), `whsec_${"x".repeat(32)}`),
  "Stripe tells of a paid session of another installation.": (stage, scene) =>
    send(
      stage,
      scene,
      completed({ ...paidSession(stage, scene), id: "cs_other", metadata: { headroom_installation: "another" } }),
    ),
  "Stripe tells that half of the amount was paid.": (stage, scene) =>
    send(stage, scene, completed({ ...paidSession(stage, scene), amount_total: 15_000 })),
  "Stripe tells that the amount was paid in euros.": (stage, scene) =>
    send(stage, scene, completed({ ...paidSession(stage, scene), currency: "eur" })),
  "Stripe tells of a payment in a currency that is not known here.": (stage, scene) => {
    const { headroom_checkout: _, ...metadata } = sessionOf(stage, scene).metadata;
    const odd = { ...paidSession(stage, scene), id: `cs_odd${scene.id.slice(-5)}`, currency: "xxq", metadata };
    return send(stage, scene, completed(odd));
  },
  "Stripe tells that the payment failed.": (stage, scene) =>
    send(stage, scene, {
      ...completed({ ...paidSession(stage, scene), payment_status: "unpaid" }),
      type: "checkout.session.async_payment_failed",
    }),
  "Stripe tells of a payment for a request that does not exist.": (stage, scene) => {
    const { metadata } = sessionOf(stage, scene);
    const marks = { ...metadata, headroom_request: "CR-2026-0000", headroom_checkout: scene.priceId };
    return send(
      stage,
      scene,
      completed({ ...paidSession(stage, scene), id: `cs_lost${scene.id.slice(-5)}`, metadata: marks }),
    );
  },
  "Somebody makes a page at Stripe by hand, with our mark.": strangePage,
} as const satisfies Readonly<Record<string, Step>>;

export type StepName = keyof typeof steps;
