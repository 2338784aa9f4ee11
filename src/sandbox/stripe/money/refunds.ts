/**
 * Refunds, from the API or the dashboard. Most succeed immediately; some are pending, and some fail days later.
 */
import type { World } from "../../core/world.ts";
import { happen } from "../outgoing.ts";
import { StripeRefusal } from "../refusal.ts";
import { chargeId, chargeShape, refundShape } from "../shapes.ts";
import type { StripeState } from "../state.ts";
import type { Payment, Refund } from "../things.ts";
import { holdsMoney } from "./dispute-status.ts";

export interface RefundTerms {
  /** Default: all that is left. */
  readonly amount?: number | undefined;
  readonly reason?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** Refuses as Stripe does. */
export function refund(world: World, state: StripeState, payment: Payment, terms: RefundTerms): Refund {
  const left = leftOf(state, payment);
  const amount = terms.amount ?? left;
  if (amount > left) {
    const words = `Refund amount (${amount}) is greater than unrefunded amount on charge (${left})`;
    // No code: Stripe names only the parameter.
    throw new StripeRefusal(400, words, { param: "amount" }, true);
  }
  const made = state.putRefund({
    id: state.id("re_"),
    livemode: payment.livemode,
    paymentIntent: payment.id,
    amount,
    currency: payment.currency,
    reason: terms.reason,
    metadata: terms.metadata ?? {},
    created: state.now(),
    status: payment.how === "bank_debit" || payment.how === "refund_pends" ? "pending" : "succeeded",
    failureReason: undefined,
  });
  // As usual the charge comes with it, in its current state and without the refund.
  happen(world, state, "charge.refunded", chargeShape(state, payment));
  happen(world, state, "refund.created", refundShape(made));
  return made;
}

function leftOf(state: StripeState, payment: Payment): number {
  const charge = chargeId(payment.id);
  if (payment.status !== "succeeded") {
    const words = `This PaymentIntent (${payment.id}) does not have a successful charge to refund.`;
    throw new StripeRefusal(400, words, { code: "payment_intent_unexpected_state" }, true);
  }
  if (state.disputesOf(payment.id).some(holdsMoney)) {
    const words = `Charge ${charge} has been charged back; cannot issue a refund.`;
    throw new StripeRefusal(400, words, { code: "charge_disputed" }, true);
  }
  const left = payment.amount - state.refundedOf(payment.id);
  if (left > 0) return left;
  const words = `Charge ${charge} has already been refunded.`;
  throw new StripeRefusal(400, words, { code: "charge_already_refunded" }, true);
}

/**
 * The bank's decision about a refund. Even one that had succeeded may fail. Or the bank cannot send it until the customer says where to
 * (`requires_action`), or somebody cancels it.
 */
export type RefundWord = "requires_action" | "succeeded" | "failed" | "canceled";

export function settleRefund(world: World, state: StripeState, made: Refund, how: RefundWord): void {
  made.status = how;
  made.failureReason = how === "failed" ? "expired_or_canceled_card" : undefined;
  if (how === "failed") happen(world, state, "refund.failed", refundShape(made));
  happen(world, state, "charge.refund.updated", refundShape(made));
  happen(world, state, "refund.updated", refundShape(made));
}
