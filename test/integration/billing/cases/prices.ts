/** Cases of prices that change and of currencies. */
import { beingSetUp, cancelled, cancelledByRita, paid, processing } from "./said.ts";
import { arrives, back, cancels, come, debit, heldUp, open, pays, sweep } from "./happens.ts";
import type { CaseGroup } from "./table.ts";

const withdrawn =
  "@ The price of USD 300.00 was withdrawn, and can no longer be paid. Cancel the request, and submit it again: then the current price applies.";

export const prices: CaseGroup = {
  title: "Prices and currencies",
  about: "What the customer saw is what they pay.",
  cases: [
    {
      name: "the price is raised while the customer thinks",
      steps: ["The price is raised.", open, pays],
      state: "PROVISIONING",
      customer: beingSetUp("Received: USD 300.00"),
      thread: [paid],
      books: ["taken 30000"],
    },
    {
      name: "the price is withdrawn before the customer pays",
      steps: ["The price is withdrawn.", open],
      answers: [
        "410: Your answer was not recorded. The price of this offer was withdrawn. Ask the person who sent you the link for a new offer. Nothing was charged.",
      ],
      state: "CUSTOMER_CONFIRMATION_REQUIRED",
      customer: [
        "This offer can no longer be paid",
        "Acme has withdrawn its price. Nothing was charged.",
        "If you still need the capacity, ask Cora for a new offer.",
      ],
      thread: [withdrawn],
      books: [],
    },
    {
      name: "the price is withdrawn while the customer pays",
      steps: [heldUp, open, pays, "The price is withdrawn.", come],
      state: "CUSTOMER_CONFIRMATION_REQUIRED",
      customer: [
        "This offer can no longer be paid",
        "Acme has withdrawn its price. What you have paid goes back to you.",
        "Received: USD 300.00",
        "For: Nothing: it goes back to you in full",
        "Refund: USD 300.00 went back to you on ….",
        "If you still need the capacity, ask Cora for a new offer.",
      ],
      thread: [
        withdrawn,
        "The customer paid USD 300.00, and it goes back: the price was withdrawn.",
        "USD 300.00 went back to the customer: the price was withdrawn.",
      ],
      books: ["taken 30000", "refunded -30000"],
    },
    {
      name: "the price is withdrawn while a debit is pending",
      steps: [open, debit, "The price is withdrawn."],
      state: "CUSTOMER_CONFIRMATION_REQUIRED",
      customer: [
        "This offer can no longer be paid",
        "Acme has withdrawn its price. What you have paid goes back to you.",
        "A payment of yours is still on its way. When it arrives, it goes back to you in full.",
        "If you still need the capacity, ask Cora for a new offer.",
      ],
      thread: [processing, withdrawn],
      books: [],
    },
    {
      name: "the price is withdrawn while a debit is pending, and the debit arrives",
      steps: [open, debit, "The price is withdrawn.", arrives, sweep, back],
      state: "CUSTOMER_CONFIRMATION_REQUIRED",
      customer: [
        "This offer can no longer be paid",
        "Acme has withdrawn its price. What you have paid goes back to you.",
        "Received: USD 300.00",
        "For: Nothing: it goes back to you in full",
        "Refund: USD 300.00 went back to you on ….",
        "If you still need the capacity, ask Cora for a new offer.",
      ],
      thread: [
        processing,
        withdrawn,
        "The customer paid USD 300.00, and it goes back: the price was withdrawn.",
        "USD 300.00 went back to the customer: the price was withdrawn.",
      ],
      books: ["taken 30000", "refunded -30000"],
    },
    {
      name: "yen have no decimals",
      price: { currency: "JPY", unit_amount: 5000 },
      steps: [open, pays, cancels],
      state: "CANCELLED",
      customer: cancelled("Received: JPY 5,000", "Refund: JPY 5,000 went back to you on …."),
      thread: [
        "@ The customer paid JPY 5,000. Provisioning begins.",
        cancelledByRita,
        "JPY 5,000 goes back to the customer: the request was cancelled.",
        "JPY 5,000 went back to the customer: the request was cancelled.",
      ],
      books: ["taken 5000", "refunded -5000"],
    },
    {
      name: "dinars have three decimals, the last of them zero",
      price: { currency: "KWD", unit_amount: 5120 },
      steps: [open, pays, cancels],
      state: "CANCELLED",
      customer: cancelled("Received: KWD 5.120", "Refund: KWD 5.120 went back to you on …."),
      thread: [
        "@ The customer paid KWD 5.120. Provisioning begins.",
        cancelledByRita,
        "KWD 5.120 goes back to the customer: the request was cancelled.",
        "KWD 5.120 went back to the customer: the request was cancelled.",
      ],
      books: ["taken 5120", "refunded -5120"],
    },
    {
      name: "krona are counted in hundredths, which must be zero",
      price: { currency: "ISK", unit_amount: 500000 },
      steps: [open, pays, cancels],
      state: "CANCELLED",
      customer: cancelled("Received: ISK 5,000", "Refund: ISK 5,000 went back to you on …."),
      thread: [
        "@ The customer paid ISK 5,000. Provisioning begins.",
        cancelledByRita,
        "ISK 5,000 goes back to the customer: the request was cancelled.",
        "ISK 5,000 went back to the customer: the request was cancelled.",
      ],
      books: ["taken 500000", "refunded -500000"],
    },
    {
      name: "shillings are counted in hundredths, which must be zero",
      price: { currency: "UGX", unit_amount: 5000000 },
      steps: [open, pays, cancels],
      state: "CANCELLED",
      customer: cancelled("Received: UGX 50,000", "Refund: UGX 50,000 went back to you on …."),
      thread: [
        "@ The customer paid UGX 50,000. Provisioning begins.",
        cancelledByRita,
        "UGX 50,000 goes back to the customer: the request was cancelled.",
        "UGX 50,000 went back to the customer: the request was cancelled.",
      ],
      books: ["taken 5000000", "refunded -5000000"],
    },
  ],
};
