/**
 * Disputes and inquiries. A dispute takes the money immediately, and winning it brings the money back; an inquiry only asks.
 */
import type { World } from "../../core/world.ts";
import { happen } from "../outgoing.ts";
import { disputeShape } from "../shapes.ts";
import type { StripeState } from "../state.ts";
import type { Dispute, Payment } from "../things.ts";

export interface DisputeTerms {
  /** Default: the whole payment. */
  readonly amount?: number | undefined;
  readonly reason?: string | undefined;
  readonly isInquiry?: boolean | undefined;
}

export function openDispute(world: World, state: StripeState, payment: Payment, terms: DisputeTerms): Dispute {
  const dispute = state.putDispute({
    id: state.id("du_"),
    livemode: payment.livemode,
    paymentIntent: payment.id,
    amount: terms.amount ?? payment.amount,
    currency: payment.currency,
    reason: terms.reason ?? "general",
    created: state.now(),
    status: terms.isInquiry === true ? "warning_needs_response" : "needs_response",
  });
  tell(world, state, dispute, "created");
  if (dispute.status === "needs_response") tell(world, state, dispute, "funds_withdrawn");
  return dispute;
}

/** Evidence was sent and the bank reviews it; or an inquiry has become a dispute, which takes the money. */
export function advance(world: World, state: StripeState, dispute: Dispute): void {
  const isInquiry = dispute.status === "warning_needs_response";
  dispute.status = isInquiry ? "needs_response" : "under_review";
  tell(world, state, dispute, "updated");
  if (isInquiry) tell(world, state, dispute, "funds_withdrawn");
}

export function closeDispute(world: World, state: StripeState, dispute: Dispute, how: "won" | "lost"): void {
  if (dispute.status === "warning_needs_response" && how === "won") {
    dispute.status = "warning_closed";
    tell(world, state, dispute, "closed");
    return;
  }
  dispute.status = how;
  tell(world, state, dispute, "closed");
  if (how === "won") tell(world, state, dispute, "funds_reinstated");
}

function tell(world: World, state: StripeState, dispute: Dispute, what: string): void {
  happen(world, state, `charge.dispute.${what}`, disputeShape(dispute));
}
