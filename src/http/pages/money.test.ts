import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { localeOf, moneyInWords } from "./money.ts";

/** Blanks that do not break are blanks to a reader. */
const plain = (text: string): string => text.replace(/[\u00a0\u202f]/g, " ");

describe("an amount", () => {
  test.each([
    ["USD", 2, 120_000, "en-US", "USD 1,200.00"],
    ["USD", 2, 120_000, "de-DE", "1.200,00 USD"],
    ["USD", 2, 5, "en-US", "USD 0.05"],
    ["JPY", 0, 1200, "en-US", "JPY 1,200"],
    ["KWD", 3, 1_234_560, "en-US", "KWD 1,234.560"],
    ["ISK", 2, 500_000, "en-US", "ISK 5,000"],
    ["UGX", 2, 500_000, "en-US", "UGX 5,000"],
    ["USD", 2, 0, "en-US", "USD 0.00"],
    ["USD", 2, -150, "en-US", "-USD 1.50"],
  ])("in %s with %i decimals: %i for %s is %s", (currency, digits, amount, locale, words) => {
    expect(plain(moneyInWords({ currency, amount, digits }, locale))).toBe(words);
  });

  test("loses nothing, however large it is, and always names its currency", () => {
    const currencies = fc.constantFrom<[string, number]>(["USD", 2], ["JPY", 0], ["KWD", 3], ["ISK", 2]);
    fc.assert(
      fc.property(currencies, fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), ([currency, digits], amount) => {
        const words = moneyInWords({ currency, amount, digits }, "en-US");
        expect(words).toContain(currency);
        const [whole = "", fraction = ""] = words.replace(/[^\d.]/g, "").split(".");
        expect(Number(BigInt(`${whole}${fraction.padEnd(digits, "0")}`))).toBe(amount);
      }),
    );
  });
});

describe("a reader's locale", () => {
  test.each([
    ["de-CH,de;q=0.9,en;q=0.8", "de-CH"],
    ["xx-nonsense;q=1,fr;q=0.5", "fr"],
    ["en;q=0.1, sv", "sv"],
    ["en;q=0, de;q=0.5", "de"],
    ["*", "en-US"],
    ["", "en-US"],
    ["<script>", "en-US"],
    ["de;q=abc", "en-US"],
    ["a".repeat(5000), "en-US"],
  ])("by %s is %s", (header, locale) => {
    expect(localeOf(new Request("http://x/", { headers: { "accept-language": header } }))).toBe(locale);
  });

  test("is one that numbers can be written in, whatever the header says", () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 60 }).filter((text) => /^[\x20-\x7e]*$/.test(text)),
        (header) => {
          const locale = localeOf(new Request("http://x/", { headers: { "accept-language": header } }));
          expect(moneyInWords({ currency: "USD", amount: 100, digits: 2 }, locale)).toContain("USD");
        },
      ),
    );
  });
});
