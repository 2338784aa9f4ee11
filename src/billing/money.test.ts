import { describe, expect, test } from "vitest";
import { formatAmount, parseAmount } from "./money.ts";

describe("an amount that is typed", () => {
  test.each([
    ["1200.00", "USD", 120_000],
    ["1200", "USD", 120_000],
    ["0.07", "USD", 7],
    ["0.1", "USD", null],
    ["1200.5", "USD", null],
    ["1200.001", "USD", null],
    ["1,200.00", "USD", null],
    ["1e3", "USD", null],
    ["-5", "USD", null],
    ["", "USD", null],
    ["1200", "JPY", 1_200],
    ["1200.00", "JPY", null],
    ["5.120", "KWD", 5_120],
    ["5.12", "KWD", null],
    ["500", "ISK", 50_000],
    ["500.00", "ISK", null],
    ["9007199254740993.00", "USD", null],
    ["999999999999.99", "USD", 99_999_999_999_999],
  ])("%j in %s is read as %j", (text, currency, amount) => {
    const parsed = parseAmount(text, currency);
    if (amount === null) expect(parsed).toMatchObject({ outcome: "malformed" });
    else expect(parsed).toEqual({ outcome: "parsed", amount });
  });

  test("with wrong decimals is refused with what would be right", () => {
    expect(parseAmount("12.5", "USD")).toEqual({
      outcome: "malformed",
      message: "USD is written with 2 decimals: give it as in 1200.00.",
    });
    expect(parseAmount("12.50", "JPY")).toMatchObject({ message: "JPY has no decimals: give it as in 1200." });
  });
});

test("every amount is read back as it was written", () => {
  for (const currency of ["USD", "JPY", "KWD"]) {
    for (const amount of [1, 9, 10, 99, 100, 1_001, 99_999_999]) {
      const written = formatAmount(currency, amount).replace(`${currency} `, "").replaceAll(",", "");
      expect(parseAmount(written, currency)).toEqual({ outcome: "parsed", amount });
    }
  }
});
