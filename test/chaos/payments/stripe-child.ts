/**
 * The sandbox's Stripe in a separate process, so that it outlives the killed parts. The starter controls it by message.
 *
 *     node stripe-child.ts '<config as JSON>'
 */
import { z } from "zod";
import { HeadroomError } from "../../../src/db/errors.ts";
import type { FaultInput } from "../../../src/sandbox/core/faults.ts";
import { defaultSampleData } from "../../../src/sandbox/sample-data.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import type { DeliveryInput } from "../../../src/sandbox/stripe/delivery.ts";
import type { Dispute, Invoice, Payment, Refund, Session, Subscription } from "../../../src/sandbox/stripe/things.ts";
import type { Books } from "../../../src/sandbox/stripe/user-actions.ts";
import { answerAsks } from "../kit/asked-process.ts";

const { headroomUrl, webhookSecret } = z
  .object({ headroomUrl: z.string(), webhookSecret: z.string() })
  .parse(JSON.parse(process.argv[2] ?? "{}"));

const sandbox = await startSandbox({
  sampleData: defaultSampleData,
  secrets: {
    slackSigningSecret: "slack",
    linearWebhookSecret: "linear",
    githubWebhookSecret: "github",
    stripeWebhookSecret: webhookSecret,
  },
  requestLimit: 100,
});
const { stripe, faults } = sandbox;
sandbox.connect({ headroomUrl });

/** Everything in the account. */
export interface Holdings {
  readonly sessions: readonly Session[];
  readonly payments: readonly Payment[];
  readonly refunds: readonly Refund[];
  readonly disputes: readonly Dispute[];
  readonly subscriptions: readonly Subscription[];
  readonly invoices: readonly Invoice[];
  readonly books: readonly Books[];
}

/** The objects that banks, time and people in the dashboard could act on. */
export interface Open {
  /** Sessions whose payment takes days. */
  readonly processing: readonly string[];
  readonly pendingRefunds: readonly string[];
  /** Refunds that have succeeded, of cards whose refunds fail later. */
  readonly doomedRefunds: readonly string[];
  readonly disputes: readonly string[];
  readonly subscriptions: readonly string[];
  /** The newest payments that succeeded. */
  readonly payments: readonly string[];
  /** How many sessions were completed. */
  readonly completed: number;
}

export type Tried = { readonly kind: "complete" | "declined" | "refused"; readonly message?: string };

const newest = 40;

const acts = {
  pay: (session: string, card: string): Tried => attempt(() => stripe.tryToPay(session, card)),
  payLater: (session: string): Tried => attempt(() => stripe.payLater(session)),
  expire: (session: string): Tried => attempt(() => stripe.expire(session)),
  settle: (session: string, how: "succeeded" | "failed"): Tried => attempt(() => stripe.settle(session, how)),
  settleRefund: (refund: string, how: "succeeded" | "failed"): Tried => attempt(() => stripe.settleRefund(refund, how)),
  /** A part of what is left, between 0 and 1; 1 is all of it. */
  refundOutside: (payment: string, part: number): Tried =>
    attempt(() => {
      const { amount, currency, how } = stripe.payment(payment);
      const gone = stripe.refunds(payment).filter(({ status }) => status !== "failed");
      const left = amount - gone.reduce((sum, refund) => sum + refund.amount, 0);
      const step = currency === "kwd" ? 10 : 1;
      const wanted = Math.max(step, Math.floor((left * part) / step) * step);
      if (how === "bank_debit" && part < 1) return;
      stripe.refundOutside(payment, part === 1 ? undefined : wanted);
    }),
  dispute: (payment: string, isInquiry: boolean): Tried =>
    attempt(() => void stripe.dispute(payment, { isInquiry, reason: "general" })),
  advanceDispute: (dispute: string): Tried => attempt(() => stripe.advanceDispute(dispute)),
  closeDispute: (dispute: string, how: "won" | "lost"): Tried => attempt(() => stripe.closeDispute(dispute, how)),
  renew: (subscription: string, how: "succeeded" | "failed"): Tried =>
    attempt(() => void stripe.renew(subscription, how)),
  cancelOutside: (subscription: string): Tried => attempt(() => stripe.cancelOutside(subscription)),
  deliver: (plan: DeliveryInput): void => void stripe.deliver(plan),
  release: (order: "as_made" | "reversed" | "shuffled"): Promise<number> => stripe.release(order),
  delivered: (): Promise<void> => stripe.delivered(),
  addFault: (fault: FaultInput): void => void faults.add(fault),
  clearFaults: (): void => faults.clear(),
  releaseAnswers: (): void => faults.release(),
  calls: (method: string): number => sandbox.requests.list({ provider: "stripe", method }).length,
  forgetKeys: (): void => stripe.forgetKeys(),
  sessionOf: (checkoutId: string): Session | undefined =>
    stripe.sessions().find(({ clientReferenceId }) => clientReferenceId === checkoutId),
  open: (): Open => ({
    processing: stripe.sessions().flatMap(({ id, later }) => (later === "processing" ? [id] : [])),
    pendingRefunds: stripe.refunds().flatMap(({ id, status }) => (status === "pending" ? [id] : [])),
    doomedRefunds: stripe
      .refunds()
      .flatMap(({ id, status, paymentIntent }) =>
        status === "succeeded" && stripe.payment(paymentIntent).how === "refund_fails" ? [id] : [],
      ),
    disputes: stripe.disputes().flatMap(({ id, status }) => (isOver(status) ? [] : [id])),
    subscriptions: stripe.subscriptions().flatMap(({ id, status }) => (status === "canceled" ? [] : [id])),
    payments: stripe
      .payments()
      .slice(-newest)
      .flatMap(({ id, status }) => (status === "succeeded" ? [id] : [])),
    completed: stripe.sessions().filter(({ status }) => status === "complete").length,
  }),
  holdings: (): Holdings => ({
    sessions: stripe.sessions(),
    payments: stripe.payments(),
    refunds: stripe.refunds(),
    disputes: stripe.disputes(),
    subscriptions: stripe.subscriptions(),
    invoices: stripe.invoices(),
    books: stripe.books(),
  }),
} as const;
export type Acts = typeof acts;

function isOver(status: Dispute["status"]): boolean {
  return status === "won" || status === "lost" || status === "warning_closed";
}

/** A regular refusal is an answer like any other. */
function attempt(work: () => unknown): Tried {
  try {
    const answer = work();
    const declined = z.object({ kind: z.literal("declined"), message: z.string() }).safeParse(answer).data;
    return declined ?? { kind: "complete" };
  } catch (error) {
    if (error instanceof HeadroomError) return { kind: "refused", message: error.message };
    throw error;
  }
}

answerAsks(acts, sandbox.url);
