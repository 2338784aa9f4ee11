/** A payment with all its details. The database returns JSON under its own names; here it is checked once and renamed. */
import { z } from "zod";

const moment = z.string().transform((text) => new Date(text));
const maybeMoment = moment.nullable();
const maybeText = z.string().nullable();

/** Amounts are in minor units as Stripe counts them. */
const refundSchema = z
  .object({
    id: z.string(),
    origin: z.enum(["ours", "outside"]),
    reason: z.string(),
    amount: z.number(),
    state: z.enum(["held", "sent", "pending", "succeeded", "failed", "cancelled", "superseded"]),
    held_by: z.enum(["dispute", "payment_intent", "refund", "person"]).nullable(),
    stripe_id: maybeText,
    asked_by: z.string(),
    why: maybeText,
    failure: maybeText,
    created_at: moment,
    updated_at: moment,
  })
  .transform((row) => ({
    id: row.id,
    /** `outside`: made in Stripe's dashboard. */
    origin: row.origin,
    reason: row.reason,
    amount: row.amount,
    state: row.state,
    /** What it waits for while it is held. */
    heldBy: row.held_by,
    stripeId: row.stripe_id,
    askedBy: row.asked_by,
    /** The reason that the refunding person gave. */
    why: row.why,
    failure: row.failure,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }));
export type Refund = z.infer<typeof refundSchema>;

const disputeSchema = z
  .object({
    stripe_id: z.string(),
    amount: z.number(),
    status: z.string(),
    outcome: z.enum(["open", "won", "lost"]),
    opened_at: moment,
    updated_at: moment,
  })
  .transform(({ stripe_id: stripeId, opened_at: openedAt, updated_at: updatedAt, ...rest }) => ({
    stripeId,
    ...rest,
    openedAt,
    updatedAt,
  }));
export type Dispute = z.infer<typeof disputeSchema>;

const entrySchema = z
  .object({ kind: z.string(), amount: z.number(), source_id: z.string(), event_id: z.string(), at: moment })
  .transform(({ source_id: sourceId, event_id: eventId, ...rest }) => ({ ...rest, sourceId, eventId }));
/** One movement of money in the books: what came in is positive. */
export type Entry = z.infer<typeof entrySchema>;

export const paymentSchema = z
  .object({
    id: z.string(),
    request_id: z.string(),
    workspace_id: z.string(),
    purpose: z.enum(["confirmation", "renewal", "unmatched"]),
    currency: z.string(),
    amount: z.number(),
    counts: z.boolean(),
    refund_reason: maybeText,
    left: z.number(),
    status: z.string(),
    paid_at: moment,
    session_id: maybeText,
    invoice_id: maybeText,
    payment_intent: maybeText,
    charge_id: maybeText,
    receipt: z.string(),
    event_id: z.string(),
    recorded_at: moment,
    refunds: z.array(refundSchema),
    disputes: z.array(disputeSchema),
    entries: z.array(entrySchema),
  })
  .transform((row) => ({
    id: row.id,
    requestId: row.request_id,
    workspaceId: row.workspace_id,
    purpose: row.purpose,
    currency: row.currency,
    amount: row.amount,
    /** It bought the capacity, or another month of it. A payment that does not count is refunded. */
    counts: row.counts,
    refundReason: row.refund_reason,
    /** What may still be refunded. */
    left: row.left,
    status: row.status,
    paidAt: row.paid_at,
    sessionId: row.session_id,
    invoiceId: row.invoice_id,
    paymentIntent: row.payment_intent,
    /** Null until Stripe has named it. */
    chargeId: row.charge_id,
    /** The number of the customer's receipt. */
    receipt: row.receipt,
    /** The event by which Stripe reported it; `look:…` if we asked, `found:…` if a comparison found the event. */
    eventId: row.event_id,
    recordedAt: row.recorded_at,
    refunds: row.refunds,
    disputes: row.disputes,
    entries: row.entries,
  }));
export type Payment = z.infer<typeof paymentSchema>;

const checkoutSchema = z
  .object({
    id: z.string(),
    state: z.enum(["asked", "open", "processing", "paid", "failed", "expired", "abandoned", "mismatched"]),
    number: z.number(),
    created_at: moment,
    expires_at: moment,
    processing_since: maybeMoment,
  })
  .transform((row) => ({
    id: row.id,
    state: row.state,
    /** How often the customer was sent to pay, this time included. */
    number: row.number,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    processingSince: row.processing_since,
  }));

const subscriptionSchema = z
  .object({
    id: z.string(),
    kind: z.enum(["one_off", "recurring"]),
    state: z.enum(["active", "past_due", "unpaid", "ended", "cancelled"]),
    starts_at: moment,
    ends_at: maybeMoment,
    paid_until: maybeMoment,
    cancels_at: maybeMoment,
    grace_until: maybeMoment,
    cancel_asked_at: maybeMoment,
    stripe_id: maybeText,
  })
  .transform((row) => ({
    id: row.id,
    kind: row.kind,
    state: row.state,
    startsAt: row.starts_at,
    /** The end of the requested term; nothing is torn down then without a person's decision. */
    endsAt: row.ends_at,
    paidUntil: row.paid_until,
    cancelsAt: row.cancels_at,
    graceUntil: row.grace_until,
    /** When we asked Stripe to end it. */
    cancelAskedAt: row.cancel_asked_at,
    stripeId: row.stripe_id,
  }));

const offerSchema = z
  .object({
    kind: z.enum(["one_off", "recurring"]),
    currency: z.string(),
    amount: z.number(),
    unit_amount: z.number(),
    quantity: z.number(),
  })
  .transform(({ unit_amount: unitAmount, ...rest }) => ({ ...rest, unitAmount }));

export const requestPaymentsSchema = z.object({
  /** `none`, `due`, `processing`, `paid`, `refunded`, … */
  state: z.string(),
  /** Null: the request has no price. */
  offer: offerSchema.nullable(),
  /** The last one. */
  checkout: checkoutSchema.nullable(),
  payments: z.array(paymentSchema),
  subscription: subscriptionSchema.nullable(),
});
export type RequestPayments = z.infer<typeof requestPaymentsSchema>;
