/**
 * Everything that can happen in a case, keyed by the sentence that names it in the table and in the documentation.
 *
 * After each step the events that Stripe sends have arrived and the relay has delivered what it could; the sweep runs where a step says so,
 * and at the end of every case.
 */
import { rowsOf } from "../../capacity/harness.ts";
import { putPrice } from "../pricing.ts";
import {
  compare,
  completed,
  deadlineIn,
  deleteCustomer,
  disputeOf,
  failThreeTimes,
  finishOther,
  first,
  goToPay,
  newest,
  paidSession,
  payOther,
  refundByOperator,
  refundsOf,
  renewInTestMode,
  send,
  sessionOf,
  strangePage,
  subscriptionOf,
  threeWeeksPass,
  word,
  type Step,
} from "./acts.ts";

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
  "Stripe sends its last event again.": ({ sandbox: { stripe } }) => stripe.resend(stripe.events().at(-1)?.id ?? ""),
  "Stripe makes the next refund and hangs up without an answer.": ({ sandbox }) =>
    void sandbox.faults.add({ provider: "stripe", kind: "dropAfterAccept", method: "refunds.create", times: 1 }),
  "Stripe refuses the next call.": ({ sandbox }) =>
    void sandbox.faults.add({ provider: "stripe", kind: "refuse", times: 1 }),
  "Stripe fails the next two calls.": ({ sandbox }) =>
    void sandbox.faults.add({ provider: "stripe", kind: "error500", times: 2 }),
  "Stripe fails the next call, and repeats the failure under its key.": ({ sandbox }) =>
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
  "The time to answer ended a minute ago.": deadlineIn(-60),
  "Five minutes pass, and the sweep runs.": async (stage) => {
    await rowsOf(stage.p.superuser, "update capacity.expiry_holds set look_again_at = now()");
    await stage.sweep();
  },
  "The offer stops waiting for the debit, and the sweep runs.": async (stage, { id }) => {
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
  "An operator has looked at the mismatch.": ({ p }, { id }) =>
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
  "An operator finds that nothing can be provided.": ({ p }, { id }) => p.apply(id, "PROVISIONING_FAILED", "otto"),
  "An operator refunds all that is left.": (stage, scene) => refundByOperator(stage, scene, null),
  "Somebody refunds USD 100.00 in Stripe's dashboard.": ({ sandbox }, scene) =>
    void sandbox.stripe.refundOutside(newest(scene), 10_000),
  "Somebody refunds all that is left in Stripe's dashboard.": ({ sandbox }, scene) =>
    void sandbox.stripe.refundOutside(newest(scene)),
  "The bank sends the refund back.": word("failed"),
  "The bank sends the first refund back.": (stage, scene) =>
    stage.sandbox.stripe.settleRefund(refundsOf(stage, scene)[0]?.id ?? "", "failed"),
  "Somebody cancels the refund in Stripe's dashboard.": word("canceled"),
  "The bank asks the customer where the refund is to go.": word("requires_action"),
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
  "Three weeks pass.": threeWeeksPass,
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
  "Somebody sets the subscription to end with the month.": (stage, scene) =>
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

  "Somebody reports the payment with a wrong signature.": (stage, scene) =>
    send(stage, scene, completed(paidSession(stage, scene)), `whsec_${"x".repeat(32)}`),
  "Stripe reports a paid session of another installation.": (stage, scene) =>
    send(
      stage,
      scene,
      completed({ ...paidSession(stage, scene), id: "cs_other", metadata: { headroom_installation: "another" } }),
    ),
  "Live money has been taken, and Stripe reports a month that was paid in its test mode.": renewInTestMode,
  "Stripe reports that half of the amount was paid.": (stage, scene) =>
    send(stage, scene, completed({ ...paidSession(stage, scene), amount_total: 15_000 })),
  "Stripe reports that the amount was paid in euros.": (stage, scene) =>
    send(stage, scene, completed({ ...paidSession(stage, scene), currency: "eur" })),
  "Stripe reports a payment in a currency that is not known here.": (stage, scene) => {
    const { headroom_checkout: _, ...metadata } = sessionOf(stage, scene).metadata;
    const odd = { ...paidSession(stage, scene), id: `cs_odd${scene.id.slice(-5)}`, currency: "xxq", metadata };
    return send(stage, scene, completed(odd));
  },
  "Stripe reports that the payment failed.": (stage, scene) =>
    send(stage, scene, {
      ...completed({ ...paidSession(stage, scene), payment_status: "unpaid" }),
      type: "checkout.session.async_payment_failed",
    }),
  "Stripe reports a payment for a request that does not exist.": (stage, scene) => {
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
