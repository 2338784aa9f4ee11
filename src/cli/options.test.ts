import { expect, test } from "vitest";
import { parseWhole } from "./options.ts";

test.each([
  ["0", 0],
  ["-12", -12],
  [" 100 ", 100],
])("%j is a whole number", (text, value) => {
  expect(parseWhole(-100, 100)(text)).toBe(value);
});

test.each(["", "1.5", "1e1", "0x10", "ten", "101", "-101"])("%j is refused", (text) => {
  expect(() => parseWhole(-100, 100)(text)).toThrow("Give a whole number from -100 to 100.");
});
