/** What people, Stripe and time do in a case: the longer steps, and what several of them share. */
import { Stripe } from "stripe";
import type { RefundWord } from "../../../../src/sandbox/stripe/money/refunds.ts";
import type { Refund, Session, Subscription } from "../../../../src/sandbox/stripe/things.ts";
import { oneOf, rowsOf } from "../../capacity/harness.ts";
import { webhookSecret, withoutChance, type CaseStage, type Scene } from "./stage.ts";

export type Step = (stage: CaseStage, scene: Scene) => unknown;

export async function goToPay({ sandbox }: CaseStage, scene: Scene): Promise<void> {
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

export const newest = (scene: Scene): string => scene.sessions.at(-1) ?? "";
export const first = (scene: Scene): string => scene.sessions[0] ?? "";

export function sessionOf({ sandbox }: CaseStage, scene: Scene): Session {
  return sandbox.stripe.session(newest(scene));
}

export function subscriptionOf(stage: CaseStage, scene: Scene): Subscription {
  const id = stage.sandbox.stripe.session(first(scene)).subscription ?? "";
  const found = stage.sandbox.stripe.subscription(id);
  if (found === undefined) throw new Error("The session did not begin a subscription.");
  return found;
}

export const deadlineIn = (seconds: number): Step => {
  return ({ p }, { id }) =>
    rowsOf(
      p.superuser,
      "update capacity.requests set next_deadline_at = clock_timestamp() + $2 * interval '1 second' where id = $1",
      [id, seconds],
    );
};

/** An event signed as by Stripe, whoever sends it. */
export async function send(stage: CaseStage, scene: Scene, event: object, secret = webhookSecret): Promise<void> {
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

/** The session as Stripe reports it once it was paid. */
export function paidSession(stage: CaseStage, scene: Scene): Record<string, unknown> {
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
export const completed = (object: unknown): object => ({
  id: `evt_case${(events += 1)}`,
  type: "checkout.session.completed",
  data: { object },
});

export async function failThreeTimes({ p }: CaseStage, { id }: Scene): Promise<void> {
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

export async function refundByOperator({ p }: CaseStage, scene: Scene, amount: number | null): Promise<void> {
  const claims = JSON.stringify({ role: "service_role" });
  await rowsOf(
    p.superuser,
    `select public.refund_payment(p.id::text, 'we agreed so', $2, 'otto')
       from billing.payments p, set_config('request.jwt.claims', $3, true) c where p.request_id = $1 order by p.recorded_at limit 1`,
    [scene.id, amount, claims],
  ).catch((error: unknown) => scene.answers.push((error as Error).message));
}

/** A client with the account's key. */
function stripeOf({ url }: CaseStage["sandbox"]): Stripe {
  const { hostname, port } = new URL(url);
  return new Stripe("sk_test_sandbox", { host: hostname, port, protocol: "http", maxNetworkRetries: 0 });
}

/** A session that carries our mark but was not made by us. */
export async function strangePage({ sandbox, p }: CaseStage, scene: Scene): Promise<void> {
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
export async function payOther(stage: CaseStage, scene: Scene): Promise<void> {
  const { id, token } = await stage.offer(scene.size, scene.customer);
  const other: Scene = { ...scene, id, token, sessions: [] };
  await goToPay(stage, other);
  stage.sandbox.stripe.pay(newest(other));
}

export async function compare(stage: CaseStage): Promise<void> {
  const { p } = stage;
  await rowsOf(p.superuser, "select billing.reconcile_payments('otto')");
  for (let turn = 0; turn < 6; turn += 1) {
    await stage.flow();
    await stage.sweep();
  }
}

export function refundsOf({ sandbox: { stripe } }: CaseStage, scene: Scene): Refund[] {
  return scene.sessions
    .flatMap((session) => stripe.paymentsOf(stripe.session(session)))
    .flatMap(({ id }) => stripe.refunds(id))
    .filter(({ status }) => status !== "failed" && status !== "canceled");
}

export const word = (how: RefundWord): Step => {
  return (stage, scene) => stage.sandbox.stripe.settleRefund(refundsOf(stage, scene).at(-1)?.id ?? "", how);
};

/** Stripe's view: what was billed, and when. */
export function threeWeeksPass(stage: CaseStage, scene: Scene): void {
  const { latestInvoice } = subscriptionOf(stage, scene);
  const invoice = stage.sandbox.stripe.invoices().find(({ id }) => id === latestInvoice);
  if (invoice !== undefined) Object.assign(invoice, { created: invoice.created - 21 * 86_400 });
}

/** Without a charge: test mode moves no money. */
export async function renewInTestMode(stage: CaseStage, scene: Scene): Promise<void> {
  const { id } = subscriptionOf(stage, scene);
  await rowsOf(stage.p.superuser, "update billing.installation set live_since = now()");
  const invoice = {
    object: "invoice",
    id: `in_test${scene.id.slice(-5)}`,
    status: "paid",
    amount_paid: 10_000,
    currency: "usd",
    billing_reason: "subscription_cycle",
    created: Math.floor(Date.now() / 1000),
    livemode: false,
    metadata: {},
    parent: { subscription_details: { subscription: id, metadata: {} } },
  };
  await send(stage, scene, { id: `evt_case${(events += 1)}`, type: "invoice.paid", data: { object: invoice } });
}

/** We track money by the customer's id at Stripe, and the customer may be deleted there. */
export async function deleteCustomer({ sandbox, p }: CaseStage, scene: Scene): Promise<void> {
  const { customer } = await oneOf<{ customer: string }>(
    p.superuser,
    "select c.stripe_id as customer from billing.customers c where c.customer_key = capacity.customer_key_of($1)",
    [scene.id],
  );
  await stripeOf(sandbox).customers.del(customer);
}

export async function finishOther({ p }: CaseStage, scene: Scene): Promise<void> {
  const { id } = await oneOf<{ id: string }>(
    p.superuser,
    "select j.request_id as id from provisioning.jobs j where j.customer_key = capacity.customer_key_of($1)",
    [scene.id],
  );
  const job = await p.job(id);
  await p.says(job, { signal: "claim" });
  await p.says(job, { signal: "succeeded" });
}

export const disputeOf = ({ sandbox: { stripe } }: CaseStage, scene: Scene): string =>
  stripe.disputes(stripe.payment(first(scene)).id).at(-1)?.id ?? "";
