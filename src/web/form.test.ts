import fc from "fast-check";
import { expect, it } from "vitest";
import { readFields } from "./form.ts";

const piece = fc.constantFrom("%", "4", "f", "+", "=", "&", "a", "%ff", "%C3", "%A9", "%00", "%2B", "%26");

it("a form is read as URLSearchParams reads it, and unencoded letters stay unchanged", () => {
  expect([...(readFields("é🚀%zz+=%F0%9F%9A%80") ?? [])]).toEqual([["é🚀%zz ", "🚀"]]);
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join("");
      expect([...(readFields(text) ?? [])]).toEqual([...new URLSearchParams(text)]);
    }),
    { numRuns: 2_000 },
  );
});

it("a form with far too many fields is not read", () => {
  expect([...(readFields("a&".repeat(199)) ?? [])]).toHaveLength(199);
  expect(readFields("a&".repeat(200))).toBeUndefined();
  expect(readFields("&".repeat(200))).toBeUndefined();
});
