/** `headroom payments show`: one payment, or all of a request's: refunds, disputes, the books, and what to do next. */
import type { Command } from "commander";
import {
  formatAmount,
  getPayment,
  getPayments,
  type Entry,
  type Payment,
  type Refund,
  type RequestPayments,
} from "../../../billing/index.ts";
import { withDatabase } from "../../database.ts";
import { inWords, nextForPayment, whyRefundHeld } from "../../words/money-words.ts";
import { addCommon, type CommonOptions } from "../../options.ts";
import { printFacts, printJson, printLine, printTable } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { isRequest, parsePaymentOrRequest } from "./payment-id.ts";

export function registerShow(payments: Command): void {
  addCommon(
    payments
      .command("show")
      .description("show a payment, or the money of a request: its state, refunds, disputes, the books")
      .argument(
        "<payment>",
        "payment id, number of its receipt, request id, or an id at Stripe of it, its charge, session, invoice, subscription, a refund or a dispute",
        parsePaymentOrRequest,
      ),
  ).action(runShow);
}

async function runShow(id: string, options: CommonOptions): Promise<void> {
  if (isRequest(id)) {
    const { money } = orFail(await withDatabase(options, "payments show", (client) => getPayments(client, id)));
    if (options.json === true) printJson(money);
    else showRequest(id, money);
    return;
  }
  const { payment } = orFail(await withDatabase(options, "payments show", (client) => getPayment(client, id)));
  if (options.json === true) printJson(payment);
  else showPayment(payment);
}

function showRequest(id: string, money: RequestPayments): void {
  const { offer, checkout } = money;
  // A one-time payment has a term too, but does not renew.
  const subscription = money.subscription?.kind === "recurring" ? money.subscription : null;
  const each = offer === null ? "" : `${offer.quantity} × ${formatAmount(offer.currency, offer.unitAmount)}`;
  printFacts([
    ["request", id],
    ["price", offer === null ? "none: the customer confirms without paying" : priceOf(offer, each)],
    ["stands", inWords(money.state)],
    ["last checkout", checkout === null ? null : `${checkout.state}, number ${checkout.number}`],
    ["processing since", checkout?.state === "processing" ? (checkout.processingSince?.toISOString() ?? null) : null],
    ["subscription", subscription === null ? null : subscription.state],
    ["paid until", subscription?.paidUntil?.toISOString() ?? null],
    ["ends", subscription?.endsAt?.toISOString() ?? null],
    ["at Stripe", subscription?.stripeId ?? null],
    ["end asked for", subscription?.cancelAskedAt?.toISOString() ?? null],
    ["is cancelled for", subscription?.cancelsAt?.toISOString() ?? null],
    ["unpaid from", subscription?.graceUntil?.toISOString() ?? null],
  ]);
  for (const payment of money.payments) {
    printLine();
    showPayment(payment);
  }
}

function priceOf(offer: NonNullable<RequestPayments["offer"]>, each: string): string {
  return `${formatAmount(offer.currency, offer.amount)}${offer.kind === "recurring" ? " a month" : " once"} (${each})`;
}

function showPayment(payment: Payment): void {
  const { currency } = payment;
  printFacts([
    ["payment", payment.id],
    ["request", payment.requestId],
    ["amount", formatAmount(currency, payment.amount)],
    ["left", formatAmount(currency, payment.left)],
    ["stands", inWords(payment.status)],
    ["for", payment.purpose],
    ["counts", payment.counts ? "yes: it bought the capacity" : "no: it is refunded"],
    ["goes back because", payment.refundReason],
    ["paid", payment.paidAt.toISOString()],
    ["known by", payment.eventId],
    ["receipt", payment.receipt],
    ["payment at Stripe", payment.paymentIntent],
    ["charge at Stripe", payment.chargeId],
    ["session at Stripe", payment.sessionId],
    ["invoice at Stripe", payment.invoiceId],
    ["workspace", payment.workspaceId],
  ]);
  showRefunds(payment.refunds, currency);
  showDisputes(payment);
  showEntries(payment.entries, currency);
  const held = whyRefundHeld(payment);
  if (held !== null) printLine(`\n${held}`);
  const next = nextForPayment(payment);
  if (next !== null) printLine(`\nNext: ${next}`);
}

function showRefunds(refunds: readonly Refund[], currency: string): void {
  if (refunds.length === 0) return;
  printLine();
  printTable(refunds, [
    { title: "REFUND", value: (row) => row.stripeId ?? row.id },
    { title: "AMOUNT", value: (row) => formatAmount(currency, row.amount), align: "right" },
    { title: "STATE", value: (row) => (row.heldBy === null ? row.state : `${row.state}: ${row.heldBy}`) },
    { title: "BECAUSE", value: (row) => row.why ?? row.reason },
    { title: "BY", value: (row) => (row.origin === "outside" ? "outside, in Stripe" : row.askedBy) },
    { title: "FAILURE", value: (row) => row.failure },
    { title: "AT", value: (row) => row.createdAt },
  ]);
}

function showDisputes({ disputes, currency }: Payment): void {
  if (disputes.length === 0) return;
  printLine();
  printTable(disputes, [
    { title: "DISPUTE", value: (row) => row.stripeId },
    { title: "AMOUNT", value: (row) => formatAmount(currency, row.amount), align: "right" },
    { title: "OUTCOME", value: (row) => row.outcome },
    { title: "STATUS", value: (row) => row.status },
    { title: "OPENED", value: (row) => row.openedAt },
  ]);
}

function showEntries(entries: readonly Entry[], currency: string): void {
  if (entries.length === 0) return;
  printLine();
  printTable(entries, [
    { title: "BOOKS", value: (row) => row.kind },
    { title: "AMOUNT", value: (row) => formatAmount(currency, row.amount), align: "right" },
    { title: "AT", value: (row) => row.at },
    { title: "BY", value: (row) => row.sourceId },
    { title: "EVENT", value: (row) => row.eventId },
  ]);
}
