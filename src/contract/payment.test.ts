import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { activeCurrencies, validatePayment } from "./payment.ts";
import type { Json } from "./rail.ts";

const good = { amount: 1250, currency: "EUR", destination: "account-7" } satisfies Json;
const without = (name: keyof typeof good): Json => {
  const { [name]: _left, ...rest } = good;
  return rest;
};

describe("a payment is sent", () => {
  test.each<[string, Json]>([
    ["with amount, currency and destination", good],
    ["with more in its payload", { ...good, note: "invoice 12" }],
    ["of the smallest amount", { ...good, amount: 1 }],
    ["of the largest amount that JSON keeps exact", { ...good, amount: Number.MAX_SAFE_INTEGER }],
  ])("%s", (_title, payload) => {
    expect(validatePayment(payload, "bank")).toEqual({ ok: true });
  });
});

describe("a payment is refused", () => {
  test.each<[string, Json, string]>([
    ["that is no object", "12 EUR", "a payment must be"],
    ["that is a list", [good], "a payment must be"],
    ["that is nothing", null, "a payment must be"],
    ["without an amount", without("amount"), "amount is missing"],
    ["of nothing", { ...good, amount: 0 }, "amount must be more than 0"],
    ["of less than nothing", { ...good, amount: -1 }, "amount must be more than 0"],
    ["of a fraction of a minor unit", { ...good, amount: 12.5 }, "amount must be a whole number"],
    ["of an amount in words", { ...good, amount: "1250" }, "amount must be a number"],
    ["of an amount that loses digits", { ...good, amount: 2 ** 53 }, "amount must not be beyond"],
    ["of an amount without end", { ...good, amount: Number.POSITIVE_INFINITY }, "amount must be a whole number"],
    ["of no number", { ...good, amount: Number.NaN }, "amount must be a whole number"],
    ["without a currency", without("currency"), "currency is missing"],
    ["in lower case", { ...good, currency: "eur" }, "currency must be an active"],
    ["in a currency that was withdrawn", { ...good, currency: "DEM" }, "currency must be an active"],
    ["in gold", { ...good, currency: "XAU" }, "currency must be an active"],
    ["in the code for testing", { ...good, currency: "XTS" }, "currency must be an active"],
    ["in a currency with a blank", { ...good, currency: "EUR " }, "currency must be an active"],
    ["in a currency by number", { ...good, currency: 978 }, "currency must be a string"],
    ["without a destination", without("destination"), "destination is missing"],
    ["to nowhere", { ...good, destination: "  " }, "destination must not be empty"],
    ["to a destination with a line break", { ...good, destination: "a\nb" }, "destination must not hold control"],
    ["to a destination that is too long", { ...good, destination: "a".repeat(257) }, "destination must not be longer"],
    ["to a destination that is no text", { ...good, destination: { iban: "x" } }, "destination must be a string"],
  ])("%s", (_title, payload, reason) => {
    expect(validatePayment(payload, "bank")).toEqual({ ok: false, reason: expect.stringContaining(reason) });
  });

  test("whose fields are only inherited", () => {
    expect(
      validatePayment(JSON.parse('{"__proto__": {"amount": 1, "currency": "EUR", "destination": "a"}}'), "bank").ok,
    ).toBe(false);
  });
});

describe("the destination of a payment", () => {
  test.each([
    ["pi_3Abc", true],
    ["ch_3Abc", true],
    ["acct_1Abc", true],
    ["cus_1Abc", false],
    ["pi_", false],
    ["account-7", false],
  ])("at Stripe may be %s: %s", (destination, ok) => {
    expect(validatePayment({ ...good, destination }, "stripe").ok).toBe(ok);
  });

  test("follows the rule of its own rail, and no inherited one", () => {
    const rules = { pigeon: (value: Json) => (value === "loft" ? null : "must be the loft") };
    expect(validatePayment({ ...good, destination: "loft" }, "pigeon", rules)).toEqual({ ok: true });
    expect(validatePayment(good, "pigeon", rules)).toEqual({ ok: false, reason: "destination must be the loft" });
    expect(validatePayment(good, "constructor", rules)).toEqual({ ok: true });
  });
});

describe("the list of currencies", () => {
  test("holds codes of three capital letters, each once", () => {
    expect([...activeCurrencies].every((code) => /^[A-Z]{3}$/.test(code))).toBe(true);
    expect(activeCurrencies.size).toBe(155);
  });

  test("agrees with the platform's about all but the newest", () => {
    const known = new Set(Intl.supportedValuesOf("currency"));
    const newerThanPlatforms = new Set(["VED", "XCG", "ZWG", "SLE"]);
    expect([...activeCurrencies].filter((code) => !known.has(code) && !newerThanPlatforms.has(code))).toEqual([]);
  });
});

test("no payload at all makes the validation of payments throw", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (payload, rail) => {
      const parsed: Json = JSON.parse(JSON.stringify(payload));
      expect(typeof validatePayment(parsed, rail).ok).toBe("boolean");
    }),
  );
});
