/**
 * Stripe's own test cards (https://docs.stripe.com/testing), those that have an effect here; and a debit that takes days.
 */
export interface TestCard {
  readonly number: string;
  /** The description that a person sees. */
  readonly does: string;
  readonly behaviour: "succeeds" | "declined" | "disputed" | "inquiry" | "refund_fails" | "refund_pends";
  /** The error of a declined one. */
  readonly declined?: { readonly code: string; readonly message: string };
}

export const testCards: readonly TestCard[] = [
  { number: "4242424242424242", does: "The payment succeeds.", behaviour: "succeeds" },
  {
    number: "4000000000000002",
    does: "The card is declined.",
    behaviour: "declined",
    declined: { code: "generic_decline", message: "Your card was declined." },
  },
  {
    number: "4000000000009995",
    does: "The card is declined: it has not enough money.",
    behaviour: "declined",
    declined: { code: "insufficient_funds", message: "Your card has insufficient funds." },
  },
  { number: "4000000000000259", does: "The payment succeeds and is disputed as fraud.", behaviour: "disputed" },
  { number: "4000000000001976", does: "The payment succeeds and the bank inquires about it.", behaviour: "inquiry" },
  { number: "4000000000005126", does: "A refund succeeds at first and fails later.", behaviour: "refund_fails" },
  { number: "4000000000007726", does: "A refund is pending and succeeds later.", behaviour: "refund_pends" },
];

/** The card that is used by default. */
export const goodCard = "4242424242424242";

export type HowPaid = TestCard["behaviour"] | "bank_debit";

const foreign = { code: "not_a_test_card", message: "This is not one of Stripe’s test cards." } as const;

/** Why a payment with a card of this number is declined; undefined when it is not. */
export function declineOf(typed: string): { readonly code: string; readonly message: string } | undefined {
  const card = cardOf(typed);
  return card === undefined ? foreign : card.declined;
}

/** The message for a customer who was declined for this reason. */
export function declineWords(code: string): string {
  return testCards.find(({ declined }) => declined?.code === code)?.declined?.message ?? foreign.message;
}

/** Undefined for any other number: no real card may ever be entered here. */
export function cardOf(typed: string): TestCard | undefined {
  const digits = typed.replaceAll(/[\s-]/g, "");
  return testCards.find(({ number }) => number === digits);
}
