/** Money in words, and what to do about it next: for `headroom payments` and for the request that it belongs to. */
import type { Payment, RequestPayments } from "../billing/index.ts";

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

/** How the money of a request, or a payment, stands. */
export function inWords(status: string): string {
  return statusWords[status] ?? status;
}

const heldWords: Readonly<Record<NonNullable<Payment["refunds"][number]["heldBy"]>, string>> = {
  dispute: "A refund waits for the end of the dispute: answer it in Stripe.",
  payment_intent: "A refund waits for the payment's id at Stripe, which is being asked for.",
  person: "A refund failed as often as it is tried: a person decides how the money goes back.",
};

/** Why a refund of the payment has not gone out. */
export function whyRefundHeld({ refunds }: Pick<Payment, "refunds">): string | null {
  const held = refunds.find(({ state }) => state === "held");
  return held?.heldBy == null ? null : heldWords[held.heldBy];
}

/** The command that helps a payment on; null when there is nothing to do. */
export function nextForPayment({
  id,
  refunds,
  status,
  left,
}: Pick<Payment, "id" | "refunds" | "status" | "left">): string | null {
  if (status === "disputed") return "answer the dispute in Stripe's dashboard";
  const needsPerson = refunds.some(({ heldBy }) => heldBy === "person") || refunds.at(-1)?.state === "failed";
  // Another that waits or is on its way goes first: a second one would be refused.
  const goesOn = refunds.some(
    ({ origin, state, heldBy }) =>
      origin === "ours" && ["held", "sent", "pending"].includes(state) && heldBy !== "person",
  );
  return needsPerson && !goesOn && left > 0 ? `headroom payments refund ${id} --as <member> --reason "…"` : null;
}

/** The command that helps the money of a request on. */
export function nextForRequest(requestId: string, { payments, checkout }: RequestPayments): string | null {
  const next = payments.map(nextForPayment).find((command) => command !== null);
  if (next !== undefined) return next;
  if (checkout?.state === "asked") return "headroom outbox status   (is a relay with Stripe running?)";
  return payments.length === 0 ? null : `headroom payments show ${requestId}`;
}
