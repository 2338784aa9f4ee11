/** Money in words, and what to do about it next: for `headroom payments` and for the request that it belongs to. */
import type { Payment, Refund, RequestPayments } from "../../billing/index.ts";

const statusWords: Readonly<Record<string, string>> = {
  none: "not needed",
  due: "to be paid",
  held: "paid, but not what was asked for: headroom payments findings",
  processing: "payment processing",
  paid: "paid",
  partly_refunded: "paid, and refunded in part",
  refunding: "being refunded",
  refunded: "refunded",
  refund_held: "a refund waits",
  disputed: "disputed by the customer",
  lost: "lost in a dispute",
  unpaid: "never paid",
};

/** The state of a request's money, or of a payment, in words. */
export function inWords(status: string): string {
  return statusWords[status] ?? status;
}

const heldWords: Readonly<Record<NonNullable<Payment["refunds"][number]["heldBy"]>, string>> = {
  dispute: "A refund waits for the end of the dispute: answer it in Stripe.",
  payment_intent: "A refund waits for the payment's id at Stripe, which is being asked for.",
  refund: "A refund waits for another of the same payment, which is on its way.",
  person: "A refund failed after all its tries, or was cancelled in Stripe: a person decides how to return the money.",
};

/** Why a refund of the payment has not gone out. */
export function whyRefundHeld({ refunds }: Pick<Payment, "refunds">): string | null {
  const waiting = refunds.filter(({ state }) => state === "held");
  const held = waiting.find(({ heldBy }) => heldBy === "person") ?? waiting[0];
  return held?.heldBy == null ? null : heldWords[held.heldBy];
}

/** The command for a payment's next step; null if there is nothing to do. */
export function nextForPayment(payment: Pick<Payment, "id" | "refunds" | "status" | "left">): string | null {
  if (payment.status === "disputed") return "answer the dispute in Stripe's dashboard";
  const { refunds } = payment;
  const asksForAPerson = refunds.some(
    (refund) => refund.heldBy === "person" || (isUnmade(refund) && !hasSuccessor(refund, refunds)),
  );
  return asksForAPerson && payment.left > 0 && !refunds.some(goesOn)
    ? `headroom payments refund ${payment.id} --as <member> --reason "…"`
    : null;
}

/** It waits or is on its way without a person, and a second one would be refused meanwhile. */
function goesOn({ origin, state, heldBy }: Refund): boolean {
  return origin === "ours" && ["held", "sent", "pending"].includes(state) && heldBy !== "person";
}

/** A refund that did not succeed. One that was set aside without a failure was replaced by another. */
function isUnmade({ state, failure }: Refund): boolean {
  return state === "failed" || state === "cancelled" || (state === "superseded" && failure !== null);
}

/** A later checkout replaced it. */
function hasSuccessor({ id, updatedAt }: Refund, refunds: readonly Refund[]): boolean {
  return refunds.some(
    (other) =>
      other.id !== id && other.createdAt >= updatedAt && (other.state !== "superseded" || other.failure !== null),
  );
}

/** The command for the next step of a request's money. */
export function nextForRequest(requestId: string, { payments, checkout }: RequestPayments): string | null {
  const next = payments.map(nextForPayment).find((command) => command !== null);
  if (next !== undefined) return next;
  if (checkout?.state === "asked") return "headroom outbox status   (is a relay with Stripe running?)";
  return payments.length === 0 ? null : `headroom payments show ${requestId}`;
}
