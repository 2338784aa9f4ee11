/** Cases of what is charged each month. */
import { beingSetUp, complete, paid, running, toPay } from "./said.ts";
import { arrives, compare, debit, fails, heldUp, lost, open, pays, reversed, setUp } from "./happens.ts";
import type { CaseGroup } from "./table.ts";

const monthly = { kind: "recurring", unit_amount: 10_000 } as const;

export const subscriptions: CaseGroup = {
  title: "Subscriptions",
  about: "What Stripe charges each month is followed; nothing is torn down without a person's word.",
  cases: [
    {
      name: "a renewal",
      price: monthly,
      steps: [open, pays, setUp, "A month passes, and the next one is paid."],
      state: "COMPLETED",
      customer: running(
        "Received: USD 100.00",
        "Received: USD 100.00",
        "For: A further month",
        "Paid until …; then it renews.",
      ),
      thread: [
        "@ The customer paid USD 100.00. Provisioning begins.",
        complete,
        "The subscription was renewed: USD 100.00.",
      ],
      books: ["taken 10000", "taken 10000"],
    },
    {
      name: "a renewal of which no event comes",
      price: monthly,
      steps: [open, pays, setUp, lost, "A month passes, and the next one is paid.", compare],
      state: "COMPLETED",
      customer: running(
        "Received: USD 100.00",
        "Received: USD 100.00",
        "For: A further month",
        "Paid until …; then it renews.",
      ),
      thread: [
        "@ The customer paid USD 100.00. Provisioning begins.",
        complete,
        "The subscription was renewed: USD 100.00.",
      ],
      books: ["taken 10000", "taken 10000"],
    },
    {
      name: "a renewal that fails and is paid, told backwards",
      price: monthly,
      steps: [
        heldUp,
        open,
        pays,
        reversed,
        setUp,
        "A month passes, and the payment of the next one fails.",
        "Stripe tries again, and it is paid.",
        reversed,
      ],
      state: "COMPLETED",
      customer: running(
        "Received: USD 100.00",
        "Received: USD 100.00",
        "For: A further month",
        "Paid until …; then it renews.",
      ),
      thread: [
        "@ The customer paid USD 100.00. Provisioning begins.",
        complete,
        "The subscription was renewed: USD 100.00.",
      ],
      books: ["taken 10000", "taken 10000"],
    },
    {
      name: "a failed renewal that is paid later",
      price: monthly,
      steps: [
        open,
        pays,
        setUp,
        "A month passes, and the payment of the next one fails.",
        "Stripe tries again, and it is paid.",
      ],
      state: "COMPLETED",
      customer: running(
        "Received: USD 100.00",
        "Received: USD 100.00",
        "For: A further month",
        "Paid until …; then it renews.",
      ),
      thread: [
        "@ The customer paid USD 100.00. Provisioning begins.",
        complete,
        "@ The renewal of the subscription failed. Stripe tries again; if nothing is paid within 7 days, it counts as unpaid.",
        "The subscription was renewed: USD 100.00.",
      ],
      books: ["taken 10000", "taken 10000"],
    },
    {
      name: "a failed renewal, and the grace is over",
      price: monthly,
      steps: [open, pays, setUp, "A month passes, and the payment of the next one fails.", "The days of grace pass."],
      state: "COMPLETED",
      customer: running(
        "Received: USD 100.00",
        "The last renewal could not be charged. Stripe has sent you a mail about it.",
      ),
      thread: [
        "@ The customer paid USD 100.00. Provisioning begins.",
        complete,
        "@ The renewal of the subscription failed. Stripe tries again; if nothing is paid within 7 days, it counts as unpaid.",
        "@ The subscription is unpaid, and the days of grace are over. The capacity is not stopped by that: an operator decides what becomes of it.",
      ],
      books: ["taken 10000"],
    },
    {
      name: "a failed renewal, while all is compared",
      price: monthly,
      steps: [open, pays, setUp, "A month passes, and the payment of the next one fails.", compare],
      state: "COMPLETED",
      customer: running(
        "Received: USD 100.00",
        "The last renewal could not be charged. Stripe has sent you a mail about it.",
      ),
      thread: [
        "@ The customer paid USD 100.00. Provisioning begins.",
        complete,
        "@ The renewal of the subscription failed. Stripe tries again; if nothing is paid within 7 days, it counts as unpaid.",
      ],
      books: ["taken 10000"],
    },
    {
      name: "ended in the dashboard",
      price: monthly,
      steps: [open, pays, setUp, "Somebody ends the subscription in Stripe's dashboard."],
      state: "COMPLETED",
      customer: running("Received: USD 100.00", "The subscription is over; nothing more is charged."),
      thread: [
        "@ The customer paid USD 100.00. Provisioning begins.",
        complete,
        "@ The subscription was ended in Stripe, and nothing is charged any more. The capacity is not stopped by that: an operator decides what becomes of it.",
      ],
      books: ["taken 10000"],
    },
    {
      name: "ended in the dashboard, of which no event comes",
      price: monthly,
      steps: [open, pays, setUp, lost, "Somebody ends the subscription in Stripe's dashboard."],
      state: "COMPLETED",
      customer: running("Received: USD 100.00", "The subscription is over; nothing more is charged."),
      thread: [
        "@ The customer paid USD 100.00. Provisioning begins.",
        complete,
        "@ The subscription was ended in Stripe, and nothing is charged any more. The capacity is not stopped by that: an operator decides what becomes of it.",
      ],
      books: ["taken 10000"],
    },
    {
      name: "set to end with the month",
      price: monthly,
      steps: [open, pays, setUp, "Somebody has the subscription end with the month.", "The month ends."],
      state: "COMPLETED",
      customer: running("Received: USD 100.00", "The subscription is over; nothing more is charged."),
      thread: [
        "@ The customer paid USD 100.00. Provisioning begins.",
        complete,
        "@ In Stripe the subscription was set to end on …. The capacity is not stopped by that: an operator decides what becomes of it.",
        "@ The subscription was ended in Stripe, and nothing is charged any more. The capacity is not stopped by that: an operator decides what becomes of it.",
      ],
      books: ["taken 10000"],
    },
    {
      name: "the term of a subscription is over",
      price: monthly,
      steps: [open, pays, setUp, "The term that was asked for ends."],
      state: "COMPLETED",
      customer: running("Received: USD 100.00", "Paid until …; then it renews."),
      thread: [
        "@ The customer paid USD 100.00. Provisioning begins.",
        complete,
        "@ The term that was asked for is over. The subscription is charged until it is ended in Stripe. The capacity is not stopped by that: an operator decides what becomes of it.",
      ],
      books: ["taken 10000"],
    },
    {
      name: "the term of a single payment is over",
      steps: [open, pays, setUp, "The term that was asked for ends."],
      state: "COMPLETED",
      customer: running("Received: USD 300.00"),
      thread: [
        paid,
        complete,
        "@ The term that was asked for is over. The capacity is not stopped by that: an operator decides what becomes of it.",
      ],
      books: ["taken 30000"],
    },
    {
      name: "a subscription paid by debit",
      price: monthly,
      steps: [open, debit, arrives],
      state: "PROVISIONING",
      customer: beingSetUp("Received: USD 100.00", "Paid until …; then it renews."),
      thread: [
        "Payment processing: the customer paid USD 100.00 by a method that takes a while. Provisioning begins when the money has arrived.",
        "@ The customer paid USD 100.00. Provisioning begins.",
      ],
      books: ["taken 10000"],
    },
    {
      name: "a subscription whose debit fails",
      price: monthly,
      steps: [open, debit, fails],
      state: "CUSTOMER_CONFIRMATION_REQUIRED",
      customer: toPay("[Pay USD 100.00 each month]"),
      thread: [
        "Payment processing: the customer paid USD 100.00 by a method that takes a while. Provisioning begins when the money has arrived.",
        "@ The customer's payment failed, and nothing was charged. They can pay again with the same link.",
      ],
      books: [],
    },
  ],
};
