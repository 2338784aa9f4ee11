/**
 * Checks a payment before any rail is called (requirement O15).
 *
 * Owns: amount, currency and destination of a payload that moves money. Does not own: whether the money is there, or
 * what a rail makes of the rest of the payload. The relay checks every row of a stream that carries money; a row that
 * does not pass is FAILED without a call.
 */
import type { Json, Validation } from "./rail.ts";

/** Says what is wrong with a destination, as the end of "destination …"; null if nothing is. */
export type DestinationRule = (destination: Json) => string | null;

/** Rails whose destinations have a special form; every other rail gets the default rule. */
export type DestinationRules = Readonly<Record<string, DestinationRule>>;

const maxDestinationChars = 256;

/** The minimum for every rail: a name for where the money goes, which a person can read in the archive. */
export const defaultDestinationRule: DestinationRule = (destination) => {
  if (typeof destination !== "string") return "must be a string";
  if (destination.trim() === "") return "must not be empty";
  if (destination.length > maxDestinationChars) return `must not be longer than ${maxDestinationChars} characters`;
  if (/\p{Cc}/u.test(destination)) return "must not hold control characters";
  if (destination !== destination.trim()) return "must not begin or end with white space";
  return null;
};

export const destinationRules: DestinationRules = {
  // A refund names the payment, a payout the account; anything else at Stripe receives no money.
  stripe: (destination) =>
    typeof destination === "string" && /^(pi|ch|acct|ba|card)_[A-Za-z0-9]{1,250}$/.test(destination)
      ? null
      : "must be the id of a payment intent, charge, account, bank account or card at Stripe",
};

/**
 * Checks `amount` (a whole number of minor units above 0), `currency` (an active ISO 4217 code) and `destination` (by
 * the rule of the rail). Reasons name the field and the rule, never the value: it may be somebody's account.
 */
export function validatePayment(payload: Json, rail: string, rules: DestinationRules = destinationRules): Validation {
  if (typeof payload !== "object" || payload === null || Array.isArray(payload)) {
    return bad("a payment must be a JSON object with amount, currency and destination");
  }
  const fields = new Map(Object.entries(payload));
  const rule = (Object.hasOwn(rules, rail) ? rules[rail] : undefined) ?? defaultDestinationRule;
  const wrongAmount = amountProblem(fields.get("amount"));
  if (wrongAmount !== null) return bad(`amount ${wrongAmount}`);
  const wrongCurrency = currencyProblem(fields.get("currency"));
  if (wrongCurrency !== null) return bad(`currency ${wrongCurrency}`);
  const destination = fields.get("destination");
  const wrongDestination = destination === undefined ? "is missing" : rule(destination);
  if (wrongDestination !== null) return bad(`destination ${wrongDestination}`);
  return { ok: true };
}

function bad(reason: string): Validation {
  return { ok: false, reason };
}

function amountProblem(amount: Json | undefined): string | null {
  if (amount === undefined) return "is missing";
  if (typeof amount !== "number") return "must be a number of minor units, not a string or anything else";
  if (!Number.isInteger(amount)) return "must be a whole number of minor units";
  // Larger JSON numbers may lose digits between programs; an amount must not.
  if (!Number.isSafeInteger(amount)) return `must not be beyond ${Number.MAX_SAFE_INTEGER}`;
  return amount > 0 ? null : "must be more than 0";
}

function currencyProblem(currency: Json | undefined): string | null {
  if (currency === undefined) return "is missing";
  if (typeof currency !== "string") return "must be a string";
  return activeCurrencies.has(currency) ? null : "must be an active ISO 4217 code of three capital letters";
}

/**
 * The currencies of ISO 4217 that are valid for payments in 2026. Intl also lists codes that were withdrawn long ago. Left
 * out on purpose: fund codes, metals, drawing rights and the codes for testing and for no currency.
 */
export const activeCurrencies: ReadonlySet<string> = new Set(
  `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY COP
   CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR
   IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU
   MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG
   SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV
   WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG`.split(/\s+/),
);
