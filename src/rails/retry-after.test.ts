import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { maxRetryAfterMs, parseHttpDate, parseRetryAfter } from "./retry-after.ts";

const now = new Date("2026-03-01T12:00:00Z");

/** The three forms in which one instant may be written. */
function formsOf(date: Date): [string, string, string] {
  const preferred = date.toUTCString();
  const [, day = "", month = "", year = "", time = ""] = /^..., (\d\d) (...) (\d{4}) (\S+) GMT$/.exec(preferred) ?? [];
  const longDay = new Intl.DateTimeFormat("en", { weekday: "long", timeZone: "UTC" }).format(date);
  return [
    preferred,
    `${longDay}, ${day}-${month}-${year.slice(2)} ${time} GMT`,
    `${preferred.slice(0, 3)} ${month} ${day.replace(/^0/, " ")} ${time} ${year}`,
  ];
}

describe("Retry-After", () => {
  test.each([
    ["0", 0],
    ["7", 7_000],
    [" 120 ", 120_000],
    ["86400", maxRetryAfterMs],
    ["86401", maxRetryAfterMs],
    ["9".repeat(400), maxRetryAfterMs],
    ["Sun, 01 Mar 2026 12:00:30 GMT", 30_000],
    ["Sunday, 01-Mar-26 12:00:30 GMT", 30_000],
    ["Sun Mar  1 12:00:30 2026", 30_000],
    ["Sun, 01 Mar 2026 11:00:00 GMT", 0],
    ["Tue, 01 Mar 2033 12:00:00 GMT", maxRetryAfterMs],
  ])("of %j asks for a pause", (value, expected) => {
    expect(parseRetryAfter(value, undefined, now)).toBe(expected);
  });

  test.each([
    "",
    "soon",
    "-1",
    "1.5",
    "1e3",
    "0x10",
    "+5",
    "7 seconds",
    "2026-03-01T12:00:30Z",
    "Sun, 31 Feb 2026 12:00:30 GMT",
    "Sun, 01 Mar 2026 24:00:00 GMT",
    "Sun, 01 Mai 2026 12:00:30 GMT",
    "Sun, 01 Mar 2026 12:00:30 +0100",
  ])("of %j counts as missing", (value) => {
    expect(parseRetryAfter(value, undefined, now)).toBeUndefined();
  });

  test("that is missing gives no wait", () => {
    expect(parseRetryAfter(undefined, undefined, now)).toBeUndefined();
  });

  test("as a date is measured by the receiver's own clock when it tells the time", () => {
    const until = "Sun, 01 Mar 2026 15:00:30 GMT";
    expect(parseRetryAfter(until, "Sun, 01 Mar 2026 15:00:00 GMT", now)).toBe(30_000);
    expect(parseRetryAfter(until, "three o'clock", now)).toBe(3 * 60 * 60 * 1000 + 30_000);
  });

  test("as any whole number of seconds is that long, up to a day", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), (seconds) => {
        const expected = seconds * 1000n > BigInt(maxRetryAfterMs) ? maxRetryAfterMs : Number(seconds) * 1000;
        expect(parseRetryAfter(String(seconds), undefined, now)).toBe(expected);
      }),
    );
  });

  test("as a date means the same in all three forms", () => {
    // The form with two digits for the year can only name a time within 50 years.
    const nearby = fc.date({ min: new Date("1980-01-01"), max: new Date("2075-01-01"), noInvalidDate: true });
    fc.assert(
      fc.property(nearby, (date) => {
        const seconds = Math.floor(date.getTime() / 1000) * 1000;
        for (const form of formsOf(date)) expect(parseHttpDate(form, now)).toBe(seconds);
      }),
    );
  });

  test("of any text asks either for no pause or for one between 0 and a day", () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: "binary" }),
      fc.stringMatching(/^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/),
    );
    fc.assert(
      fc.property(text, text, (value, sent) => {
        const pauseMs = parseRetryAfter(value, sent, now);
        expect(pauseMs === undefined || (pauseMs >= 0 && pauseMs <= maxRetryAfterMs)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });
});
