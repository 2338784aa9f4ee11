/**
 * Stripe's rules about amounts (https://docs.stripe.com/currencies), in its minor units.
 */
import { StripeRefusal } from "../refusal.ts";

/** More than Stripe accepts, including withdrawn ones; a code that is not a currency is refused. */
const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf("currency"));
/** Their last digit must be 0. */
const threeDecimals: ReadonlySet<string> = new Set(["bhd", "jod", "kwd", "omr", "tnd"]);
/** They have no decimals any more, but are still passed as if they had two, which must be 00. */
const formerlyTwo: ReadonlySet<string> = new Set(["isk", "ugx"]);
/** Eight digits; twelve for the rupiah. */
const largest = 99_999_999;
const largestRupiah = 999_999_999_999;
/** For currencies with a minimum that Stripe documents. */
const least: Readonly<Record<string, number>> = {
  aud: 50,
  brl: 50,
  cad: 50,
  chf: 50,
  czk: 15_00,
  dkk: 2_50,
  eur: 50,
  gbp: 30,
  hkd: 4_00,
  huf: 175_00,
  inr: 50,
  jpy: 50,
  mxn: 10_00,
  nok: 3_00,
  nzd: 50,
  pln: 2_00,
  sek: 3_00,
  sgd: 50,
  usd: 50,
};

export function checkCurrency(currency: string, param: string): void {
  if (currencies.has(currency.toUpperCase())) return;
  throw new StripeRefusal(400, `Invalid currency: ${currency}.`, { param });
}

/** The form that an amount must have, however small. */
export function checkAmountForm(currency: string, amount: number, param: string): void {
  const step = threeDecimals.has(currency) ? 10 : formerlyTwo.has(currency) ? 100 : 1;
  if (amount % step === 0) return;
  const words = `Invalid amount: in ${currency} it must be evenly divisible by ${step}.`;
  throw new StripeRefusal(400, words, { code: "invalid_charge_amount", param });
}

/** The limits of one charge. */
export function checkTotal(currency: string, amount: number): void {
  const most = currency === "idr" ? largestRupiah : largest;
  const fields = { param: "line_items" };
  if (amount > most) {
    throw new StripeRefusal(400, `Amount must be no more than ${most} ${currency}.`, {
      ...fields,
      code: "amount_too_large",
    });
  }
  const fewest = least[currency] ?? 1;
  if (amount >= fewest) return;
  throw new StripeRefusal(400, `Amount must be at least ${fewest} ${currency}.`, {
    ...fields,
    code: "amount_too_small",
  });
}
