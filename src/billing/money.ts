/**
 * Amounts of money between people and minor units, exactly: digits are moved, nothing is divided, so no cent is ever rounded away.
 *
 * Owns: how an amount is typed and written in any language. Does not own: which amounts Stripe accepts (billing.amount_problem).
 */

/** Currencies with no decimals and with three, as Stripe counts them. All others have two. */
const withoutDecimals = new Set("BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF".split(" "));
const withThree = new Set("BHD JOD KWD OMR TND".split(" "));
/** People write these without decimals, but Stripe counts hundredths. */
const withHiddenDecimals = new Set(["ISK", "UGX"]);

/** How many of an amount's last digits are decimals. */
export function currencyDigits(currency: string): number {
  if (withoutDecimals.has(currency)) return 0;
  return withThree.has(currency) ? 3 : 2;
}

/** `USD 1,200.00`, `JPY 1,200`, `KWD 5.120`, `ISK 500`: the same format as the database's. */
export function formatAmount(currency: string, amount: number): string {
  const digits = currencyDigits(currency);
  const units = BigInt(Math.abs(amount))
    .toString()
    .padStart(digits + 1, "0");
  const whole = units.slice(0, units.length - digits).replace(/\B(?=(\d{3})+$)/g, ",");
  const decimals = units.slice(units.length - digits);
  const hidden = decimals === "" || (withHiddenDecimals.has(currency) && /^0+$/.test(decimals));
  return `${currency} ${amount < 0 ? "-" : ""}${whole}${hidden ? "" : `.${decimals}`}`;
}

export type ParsedAmount =
  | { readonly outcome: "parsed"; /** In minor units. */ readonly amount: number }
  | { readonly outcome: "malformed"; /** What would be right, as a sentence. */ readonly message: string };

/**
 * Reads a typed amount, such as `1200.00`, in the currency's own decimals. All decimals or none: `1200.5` might be a slip, and a price that
 * is ten times too high is paid before anybody notices.
 */
export function parseAmount(text: string, currency: string): ParsedAmount {
  const digits = withHiddenDecimals.has(currency) ? 0 : currencyDigits(currency);
  const [, whole, decimals = ""] = /^(\d{1,12})(?:\.(\d+))?$/.exec(text.trim()) ?? [];
  if (whole === undefined) {
    return { outcome: "malformed", message: `Give digits alone, without commas, such as ${exampleOf(digits)}.` };
  }
  if (decimals.length !== 0 && decimals.length !== digits) {
    const rule = digits === 0 ? `${currency} has no decimals` : `${currency} is written with ${digits} decimals`;
    return { outcome: "malformed", message: `${rule}: give it as in ${exampleOf(digits)}.` };
  }
  const amount = Number(`${whole}${decimals.padEnd(currencyDigits(currency), "0")}`);
  if (Number.isSafeInteger(amount)) return { outcome: "parsed", amount };
  return { outcome: "malformed", message: "The amount is too large." };
}

function exampleOf(digits: number): string {
  return digits === 0 ? "1200" : `1200.${"0".repeat(digits)}`;
}
