/**
 * Billing: prices, payments, refunds and the books, as a table of contents. Every function here is a thin wrapper over one in the
 * database; a refusal comes back as a value (`outcome: "refused"`), a failure is thrown. Amounts are integers in
 * minor units as Stripe counts them.
 *
 *     import { formatAmount, getPayments, refundPayment } from "headroom/billing";
 *
 *     const found = await getPayments(client, "CR-2026-000042");
 *     if (found.outcome === "found") for (const { currency, amount } of found.money.payments) console.log(formatAmount(currency, amount));
 */

/** What capacity costs. */
export {
  listPrices,
  priceStatuses,
  setPrice,
  withdrawPrice,
  type NewPrice,
  type Price,
  type PriceKind,
  type PriceSet,
  type PriceStatus,
  type PriceWithdrawn,
} from "./prices.ts";
export { listRates, setRate, type Rate } from "./rates.ts";
export {
  listSettings,
  putSettings,
  type BillingSettings,
  type BillingSettingsChanges,
  type BillingSettingsPut,
} from "./settings.ts";

/** Payments and refunds. */
export {
  endSubscription,
  getPayment,
  getPayments,
  listPayments,
  refundPayment,
  type EndInput,
  type FoundPayment,
  type FoundPayments,
  type ListedPayment,
  type ListedPayments,
  type ListPaymentsOptions,
  type RefundAsked,
  type RefundInput,
} from "./payments.ts";
export type { Dispute, Entry, Payment, Refund, RequestPayments } from "./payment.ts";

/** Whether our records agree with Stripe's. */
export { listReconciliations, reconcile, type Reconciliation } from "./reconcile.ts";
export {
  listFindings,
  resolveFinding,
  type ListedFindings,
  type ListFindingsOptions,
  type MoneyFinding,
} from "./findings.ts";

/** The books, and the proof that they add up. */
export {
  listBalance,
  totalsOf,
  type Balance,
  type BalanceDay,
  type BalanceOptions,
  type BalanceTotal,
} from "./books.ts";
export { verifyPayments, type VerifiedPayments, type VerifyPaymentsOptions } from "./verify.ts";

/** Money that waits; for your own relay: `createRelay({ …, gauges: [moneyGauges] })`. */
export {
  listWaiting,
  waitingCounts,
  type ListedWaiting,
  type ListWaitingOptions,
  type WaitingCount,
  type WaitingMoney,
} from "./waiting.ts";
export { moneyGauges } from "./metrics.ts";

/** Amounts as people type and read them, exactly. */
export { currencyDigits, formatAmount, parseAmount, type ParsedAmount } from "./money.ts";
