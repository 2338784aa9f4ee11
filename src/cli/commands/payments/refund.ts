/** `headroom payments refund`: refunds what is left of a payment, or a part of it. */
import type { Command } from "commander";
import type { Client } from "pg";
import { formatAmount, getPayment, refundPayment, type Payment, type RefundInput } from "../../../billing/index.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { asOption, reasonOption, requireMember, requireReason, type ActingOptions } from "../../acting.ts";
import { ask } from "../../ask.ts";
import { withDatabase } from "../../database.ts";
import { currencyOption, requireAmount } from "../../money-options.ts";
import { whyRefundHeld } from "../../words/money-words.ts";
import { addCommon } from "../../options.ts";
import { printJson, printLine } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { parsePaymentId } from "./payment-id.ts";

interface RefundOptions extends ActingOptions {
  readonly amount?: string;
  readonly currency?: string;
  readonly reason?: string;
  readonly yes?: boolean;
}

export function registerRefund(payments: Command): void {
  addCommon(
    payments
      .command("refund")
      .description("refund what is left of a payment, or a part of it, as an operator or an admin")
      .argument("<payment>", "payment id, number of its receipt, or its id at Stripe", parsePaymentId)
      .option("--amount <amount>", "in the payment's currency, such as 1200.00 (default: all that is left)")
      .addOption(currencyOption("refuse unless the payment is in this currency"))
      .addOption(asOption())
      .addOption(reasonOption("why; it is kept with the refund; asked for at a terminal when left out"))
      .option("--yes", "do not ask for confirmation"),
  ).action(runRefund);
}

async function runRefund(id: string, options: RefundOptions): Promise<void> {
  const as = requireMember(options);
  const reason = await requireReason(options);
  const payment = await withDatabase(options, "payments refund", async (client) => {
    const agreed = await agreeOn(client, id, options);
    return orFail(await refundPayment(client, id, { as, reason, ...agreed })).payment;
  });
  if (options.json === true) printJson(payment);
  else show(payment);
}

/** The amount to refund, after the person at the terminal has agreed; none for all that is left. */
async function agreeOn(
  client: Client,
  id: string,
  options: RefundOptions,
): Promise<Pick<RefundInput, "amount" | "left">> {
  const { payment } = orFail(await getPayment(client, id));
  if (options.currency !== undefined && options.currency !== payment.currency) {
    throw new HeadroomError("usage", `The payment is in ${payment.currency}, and not in ${options.currency}.`, {
      hint: "A currency never changes under a payment. Nothing was changed.",
    });
  }
  const amount = options.amount === undefined ? undefined : requireAmount(options.amount, payment.currency);
  if (amount !== undefined && amount > payment.left && payment.left > 0) {
    const left = formatAmount(payment.currency, payment.left);
    throw new HeadroomError("usage", `At most ${left} can be refunded: that is what is left of the payment.`, {
      hint: "Without --amount all that is left goes back. Nothing was changed.",
    });
  }
  const what = `${formatAmount(payment.currency, amount ?? payment.left)} of ${formatAmount(payment.currency, payment.amount)}`;
  const answer = options.yes === true ? "yes" : await ask(`Refund ${what} for ${payment.requestId}? [y/N] `, null);
  if (answer !== "no") return { amount, left: payment.left };
  throw new HeadroomError("usage", "Nothing was refunded.", { hint: "Answer yes, or pass --yes." });
}

function show(payment: Payment): void {
  const refund = payment.refunds.findLast(({ origin }) => origin === "ours");
  if (refund === undefined) return;
  const held = whyRefundHeld(payment);
  const words = formatAmount(payment.currency, refund.amount);
  printLine(`${payment.requestId}: a refund of ${words} is ${held === null ? "on its way to Stripe" : "recorded"}.`);
  if (held !== null) printLine(held);
  printLine(`Next: headroom payments show ${payment.id}`);
}
