/**
 * Decoding of forms: as browsers and Slack encode them, and a refusal for everything else.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createTestDatabase } from "../../../helpers/database.ts";
import { codeOf, oneOf } from "../../capacity/harness.ts";

describe("the form decoder", async () => {
  const db = await createTestDatabase();
  const decode = async (body: string): Promise<Record<string, string>> =>
    (
      await oneOf<{ fields: Record<string, string> }>(db.superuser.pool, "select inbound.form_decode($1) as fields", [
        body,
      ])
    ).fields;

  test.each<[string, Record<string, string>]>([
    ["text=a+b", { text: "a b" }],
    ["text=a%2Bb", { text: "a+b" }],
    ["text=a%20b%3Dc=d==", { text: "a b=c=d==" }],
    ["text=%F0%9F%9A%80+%C3%A9", { text: "🚀 é" }],
    ["a=1&b=&c&=x&&", { a: "1", b: "", c: "", "": "x" }],
    ["text=%5C%5Cx41%27", { text: String.raw`\\x41'` }],
    ["te%78t=%e2%82%AC", { text: "€" }],
    ["", {}],
  ])("reads %j", async (body, fields) => {
    expect(await decode(body)).toEqual(fields);
  });

  test.each([
    ["a percent sign alone", "text=%"],
    ["a percent sign with one digit", "text=%4"],
    ["invalid digits", "text=%zz"],
    ["half a character", "text=%F0%9F"],
    ["a byte that starts no character", "text=%FF"],
    ["a surrogate", "text=%ED%A0%80"],
    ["an overlong slash", "text=%C0%AF"],
    ["a NUL", "text=%00"],
    ["a field twice", "text=a&text=b"],
    ["two hundred fields and more", Array.from({ length: 201 }, (_, index) => `f${index}=1`).join("&")],
  ])("refuses %s", async (_what, body) => {
    expect(await codeOf(decode(body))).toBe("invalid_input");
  });

  test("reads everything that URLSearchParams writes", async () => {
    const text = fc.string({ unit: "binary", maxLength: 60 }).map((value) => value.replaceAll("\0", "").toWellFormed());
    await fc.assert(
      fc.asyncProperty(fc.dictionary(text, text, { maxKeys: 5 }), async (fields) => {
        expect(await decode(new URLSearchParams(fields).toString())).toEqual({ ...fields });
      }),
      { numRuns: 150 },
    );
  });

  test("decodes a megabyte in one call", async () => {
    const text = "🚀+%&".repeat(20_000);
    expect((await decode(new URLSearchParams({ payload: text }).toString()))["payload"]).toBe(text);
  });
});
