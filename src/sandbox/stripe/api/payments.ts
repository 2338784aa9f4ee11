/**
 * Payments and their refunds: payment intents, charges, refunds and disputes; and the account's balance.
 */
import { z } from "zod";
import type { World } from "../../core/world.ts";
import { holdsMoney } from "../money/dispute-status.ts";
import { refund } from "../money/refunds.ts";
import { missing, StripeRefusal } from "../refusal.ts";
import { chargeShape, disputeShape, intentShape, paymentOfCharge, refundShape, type Shape } from "../shapes.ts";
import type { StripeState } from "../state.ts";
import type { Payment } from "../things.ts";
import { checkAmountForm } from "./amounts.ts";
import { listOf, window } from "./lists.ts";
import { count, ignored, metadata, parse, type Parameters } from "./parameters.ts";

export function getIntent(state: StripeState, id: string): Shape {
  const payment = state.find(state.payments, id);
  if (payment === undefined) throw missing("payment_intent", id);
  return intentShape(payment);
}

export function listIntents(state: StripeState, given: Parameters): Shape {
  const { customer, ...page } = parse(z.strictObject({ ...window, customer: z.string().optional() }), given);
  const wanted = state.all(state.payments).filter((each) => customer === undefined || each.customer === customer);
  return listOf(state, "/v1/payment_intents", wanted, page, intentShape);
}

export function getCharge(state: StripeState, id: string): Shape {
  const payment = state.find(state.payments, paymentOfCharge(id));
  if (payment === undefined) throw missing("charge", id);
  return chargeShape(state, payment);
}

const refundParameters = z.strictObject({
  payment_intent: z.string().optional(),
  charge: z.string().optional(),
  amount: count.optional(),
  reason: z.enum(["duplicate", "fraudulent", "requested_by_customer"]).optional(),
  metadata,
  expand: ignored,
});

export function createRefund(world: World, state: StripeState, given: Parameters): Shape {
  const wanted = parse(refundParameters, given);
  const payment = paymentOf(state, wanted.payment_intent, wanted.charge);
  if (wanted.amount !== undefined) checkAmountForm(payment.currency, wanted.amount, "amount");
  return refundShape(refund(world, state, payment, wanted));
}

function paymentOf(state: StripeState, intent: string | undefined, charge: string | undefined): Payment {
  if (intent === undefined && charge === undefined) {
    const words = "One of the following params should be provided for this request: payment_intent or charge.";
    throw new StripeRefusal(400, words);
  }
  const id = intent ?? paymentOfCharge(charge ?? "");
  const payment = state.find(state.payments, id);
  if (payment !== undefined) return payment;
  throw intent === undefined
    ? missing("charge", charge ?? "", "charge")
    : missing("payment_intent", id, "payment_intent");
}

export function getRefund(state: StripeState, id: string): Shape {
  const made = state.find(state.refunds, id);
  if (made === undefined) throw missing("refund", id);
  return refundShape(made);
}

const ofPayment = { payment_intent: z.string().optional(), charge: z.string().optional() };

/** The payment that a list is filtered by; undefined for all payments. */
function asked(state: StripeState, intent: string | undefined, charge: string | undefined): string | undefined {
  return intent === undefined && charge === undefined ? undefined : paymentOf(state, intent, charge).id;
}

export function listRefunds(state: StripeState, given: Parameters): Shape {
  const { payment_intent: intent, charge, ...page } = parse(z.strictObject({ ...window, ...ofPayment }), given);
  const payment = asked(state, intent, charge);
  const wanted = payment === undefined ? state.all(state.refunds) : state.refundsOf(payment);
  return listOf(state, "/v1/refunds", wanted, page, refundShape);
}

export function getDispute(state: StripeState, id: string): Shape {
  const dispute = state.find(state.disputes, id);
  if (dispute === undefined) throw missing("dispute", id);
  return disputeShape(dispute);
}

export function listDisputes(state: StripeState, given: Parameters): Shape {
  const { payment_intent: intent, charge, ...page } = parse(z.strictObject({ ...window, ...ofPayment }), given);
  const payment = asked(state, intent, charge);
  const wanted = payment === undefined ? state.all(state.disputes) : state.disputesOf(payment);
  return listOf(state, "/v1/disputes", wanted, page, disputeShape);
}

/** No fees, and nothing is ever paid out. */
export function getBalance(state: StripeState): Shape {
  const sums = new Map<string, number>();
  for (const payment of state.all(state.payments)) {
    if (payment.status !== "succeeded") continue;
    const withdrawn = state.disputesOf(payment.id).filter(holdsMoney);
    const gone = withdrawn.reduce((sum, { amount }) => sum + amount, state.refundedOf(payment.id));
    sums.set(payment.currency, (sums.get(payment.currency) ?? 0) + payment.amount - gone);
  }
  const available = [...sums].map(([currency, amount]) => ({ amount, currency }));
  return { object: "balance", available, livemode: false, pending: [] };
}
