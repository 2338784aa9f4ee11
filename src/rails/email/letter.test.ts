import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { letterOf, letterSchema, linksIn } from "./letter.ts";

const payload = letterSchema.parse({
  to: "buyer@acme.example",
  subject: "Please confirm",
  text: "See {{confirmation_link}} or {{confirmation_link}}",
  html: '<a href="{{confirmation_link}}">Confirm</a>',
  confirmation_token_id: "5f8f2f0e-2b51-4c0e-9a0e-0f1d9b1c2d3e",
  confirmation_base_url: "https://capacity.example/eu/?a=1&b=2",
});

const row = { outboxId: "row", domain: "headroom.example" };

function threadOf(about: string, workspace = "acme"): string | undefined {
  const said = { to: "a@b.example", subject: "S", text: "T", thread: { about, workspace } };
  const { headers } = letterOf(letterSchema.parse(said), row);
  expect(headers["In-Reply-To"]).toBe(headers["References"]);
  return headers["References"];
}

describe("a letter", () => {
  test("has the link wherever its place is, below the address and fit for HTML", () => {
    const letter = letterOf(payload, row, { confirmation: "abc-_DEF" });
    expect(letter.text).toBe(
      "See https://capacity.example/eu/?a=1&b=2/confirm/abc-_DEF or https://capacity.example/eu/?a=1&b=2/confirm/abc-_DEF",
    );
    expect(letter.html).toContain('href="https://capacity.example/eu/?a=1&amp;b=2/confirm/abc-_DEF"');
  });

  test("is not confused by what a replacement would mean in an address", () => {
    const odd = { ...payload, confirmation_base_url: "https://capacity.example/$&$1$$" };
    expect(letterOf(odd, row, { confirmation: "t" }).text).toContain("https://capacity.example/$&$1$$/confirm/t");
  });

  test("without a link is left as it is", () => {
    const plain = letterSchema.parse({ to: "a@b.example", subject: "Done", text: "Ready." });
    expect(letterOf(plain, row)).toEqual({
      to: "a@b.example",
      subject: "Done",
      text: "Ready.",
      messageId: "row@headroom.example",
      tag: "row",
      headers: {},
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
    expect(linksIn(order)).toMatchObject([{ kind: "draft", id: order.draft_id }]);
    const letter = letterOf(order, row, { draft: "abc-_DEF" });
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
    { text: "Stop: {{unsubscribe_link}}" },
    { text: "Ready.", unsubscribe: { id: payload.confirmation_token_id, base: "https://x.example" } },
    { text: "{{unsubscribe_link}}", unsubscribe: { id: "1", base: "https://x.example" } },
    { text: "{{unsubscribe_link}}", unsubscribe: { id: payload.confirmation_token_id, base: "javascript:alert(1)" } },
    { text: "Ready.", thread: { about: "", workspace: "acme" } },
    { text: "Ready.", thread: { about: "x".repeat(101), workspace: "acme" } },
  ])("with half a link, or with two kinds of it, is refused: %j", (letter) => {
    expect(letterSchema.safeParse({ to: "a@b.example", subject: "Done", ...letter }).success).toBe(false);
  });

  test("has one line as its subject, whatever the row says", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 200 }), (subject) => {
        const letter = letterOf({ ...payload, subject }, row, { confirmation: "t" });
        expect(letter.subject).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
      }),
    );
  });

  const stoppable = (base: string) =>
    letterSchema.parse({
      to: "a@b.example",
      subject: "News",
      text: "Stop: {{unsubscribe_link}}",
      html: '<a href="{{unsubscribe_link}}">Stop</a>',
      unsubscribe: { id: payload.confirmation_token_id, base },
    });

  test("that can be stopped has the link in both texts and, by https, in the headers of RFC 8058", () => {
    const letter = letterOf(stoppable("https://capacity.example/"), row, { unsubscribe: "abc-_DEF" });
    const link = "https://capacity.example/unsubscribe/abc-_DEF";
    expect(letter.text).toBe(`Stop: ${link}`);
    expect(letter.html).toBe(`<a href="${link}">Stop</a>`);
    expect(letter.headers).toEqual({
      "List-Unsubscribe": `<${link}>`,
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    });
    expect(letterOf(stoppable("http://127.0.0.1:1"), row, { unsubscribe: "t" }).headers).toEqual({});
  });

  test("answers the same mail as every other about the same thing in the workspace, and no other", () => {
    expect(threadOf("cr-1")).toBe(threadOf("cr-1"));
    expect(new Set([threadOf("cr-1"), threadOf("cr-2"), threadOf("cr-1", "globex")]).size).toBe(3);
    for (const odd of ["a>\r\nBcc: x@y.example", 'x","acme', "<b>"]) {
      expect(threadOf(odd)).toMatch(/^<[0-9a-f]{32}@headroom\.example>$/);
    }
  });

  test("has no line break in any header, whatever the addresses in the row say", () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), fc.string(), (base, token) => {
        const { headers } = letterOf(stoppable(base), row, { unsubscribe: token });
        for (const value of Object.values(headers)) expect(value).toMatch(/^[\x21-\x7e]+$/);
      }),
    );
  });
});
