import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { letterOf, letterSchema, linkIn } from "./letter.ts";

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

  test("of the wizard has its link below the address of the wizard, at the last step", () => {
    const order = letterSchema.parse({
      to: "buyer@acme.example",
      subject: "One step left",
      text: "See {{draft_link}}",
      html: '<a href="{{draft_link}}">Check</a>',
      draft_id: "5f8f2f0e-2b51-4c0e-9a0e-0f1d9b1c2d3e",
      draft_base_url: "https://capacity.example/new/acme",
    });
    expect(linkIn(order)).toMatchObject({ kind: "draft", id: order.draft_id });
    const letter = letterOf(order, "row@headroom.example", "abc-_DEF");
    expect(letter.text).toBe("See https://capacity.example/new/acme/abc-_DEF/4");
    expect(letter.html).toContain('href="https://capacity.example/new/acme/abc-_DEF/4"');
  });

  test.each([
    { text: "See {{draft_link}}" },
    { text: "Ready.", draft_id: payload.confirmation_token_id, draft_base_url: "https://x.example" },
    { text: "{{draft_link}}", draft_id: payload.confirmation_token_id, draft_base_url: "javascript:alert(1)" },
    {
      ...payload,
      text: "{{confirmation_link}} {{draft_link}}",
      draft_id: payload.confirmation_token_id,
      draft_base_url: "https://x.example",
    },
  ])("with half a link, or with two kinds of it, is refused: %j", (letter) => {
    expect(letterSchema.safeParse({ to: "a@b.example", subject: "Done", ...letter }).success).toBe(false);
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
