/**
 * Refunding a payment. Never blind: the rail looks for a refund with unknown outcome by its mark before the row is sent again, and each
 * try has the same idempotency key, as long as Stripe knows it.
 */
import type { LookupOutcome, RailMessage, RailOutcome } from "../../contract/rail.ts";
import type { StripeCall, StripeFailure } from "./call.ts";
import { keyOf, type MakeRefund } from "./message.ts";
import { deliveredAs, foundAs, outcomeOf, unavailable } from "./outcomes.ts";
import { findMarked } from "./search.ts";
import { compactOf } from "./shapes.ts";

export async function makeRefund(
  call: StripeCall,
  wanted: MakeRefund,
  message: RailMessage,
  signal: AbortSignal,
): Promise<RailOutcome> {
  const parameters = {
    payment_intent: wanted.destination,
    amount: wanted.amount,
    metadata: {
      headroom_installation: wanted.installation_id,
      headroom_refund: wanted.refund_id,
      headroom_payment: wanted.payment_id,
      headroom_request: wanted.request_id,
      headroom_reason: wanted.reason,
    },
  };
  const options = { idempotencyKey: keyOf(message) };
  const answer = await call((stripe) => stripe.refunds.create(parameters, options), signal);
  return answer.kind === "failure" ? outcomeOf(refusalOf(answer)) : deliveredAs(compactOf("refund", answer.data));
}

/** Stripe has no code for an amount beyond what is left: it names only the parameter, which for a positive integer can mean nothing else. */
function refusalOf(failure: StripeFailure): StripeFailure {
  const isBeyond = failure.code === "http_400" && failure.facts?.param === "amount" && failure.facts.code === undefined;
  return isBeyond ? { ...failure, code: "nothing_left" } : failure;
}

export async function findRefund(call: StripeCall, wanted: MakeRefund, signal: AbortSignal): Promise<LookupOutcome> {
  const found = await findMarked(
    call,
    {
      kind: "refund",
      name: "headroom_refund",
      mark: wanted.refund_id,
      page: (stripe, window) => stripe.refunds.list({ ...window, payment_intent: wanted.destination }),
    },
    signal,
  );
  if (found.kind === "failure") return unavailable(found);
  if (found.kind === "found") return foundAs(found.object);
  return found.whole ? { kind: "absent" } : unavailable({ kind: "failure", code: "too_many_to_search" });
}
