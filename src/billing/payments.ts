/** Reading payments, and refunding. The database decides who may do what. */
import { call, type FunctionResult, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";
import { paymentSchema, requestPaymentsSchema, type Payment, type RequestPayments } from "./payment.ts";

export interface ListPaymentsOptions {
  /** Default: all. */
  readonly workspaceId?: string | undefined;
  readonly requestId?: string | undefined;
  /** Default: 50. At most 10,000. */
  readonly limit?: number | undefined;
}

export interface ListedPayment {
  readonly id: string;
  readonly requestId: string;
  readonly workspaceId: string;
  /** `confirmation`, `renewal` or `unmatched`. */
  readonly purpose: string;
  readonly currency: string;
  /** In minor units, and how much of it is left. */
  readonly amount: number;
  readonly left: number;
  /** `paid`, `refunding`, `refunded`, … */
  readonly status: string;
  readonly counts: boolean;
  readonly refundReason: string | null;
  readonly paymentIntent: string | null;
  readonly paidAt: Date;
}

export type ListedPayments = { readonly outcome: "listed"; readonly payments: readonly ListedPayment[] };

/** Newest first. */
export async function listPayments(
  db: Queryable,
  options: ListPaymentsOptions = {},
): Promise<ListedPayments | Refused> {
  return refusable(list(db, options));
}

async function list(db: Queryable, { workspaceId, requestId, limit }: ListPaymentsOptions): Promise<ListedPayments> {
  const rows = await call(db, "billing.list_payments", {
    p_workspace_id: workspaceId,
    p_request_id: requestId,
    p_limit: limit,
  });
  return { outcome: "listed", payments: rows.map(toListed) };
}

function toListed(row: FunctionResult<"billing.list_payments">[number]): ListedPayment {
  return {
    id: row.id,
    requestId: row.request_id,
    workspaceId: row.workspace_id,
    purpose: row.purpose,
    currency: row.currency,
    amount: row.amount,
    left: row.amount_left,
    status: row.status,
    counts: row.counts,
    refundReason: row.refund_reason,
    paymentIntent: row.payment_intent,
    paidAt: row.paid_at,
  };
}

export type FoundPayment = { readonly outcome: "found"; readonly payment: Payment };

/** By its id here, or by the id of its payment, session or invoice at Stripe. */
export async function getPayment(db: Queryable, id: string): Promise<FoundPayment | Refused> {
  return refusable(get(db, id));
}

async function get(db: Queryable, id: string): Promise<FoundPayment> {
  return { outcome: "found", payment: paymentSchema.parse(await call(db, "public.get_payment", { p_payment_id: id })) };
}

export type FoundPayments = { readonly outcome: "found"; readonly money: RequestPayments };

/** The money of a request: its offer, the payment status, each payment, and what it bought. */
export async function getPayments(db: Queryable, requestId: string): Promise<FoundPayments | Refused> {
  return refusable(getOf(db, requestId));
}

async function getOf(db: Queryable, requestId: string): Promise<FoundPayments> {
  const answer = await call(db, "public.get_payments", { p_request_id: requestId });
  return { outcome: "found", money: requestPaymentsSchema.parse(answer) };
}

export interface RefundInput {
  /** The member who refunds, by id or Slack id: an operator or an admin. */
  readonly as: string;
  /** 1 to 2,000 characters; kept with the refund. */
  readonly reason: string;
  /** In minor units. Default: all that is left. */
  readonly amount?: number | undefined;
  /** How much you saw to be left, in minor units: refused if something was refunded since. So a repeated call refunds once. */
  readonly left?: number | undefined;
}

export type RefundAsked = { readonly outcome: "asked"; readonly payment: Payment };

/** Refunds money. The refund is recorded immediately; a relay asks Stripe, and the payment's `refunds` show the progress. */
export async function refundPayment(db: Queryable, id: string, input: RefundInput): Promise<RefundAsked | Refused> {
  return refusable(refund(db, id, input));
}

async function refund(db: Queryable, id: string, { as, reason, amount, left }: RefundInput): Promise<RefundAsked> {
  const answer = await call(db, "public.refund_payment", {
    p_payment_id: id,
    p_reason: reason,
    p_amount: amount,
    p_actor_id: as,
    p_left: left,
  });
  return { outcome: "asked", payment: paymentSchema.parse(answer) };
}

export interface EndInput {
  /** The member who ends it, by id or Slack id: an operator or an admin. */
  readonly as: string;
  /** 1 to 2,000 characters; said in the thread. */
  readonly reason: string;
}

/** Ends the subscription of a request. The end is recorded immediately; a relay asks Stripe. What was paid stays paid. */
export async function endSubscription(
  db: Queryable,
  requestId: string,
  input: EndInput,
): Promise<FoundPayments | Refused> {
  return refusable(end(db, requestId, input));
}

async function end(db: Queryable, requestId: string, { as, reason }: EndInput): Promise<FoundPayments> {
  const answer = await call(db, "public.end_subscription", {
    p_request_id: requestId,
    p_reason: reason,
    p_actor_id: as,
  });
  return { outcome: "found", money: requestPaymentsSchema.parse(answer) };
}
