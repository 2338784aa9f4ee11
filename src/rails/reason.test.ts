import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { maxReasonChars } from "../contract/rail.ts";
import { excerptOf, reasonOf, redact } from "./reason.ts";

describe("a reason", () => {
  test("is one printable line", () => {
    expect(reasonOf("first\r\nsecond\u0000\u001b[31m red\u202e")).toBe("first second [31m red");
  });

  test("is short, well formed and free of control characters for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 2_000 }), (text) => {
        for (const line of [reasonOf(text), excerptOf(text, [])]) {
          expect(line.length).toBeLessThanOrEqual(maxReasonChars);
          expect(line.isWellFormed()).toBe(true);
          expect(line).not.toMatch(/\p{Cc}/u);
        }
      }),
    );
  });

  test("does not end in half a character when it is cut", () => {
    expect(reasonOf("😀".repeat(300)).isWellFormed()).toBe(true);
  });
});

describe("a quotation of a receiver's answer", () => {
  const secret = "whsec_ab/cd+ef==";

  test.each([
    ["as it is", secret],
    ["in JSON", JSON.stringify({ secret })],
    ["in JSON with escaped slashes", JSON.stringify({ secret }).replaceAll("/", "\\/")],
    ["in a URL", `https://example.com/?secret=${encodeURIComponent(secret)}`],
  ])("leaves out a secret %s", (_title, text) => {
    const excerpt = excerptOf(`you sent ${text}`, [secret]);
    expect(excerpt).toContain("[redacted]");
    expect(excerpt).not.toContain("cd");
  });

  test("leaves out a secret that the cut would split", () => {
    expect(excerptOf(`${"x".repeat(195)}${secret}`, [secret])).not.toContain("whsec");
  });

  test("leaves out the longer of two secrets as a whole", () => {
    expect(redact("Bearer abcdefgh", ["abcdefgh", "Bearer abcdefgh"])).toBe("[redacted]");
  });

  test("is not riddled with holes by very short values", () => {
    expect(excerptOf("a good answer", ["a", "", "go"])).toBe("a good answer");
  });

  test("never holds any of the secrets, whatever surrounds them", () => {
    const secrets = fc.array(fc.stringMatching(/^[A-Za-z0-9+/=]{8,40}$/), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(secrets, fc.string(), fc.string(), (list, before, after) => {
        const excerpt = excerptOf(list.map((each) => before + each + after).join(""), list);
        for (const each of list) expect(excerpt).not.toContain(each);
      }),
    );
  });
});
