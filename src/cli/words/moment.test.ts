import { expect, test } from "vitest";
import { parseMoment, periodOf } from "./moment.ts";

const now = new Date("2026-03-01T12:00:00Z");

test.each([
  ["2026-01-31", "2026-01-31T00:00:00.000Z"],
  ["2026-01-31T12:30:00Z", "2026-01-31T12:30:00.000Z"],
  ["2026-01-31T12:30+02:00", "2026-01-31T10:30:00.000Z"],
  ["90m", "2026-03-01T10:30:00.000Z"],
  ["45s", "2026-03-01T11:59:15.000Z"],
  ["24h", "2026-02-28T12:00:00.000Z"],
  ["7d", "2026-02-22T12:00:00.000Z"],
])("the time %j is %s", (text, expected) => {
  expect(periodOf({ from: parseMoment(text) }, now)).toEqual({ from: new Date(expected), to: undefined });
});

test.each(["", "yesterday", "2026-13-45", "2026-02-01T99:00", "-5m", "1.5h", "7 weeks", "1e3s", "12345678s"])(
  "the time %j is refused",
  (text) => {
    expect(() => parseMoment(text)).toThrow("Give a date and time");
  },
);

test("the end of a period must be after its beginning", () => {
  expect(() => periodOf({ from: parseMoment("1h"), to: parseMoment("1h") }, now)).toThrow("--from must be before --to");
});
