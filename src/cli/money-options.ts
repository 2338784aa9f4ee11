/** Amounts and currencies on the command line: typed in the currency's own decimals, read exactly. */
import { InvalidArgumentError, Option } from "commander";
import { parseAmount } from "../billing/index.ts";
import { HeadroomError } from "../db/errors.ts";

export function currencyOption(description: string): Option {
  return new Option("--currency <code>", description).argParser(parseCurrency);
}

export function parseCurrency(text: string): string {
  const code = text.trim().toUpperCase();
  if (/^[A-Z]{3}$/.test(code)) return code;
  throw new InvalidArgumentError("Give the currency's code of three letters, such as USD.");
}

/** The amount in minor units, or why it cannot be one. */
export function requireAmount(text: string, currency: string): number {
  const parsed = parseAmount(text, currency);
  if (parsed.outcome === "parsed" && parsed.amount > 0) return parsed.amount;
  const wrong = parsed.outcome === "parsed" ? "Give more than nothing." : parsed.message;
  throw new HeadroomError("usage", `${JSON.stringify(text)} is not an amount in ${currency}. ${wrong}`, {
    hint: "Nothing was changed.",
  });
}
