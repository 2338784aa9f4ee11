import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { letterOf, letterSchema } from "./letter.ts";

const payload = letterSchema.parse({
  to: "buyer@acme.example",
  subject: "Please confirm",
  text: "See {{confirmation_link}} or {{confirmation_link}}",
  html: '<a href="{{confirmation_link}}">Confirm</a>',
  confirmation_token_id: "5f8f2f0e-2b51-4c0e-9a0e-0f1d9b1c2d3e",
  confirmation_base_url: "https://capacity.example/eu/?a=1&b=2",
});

describe("a letter", () => {
  test("has the link wherever its place is, below the address and fit for HTML", () => {
    const letter = letterOf(payload, "row@headroom.example", "abc-_DEF");
    expect(letter.text).toBe(
      "See https://capacity.example/eu/?a=1&b=2/confirm/abc-_DEF or https://capacity.example/eu/?a=1&b=2/confirm/abc-_DEF",
    );
    expect(letter.html).toContain('href="https://capacity.example/eu/?a=1&amp;b=2/confirm/abc-_DEF"');
  });

  test("is not confused by what a replacement would mean in an address", () => {
    const odd = { ...payload, confirmation_base_url: "https://capacity.example/$&$1$$" };
    expect(letterOf(odd, "row@headroom.example", "t").text).toContain("https://capacity.example/$&$1$$/confirm/t");
  });

  test("without a link is left as it is", () => {
    const plain = letterSchema.parse({ to: "a@b.example", subject: "Done", text: "Ready." });
    expect(letterOf(plain, "row@b.example", undefined)).toEqual({
      to: "a@b.example",
      subject: "Done",
      text: "Ready.",
      messageId: "row@b.example",
    });
  });

  test("has one line as its subject, whatever the row says", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 200 }), (subject) => {
        const letter = letterOf({ ...payload, subject }, "row@headroom.example", "t");
        expect(letter.subject).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
      }),
    );
  });
});
