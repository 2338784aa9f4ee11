import { expect, test } from "vitest";
import { remainingInWords } from "./time.ts";

const now = new Date("2026-11-15T10:00:00Z");
const hourMs = 3_600_000;

test.each([
  [7 * 24 * hourMs - 60_000, "7 days"],
  [6.4 * 24 * hourMs, "6 days"],
  [47.6 * hourMs, "48 hours"],
  [2.4 * hourMs, "2 hours"],
  [1.5 * hourMs, "90 minutes"],
  [60_000, "1 minute"],
  [59_999, "less than a minute"],
  [-5, "less than a minute"],
])("%d ms before the end it is in %s", (left, words) => {
  expect(remainingInWords(new Date(now.getTime() + left), now)).toBe(words);
});
