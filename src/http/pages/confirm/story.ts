/**
 * An offer, its payment and its provisioning, as public.describe_confirmation returns them.
 *
 * Owns: reading it. Does not own: the words.
 */
import { z } from "zod";

const offerSchema = z.object({
  kind: z.enum(["one_off", "recurring"]),
  currency: z.string().regex(/^[A-Z]{3}$/),
  amount: z.int(),
  unit_amount: z.int(),
  interval: z.string().nullish(),
});
export type Price = z.infer<typeof offerSchema> & { readonly digits: number | null };

const refundSchema = z.object({
  state: z.enum(["due", "under_way", "asked", "done", "failed"]),
  amount: z.int(),
  at: z.coerce.date(),
});

const paymentSchema = z.object({
  receipt: z.string(),
  currency: z.string(),
  /** Null for a currency that Headroom does not know. */
  digits: z.int().nullable(),
  amount: z.int(),
  paid_at: z.coerce.date(),
  counts: z.boolean(),
  purpose: z.enum(["confirmation", "renewal", "unmatched"]),
  refunds: z.array(refundSchema),
  dispute: z.enum(["open", "lost"]).nullable(),
});
export type Payment = z.infer<typeof paymentSchema>;

const billingSchema = z.object({
  digits: z.int().nullable(),
  withdrawn: z.boolean(),
  held: z.boolean(),
  erased: z.boolean(),
  checkout: z.object({ state: z.string(), since: z.coerce.date() }).nullable(),
  payments: z.array(paymentSchema),
  subscription: z
    .object({
      kind: z.enum(["one_off", "recurring"]),
      state: z.enum(["active", "past_due", "unpaid", "ended", "cancelled"]),
      ends_at: z.coerce.date().nullable(),
      paid_until: z.coerce.date().nullable(),
      cancels_at: z.coerce.date().nullable(),
    })
    .nullable(),
});
export type Billing = z.infer<typeof billingSchema>;

const provisioningSchema = z.object({
  state: z.enum(["waiting", "provisioning", "delayed", "running", "failed", "cancelled"]),
  held_by: z.literal("customer").nullable(),
  progress: z.number().nullable(),
  since: z.coerce.date(),
  completed_at: z.coerce.date().nullable(),
  /** When it is cancelled unless work continues. */
  ends_at: z.coerce.date().nullable(),
  steps: z.array(z.object({ step: z.string(), at: z.coerce.date() })),
});
export type Provisioning = z.infer<typeof provisioningSchema>;

export const confirmationSchema = z
  .object({
    status: z.enum(["open", "confirmed", "declined", "expired", "cancelled", "closed"]),
    decided_at: z.coerce.date().nullable(),
    decided_by: z.enum(["customer", "on_behalf"]).nullable(),
    expires_at: z.coerce.date(),
    request_id: z.string(),
    workspace: z.string(),
    contact: z.string().nullable(),
    requested_size: z.string(),
    quantity: z.number(),
    region: z.string(),
    needed_by_date: z.string().nullable(),
    expected_duration_days: z.number().nullable(),
    estimated_monthly_cost_usd: z.union([z.string(), z.number()]).nullable(),
    offer: offerSchema.nullish(),
    billing: billingSchema.nullable(),
    provisioning: provisioningSchema.nullable(),
    readable_until: z.coerce.date(),
  })
  .transform((story) => ({
    status: story.status,
    decidedAt: story.decided_at,
    decidedBy: story.decided_by,
    expiresAt: story.expires_at,
    requestId: story.request_id,
    workspace: story.workspace,
    contact: story.contact,
    size: story.requested_size,
    quantity: story.quantity,
    region: story.region,
    neededBy: story.needed_by_date,
    durationDays: story.expected_duration_days,
    monthlyCostUsd: story.estimated_monthly_cost_usd,
    price:
      story.offer === null || story.offer === undefined
        ? null
        : { ...story.offer, digits: story.billing?.digits ?? null },
    billing: story.billing,
    provisioning: story.provisioning,
    readableUntil: story.readable_until,
  }));
export type Confirmation = z.infer<typeof confirmationSchema>;

/** Whether Stripe is processing the payment and does not know yet whether it will succeed: the offer is kept meanwhile. */
export function isProcessing({ status, billing }: Confirmation): boolean {
  return billing?.checkout?.state === "processing" && (status === "open" || status === "expired");
}

/** Whether a payment is on its way for an offer that can no longer be bought. */
export function isReturning({ billing }: Confirmation): boolean {
  return billing?.checkout?.state === "returning";
}

/** Whether a different amount was paid than was asked for, and a person reviews it. */
export function isHeld({ billing }: Confirmation): boolean {
  return billing?.held === true;
}

/** Whether money of the customer was taken or is on its way. */
export function hasPaid(offer: Confirmation): boolean {
  return isReturning(offer) || isHeld(offer) || (offer.billing?.payments.length ?? 0) > 0;
}

/** Whether the customer can pay it now. */
export function canBePaid(offer: Confirmation): boolean {
  return (
    offer.status === "open" &&
    offer.price !== null &&
    offer.billing?.withdrawn !== true &&
    !isProcessing(offer) &&
    !isHeld(offer)
  );
}

/** Whether there is nothing to show except that it has ended. */
export function isOver(offer: Confirmation): boolean {
  const { status, billing } = offer;
  if (isProcessing(offer) || isHeld(offer) || (billing !== null && billing.payments.length > 0)) return false;
  return status === "expired" || status === "cancelled" || status === "closed";
}
