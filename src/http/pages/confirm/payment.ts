/** The state of an offer's payment, in words: what was paid, the receipt, and what is refunded. */
import { html } from "hono/html";
import { moneyInWords } from "../money.ts";
import type { Html } from "../page.ts";
import { timeElement } from "../time.ts";
import type { Billing, Confirmation, Payment, Price } from "./story.ts";

/** `USD 1,200.00`, and for a subscription `USD 100.00 each month`. */
export function priceInWords(price: Price, locale: string): string {
  const amount = moneyInWords(price, locale);
  return price.kind === "recurring" ? `${amount} each ${price.interval ?? "month"}` : amount;
}

/** Like `priceInWords`, for a price without context: `USD 1,200.00, paid once` leaves no doubt about next month. */
export function termsInWords(price: Price, locale: string): string {
  return `${priceInWords(price, locale)}${price.kind === "recurring" ? "" : ", paid once"}`;
}

export function paymentSection({ billing, price }: Confirmation, locale: string): Html | false {
  if (billing === null || billing.payments.length === 0) return false;
  return html`<h2>Payment</h2>
    ${billing.payments.map((payment) => receipt(payment, locale))} ${subscriptionWords(billing, price)}`;
}

function receipt(payment: Payment, locale: string): Html {
  const money = (amount: number): string =>
    moneyInWords({ currency: payment.currency, digits: payment.digits, amount }, locale);
  const rows: readonly (readonly [string, Html | string | false])[] = [
    ["Received", money(payment.amount)],
    ["On", timeElement(payment.paid_at)],
    ["Receipt number", payment.receipt],
    ["For", forWhat(payment)],
    ["Dispute", payment.dispute !== null && disputeWords[payment.dispute]],
    ...payment.refunds.map((refund) => ["Refund", refundWords(refund, money(refund.amount))] as const),
  ];
  return html`<dl>
    ${rows.map(
      ([name, value]) =>
        value !== false &&
        html`<dt>${name}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`;
}

const disputeWords = {
  open: "You dispute this payment with your bank, and the bank decides. Nothing else goes back to you meanwhile.",
  lost: "Your bank decided for you: you have the money back.",
} as const;

function forWhat({ purpose, counts }: Payment): string | false {
  if (purpose === "renewal") return "A further month";
  return !counts && "Nothing: it goes back to you in full";
}

function refundWords({ state, at }: Payment["refunds"][number], amount: string): Html {
  switch (state) {
    case "due":
      return html`${amount} <span class="said">will go back to you. You need not do anything.</span>`;
    case "under_way":
      return html`${amount}
        <span class="said"
          >is on its way back to you since ${timeElement(at)}. Banks take up to ten working days.</span
        >`;
    case "asked":
      return html`${amount}
        <span class="said"
          >goes back to you as soon as you have told Stripe where to: they have sent you a mail about it.</span
        >`;
    case "done":
      return html`${amount} <span class="said">went back to you on ${timeElement(at)}.</span>`;
    default:
      return html`${amount}
        <span class="said">could not be sent back yet. We know about it and are working on it.</span>`;
  }
}

function subscriptionWords({ subscription }: Billing, price: Price | null): Html | false {
  if (subscription === null || price?.kind !== "recurring") return false;
  const { state, cancels_at: cancelsAt, paid_until: paidUntil } = subscription;
  if (state === "cancelled" || state === "ended")
    return html`<p>The subscription has ended; nothing more is charged.</p>`;
  if (state === "past_due" || state === "unpaid") {
    return html`<div class="note warn">
      <p>The last renewal could not be charged. Stripe has sent you a mail about it.</p>
    </div>`;
  }
  if (cancelsAt !== null) return html`<p>The subscription ends on ${timeElement(cancelsAt)}.</p>`;
  return paidUntil === null ? false : html`<p>Paid until ${timeElement(paidUntil)}; then it renews.</p>`;
}
