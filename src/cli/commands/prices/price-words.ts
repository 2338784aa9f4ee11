/** A price in words, for every command that shows one. */
import { formatAmount, type Price } from "../../../billing/index.ts";

/** `USD 300.00 a month`, or `USD 300.00 once`. */
export function amountOf({ currency, unitAmount, kind }: Price): string {
  return `${formatAmount(currency, unitAmount)} ${kind === "recurring" ? "a month" : "once"}`;
}

/** `one 32XL in us-east-1 for 90 days`. */
export function whatItBuys({ size, region, durationDays }: Price): string {
  return `one ${size} ${region === null ? "anywhere" : `in ${region}`}${durationDays === null ? "" : ` for ${durationDays} days`}`;
}
