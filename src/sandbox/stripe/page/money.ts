/** Amounts for people. */

/** Stripe counts these as if they had two decimals; nobody else does. */
const twoAtStripe: ReadonlySet<string> = new Set(["isk", "ugx"]);

/** Of at most twelve digits, which a number holds exactly. */
export function money(amount: number, currency: string): string {
  const format = new Intl.NumberFormat("en", { style: "currency", currency });
  const digits = twoAtStripe.has(currency) ? 2 : (format.resolvedOptions().maximumFractionDigits ?? 2);
  return format.format(amount / 10 ** digits);
}
