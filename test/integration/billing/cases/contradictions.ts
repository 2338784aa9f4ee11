/** Cases in which what Stripe says, or somebody in its name, does not agree with what we know. */
import { beingSetUp, cancelled, cancelledByRita, paid, toPay, wentBack } from "./said.ts";
import { cancels, compare, lost, open, pays } from "./happens.ts";
import type { CaseGroup } from "./table.ts";

export const contradictions: CaseGroup = {
  title: "What does not agree",
  about: "It is answered clearly and written down, and moves nothing.",
  cases: [
    {
      name: "a wrong signature",
      steps: [open, "Somebody sends word of the payment with a wrong signature."],
      answers: ["401: The signature is missing or is not the provider's."],
      state: "CUSTOMER_CONFIRMATION_REQUIRED",
      customer: toPay("[Pay USD 300.00]"),
      thread: [],
      books: [],
    },
    {
      name: "a session of another installation",
      steps: [open, "Stripe tells of a paid session of another installation."],
      answers: ["200: ignored"],
      state: "CUSTOMER_CONFIRMATION_REQUIRED",
      customer: toPay("[Pay USD 300.00]"),
      thread: [],
      books: [],
    },
    {
      name: "half of the amount",
      steps: [open, "Stripe tells that half of the amount was paid."],
      answers: ["422: Stripe took USD 150.00, and USD 300.00 was asked for."],
      state: "CUSTOMER_CONFIRMATION_REQUIRED",
      customer: toPay("[Pay USD 300.00]"),
      thread: [
        "@ Stripe took USD 150.00, and USD 300.00 was asked for. Nothing was moved: an operator looks at it in Stripe.",
      ],
      books: [],
      findings: ["amount_mismatch"],
    },
    {
      name: "another currency",
      steps: [open, "Stripe tells that the amount was paid in euros."],
      answers: ["422: Stripe took EUR 300.00, and USD 300.00 was asked for."],
      state: "CUSTOMER_CONFIRMATION_REQUIRED",
      customer: toPay("[Pay USD 300.00]"),
      thread: [
        "@ Stripe took EUR 300.00, and USD 300.00 was asked for. Nothing was moved: an operator looks at it in Stripe.",
      ],
      books: [],
      findings: ["amount_mismatch"],
    },
    {
      name: "a request that does not exist",
      steps: [open, "Stripe tells of a payment for a request that does not exist."],
      answers: ["422: Stripe tells of a payment for a request that does not exist here."],
      state: "CUSTOMER_CONFIRMATION_REQUIRED",
      customer: toPay("[Pay USD 300.00]"),
      thread: [],
      books: [],
      findings: ["unknown_payment"],
    },
    {
      name: "a page that we did not make, for what was offered",
      steps: ["Somebody makes a page at Stripe by hand, with our mark.", pays],
      state: "PROVISIONING",
      customer: beingSetUp("Received: USD 300.00"),
      thread: [paid],
      books: ["taken 30000"],
    },
    {
      name: "a page that we did not make, for what is paid",
      steps: [open, pays, "Somebody makes a page at Stripe by hand, with our mark.", pays],
      state: "PROVISIONING",
      customer: beingSetUp(
        "Received: USD 300.00",
        "Received: USD 300.00",
        "For: Nothing: it goes back to you in full",
        "Refund: USD 300.00 went back to you on ….",
      ),
      thread: [
        paid,
        "The customer paid USD 300.00, and it goes back: the request was paid already.",
        "USD 300.00 went back to the customer: the request was paid already.",
      ],
      books: ["taken 30000", "taken 30000", "refunded -30000"],
    },
    {
      name: "a page that we did not make, after the end",
      steps: [cancels, "Somebody makes a page at Stripe by hand, with our mark.", pays],
      state: "CANCELLED",
      customer: cancelled(
        "Received: USD 300.00",
        "For: Nothing: it goes back to you in full",
        "Refund: USD 300.00 went back to you on ….",
      ),
      thread: [cancelledByRita, "The customer paid USD 300.00, and it goes back: the request was cancelled.", wentBack],
      books: ["taken 30000", "refunded -30000"],
    },
    {
      name: "a page that we did not make, of which no event comes",
      steps: [lost, "Somebody makes a page at Stripe by hand, with our mark.", pays, compare],
      state: "PROVISIONING",
      customer: beingSetUp("Received: USD 300.00"),
      thread: [paid],
      books: ["taken 30000"],
    },
  ],
};
