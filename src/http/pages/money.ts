/** Amounts as people read them: exact from minor units, in the reader's way of writing numbers, with the currency's code. */

export interface Money {
  /** ISO 4217, in capitals. */
  readonly currency: string;
  /** In minor units as Stripe counts them. */
  readonly amount: number;
  /** How many digits of the amount come after the point; null if unknown. */
  readonly digits: number | null;
}

/**
 * `USD 1,200.00`, or `1.200,00 USD` for a German reader. It shows the code and not the sign, because a dollar sign means many
 * currencies. It is formatted from the digits, never through a floating-point number.
 */
export function moneyInWords({ currency, amount, digits }: Money, locale: string): string {
  if (digits === null) return `${new Intl.NumberFormat(locale).format(amount)} minor units of ${currency}`;
  const style = { style: "currency", currency, currencyDisplay: "code" } as const;
  const usual = new Intl.NumberFormat(locale, style);
  const units = BigInt(Math.abs(amount))
    .toString()
    .padStart(digits + 1, "0");
  const whole = units.slice(0, units.length - digits);
  const fraction = units.slice(units.length - digits);
  // Stripe counts some currencies in hundredths although they have none. We write them without, unless that loses something.
  const lost = fraction.replace(/0+$/, "").length > (usual.resolvedOptions().maximumFractionDigits ?? 0);
  const format = lost ? new Intl.NumberFormat(locale, { ...style, minimumFractionDigits: digits }) : usual;
  const written = `${amount < 0 ? "-" : ""}${whole}.${fraction === "" ? "0" : fraction}`;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- digits and a point, put together above
  return format.format(written as `${number}`);
}

const defaultLocale = "en-US";

/** The reader's locale by Accept-Language, if numbers can be formatted in it. A header may contain anything. */
export function localeOf(request: Request): string {
  const wanted = (request.headers.get("accept-language") ?? "")
    .slice(0, 500)
    .split(",")
    .map((entry) => {
      const [tag = "", ...parameters] = entry.split(";").map((part) => part.trim());
      const weight = Number(/^q=([01](?:\.\d{0,3})?)$/.exec(parameters[0] ?? "q=1")?.[1] ?? "0");
      return { tag, weight };
    })
    .filter(({ tag, weight }) => weight > 0 && /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,3}$/.test(tag))
    .toSorted((one, other) => other.weight - one.weight);
  return wanted.find(({ tag }) => canWrite(tag))?.tag ?? defaultLocale;
}

function canWrite(tag: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(tag).length > 0;
  } catch {
    return false;
  }
}
