/** Amounts in minor units as Stripe counts them: which are accepted, and how each is written. */
import { describe, expect, test } from "vitest";
import { createTestDatabase, POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf } from "../../outbox/queries.ts";

/** Currency, amount, words, and the beginning of the refusal. */
const table: readonly (readonly [string, string, string, string | null])[] = [
  ["USD", "1", "USD 0.01", null],
  ["USD", "120000", "USD 1,200.00", null],
  ["USD", "99999999", "USD 999,999.99", null],
  ["USD", "100000000", "USD 1,000,000.00", "amount: at most USD 999,999.99"],
  ["USD", "0", "USD 0.00", "amount: a whole number"],
  ["USD", "-5", "USD -0.05", "amount: a whole number"],
  ["EUR", "50", "EUR 0.50", null],
  ["HUF", "17500", "HUF 175.00", null],
  ["TWD", "80050", "TWD 800.50", null],
  ["JPY", "500", "JPY 500", null],
  ["JPY", "99999999", "JPY 99,999,999", null],
  ["JPY", "100000000", "JPY 100,000,000", "amount: at most JPY 99,999,999"],
  ["IDR", "999999999999", "IDR 9,999,999,999.99", null],
  ["IDR", "1000000000000", "IDR 10,000,000,000.00", "amount: at most IDR 9,999,999,999.99"],
  ["KRW", "1234567", "KRW 1,234,567", null],
  ["CLP", "990", "CLP 990", null],
  ["XOF", "1000", "XOF 1,000", null],
  ["MGA", "4", "MGA 4", null],
  ["KWD", "5120", "KWD 5.120", null],
  ["KWD", "5124", "KWD 5.124", "amount: in KWD it ends in 0"],
  ["BHD", "10", "BHD 0.010", null],
  ["TND", "99999990", "TND 99,999.990", null],
  ["OMR", "100000000", "OMR 100,000.000", "amount: at most OMR 99,999.990"],
  ["JOD", "1", "JOD 0.001", "amount: in JOD it ends in 0"],
  ["ISK", "500", "ISK 5", null],
  ["ISK", "50000", "ISK 500", null],
  ["ISK", "550", "ISK 5.50", "amount: in ISK it ends in 00"],
  ["UGX", "350000", "UGX 3,500", null],
  ["UGX", "350001", "UGX 3,500.01", "amount: in UGX it ends in 00"],
  ["UGX", "99999999999", "UGX 999,999,999.99", "amount: at most UGX 999,999"],
  ["XAU", "100", "100 minor units of XAU", "currency: one that Stripe accepts"],
  ["usd", "100", "100 minor units of usd", "currency: one that Stripe accepts"],
  ["<b>", "100", "100 minor units of <b>", "currency: one that Stripe accepts"],
  ["", "100", "100 minor units of ", "currency: one that Stripe accepts"],
  ["USD", "9223372036854775807", "USD 92,233,720,368,547,758.07", "amount: at most USD 999,999.99"],
];

const zeroDecimal = "BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF".split(" ");
const threeDecimal = "BHD JOD KWD OMR TND".split(" ");

describe.each(POSTGRES_VERSIONS)("amounts on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version });
  const superuser = db.superuser.pool;

  test.each(table)("%s %s is written as %s", async (currency, amount, words, problem) => {
    const answer = await oneOf<{ words: string; problem: string | null }>(
      superuser,
      "select billing.amount_words($1, $2) as words, billing.amount_problem($1, $2) as problem",
      [currency, amount],
    );
    expect(answer.words).toBe(words);
    if (problem === null) expect(answer.problem).toBeNull();
    else expect(answer.problem?.startsWith(problem), answer.problem ?? "no problem").toBe(true);
  });

  test("every currency that Stripe counts with no or three decimals is known as such, and no other", async () => {
    const rows = await superuser.query<{ currency: string; digits: number }>(
      `select c as currency, billing.currency_digits(c) as digits
         from (select chr(a) || chr(b) || chr(d) as c from generate_series(65, 90) a, generate_series(65, 90) b, generate_series(65, 90) d) x
        where billing.currency_digits(c) is not null`,
    );
    const withDigits = (digits: number) =>
      rows.rows
        .filter((row) => row.digits === digits)
        .map((row) => row.currency)
        .toSorted();
    expect(withDigits(0)).toEqual(zeroDecimal);
    expect(withDigits(3)).toEqual(threeDecimal);
    expect(withDigits(2)).toContain("ISK");
    expect(withDigits(2)).toContain("UGX");
    expect(rows.rows.length).toBeGreaterThan(130);
  });
});
