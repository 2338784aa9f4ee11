/** What customers and threads read in many cases. */

export const beingSetUp = (...payment: readonly string[]): readonly string[] => [
  "This offer is confirmed",
  "You paid, and with that confirmed it, on ….",
  "Being set up",
  "It waits for its turn.",
  ...payment,
  "You need not do anything else. If this was a mistake, tell Cora soon.",
];

export const running = (...payment: readonly string[]): readonly string[] => [
  "Your capacity is running",
  "You paid, and with that confirmed it, on ….",
  ...payment,
  "You need not do anything else. If something is not as you expected, tell Cora.",
];

export const cancelled = (...payment: readonly string[]): readonly string[] => [
  "This offer was withdrawn",
  "Acme has cancelled the request.",
  ...payment,
  "It can no longer be answered. If you did not expect this, ask Cora.",
];

export const expired = (...payment: readonly string[]): readonly string[] => [
  "This offer has expired",
  "The time to answer ended on ….",
  ...payment,
  "It can no longer be answered, and nothing was set up. If you still need the capacity, ask Cora for a new offer.",
];

export const toPay = (...payment: readonly string[]): readonly string[] => [
  "Please confirm this offer by paying",
  "The capacity that was asked for is approved. It is set up once you have paid.",
  "Please answer by …, which is in …. Without an answer the offer ends then.",
  ...payment,
];
export const toPayAgain = (payment: string): readonly string[] => {
  const [title = "", ...rest] = toPay(payment);
  return [title, "Your last attempt to pay failed, and nothing was charged. You can try again below.", ...rest];
};

/** A payment does not match the offer. */
export const held =
  "Stripe reports a payment from you that does not match this offer. Somebody is looking into it: it will be put right, or refunded to you. Please do not pay again in the meantime.";
export const lookedAt: readonly string[] = [
  "Your payment is being reviewed",
  held,
  "You need not do anything else. If you want to know more, ask Cora.",
];

export const processing =
  "Payment processing: the customer paid USD 300.00 by a method that takes a while. Provisioning begins when the money has arrived.";
export const paid = "@ The customer paid USD 300.00. Provisioning begins.";
export const complete = "@ Provisioning is complete.";
export const cancelledByRita = "@ Rita cancelled the request.";
export const timeIsOver = "@ The customer did not answer in time: the request has expired.";
export const disputed =
  "@ The customer disputes the payment of USD 300.00 with their bank. Our refunds wait until it has ended. An operator answers it in Stripe.";
export const bounced = "@ The refund of USD 300.00 failed, and the money came back to us. It is opened again.";
export const goesBack = "USD 300.00 goes back to the customer: the request was cancelled.";
export const wentBack = "USD 300.00 went back to the customer: the request was cancelled.";
export const onItsWay = "The customer's payment of USD 300.00 is still on its way. When it arrives, it goes back.";
