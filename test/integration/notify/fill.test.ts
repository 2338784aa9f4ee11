/** Filling in a template: what each tag does, that no value is ever read as a tag, and that nothing makes it fail. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createTestDatabase } from "../../helpers/database.ts";
import { oneOf } from "../outbox/queries.ts";

const { superuser } = await createTestDatabase({ version: 18 });

type Values = Readonly<Record<string, string | null>>;

async function fill(template: string | null, values: Values | null, most = 20_000): Promise<string> {
  const text = "select notify.fill($1, $2, $3) as filled";
  const given = [template, values === null ? null : JSON.stringify(values), most];
  return (await oneOf<{ filled: string }>(superuser.pool, text, given)).filled;
}

async function problem(template: string, most = 10_000, variables = ["a", "b"]): Promise<string | null> {
  const text = "select notify.template_problem($1, $2, $3) as problem";
  return (await oneOf<{ problem: string | null }>(superuser.pool, text, [template, most, variables])).problem;
}

const filled: readonly (readonly [string, string | null, Values | null, string])[] = [
  ["a text without tags", "Hello.", {}, "Hello."],
  ["a value", "{{a}} and {{b}}", { a: "x", b: "y" }, "x and y"],
  ["a missing value", "[{{a}}]", {}, "[]"],
  ["no template at all", null, {}, ""],
  ["no values at all", "[{{a}}]{{^a}} nobody{{/a}}", null, "[] nobody"],
  ["a section that is there", "{{#a}}yes {{a}}{{/a}}{{^a}}no{{/a}}", { a: "x" }, "yes x"],
  ["a section that is not", "{{#a}}yes {{a}}{{/a}}{{^a}}no{{/a}}", { a: null }, "no"],
  ["an empty value, which is treated as missing", "{{#a}}yes{{/a}}{{^a}}no{{/a}}", { a: "" }, "no"],
  ["a value with tags in it", "{{a}} {{b}}", { a: "{{b}} {{#b}}", b: "{{a}}" }, "{{b}} {{#b}} {{a}}"],
  ["values that make a tag together", "{{a}}{{b}}", { a: "{", b: "{a}}" }, "{{a}}"],
  ["tags with lines of their own", "1\n{{#a}}\n2 {{a}}\n{{/a}}\n{{^a}}\n3\n{{/a}}\n4", { a: "x" }, "1\n2 x\n4"],
  ["two tags on a line", "1\n{{#a}}{{/a}}\n2", { a: "x" }, "1\n\n2"],
  ["a paragraph that is left empty", "1\n\n{{a}}\n\n2", {}, "1\n\n2"],
  ["paragraphs of spaces", "1\n\n {{a}} \n\n\t{{b}}\n\n2", {}, "1\n\n2"],
  ["a first and a last one", "{{a}}\n\n1\n\n{{b}}\n", {}, "1"],
  ["nothing but empty ones", "{{a}}\n\n{{b}}", {}, ""],
  ["braces that end no tag", "a }} b } c", {}, "a }} b } c"],
  ["a tag without an end", "a {{b", { b: "x" }, "a {{b"],
  ["a section tag without an end", "a {{#b", { b: "x" }, "a {{#b"],
  ["a section without an end", "a {{#b}}c", {}, "a"],
  ["an end without a beginning", "a{{/b}} c", {}, "a c"],
  ["empty tags", "a{{}}{{#}}{{^}}{{/}}b", {}, "ab"],
  ["quotes, backslashes and regular expressions", "{{a}}\\1&", { a: "\\1 $& ' \"" }, "\\1 $& ' \"\\1&"],
];

test.each(filled)("fills in %s", async (_what, template, values, expected) => {
  expect(await fill(template, values)).toBe(expected);
});

test("stops at the shown length, however often a value is named", async () => {
  const text = await fill("{{a}}".repeat(5_000), { a: "é".repeat(4_000) }, 200);
  expect(text.length).toBeLessThan(200 * 4 + 4_000);
});

/** A second implementation: lines, sections and values as three replacements, of which only the last sees values. */
function reference(template: string, values: Values): string {
  return template
    .replaceAll(/^(\{\{[#^/][ab]\}\})\n/gm, "$1")
    .replaceAll(/\{\{([#^])([ab])\}\}([\s\S]*?)\{\{\/\2\}\}/g, (_all, kind: string, name: string, inner: string) =>
      ((values[name] ?? "") === "") === (kind === "^") ? inner : "",
    )
    .replaceAll(/\{\{([ab])\}\}/g, (_all, name: string) => values[name] ?? "")
    .replaceAll(/\n(?:[ \t]*\n){2,}/g, "\n\n")
    .replaceAll(/^[ \t\n]+|[ \t\n]+$/g, "");
}

test("fills in any template with any values as a slower implementation of the rules does", async () => {
  const words = fc.array(fc.constantFrom("x", " ", "\n", "\n\n", "}}", "{{a}}", "{{b}}"), { maxLength: 6 });
  const section = fc
    .tuple(fc.constantFrom("#", "^"), fc.constantFrom("a", "b"), fc.constantFrom("", "\n"), words)
    .map(([kind, name, line, inner]) => `{{${kind}${name}}}${line}${inner.join("")}{{/${name}}}${line}`);
  const template = fc.array(
    fc.oneof(
      words.map((each) => each.join("")),
      section,
    ),
    { maxLength: 8 },
  );
  const value = fc.option(fc.constantFrom("", "v", "{{b}}", "{{#a}}", "{{/a}}", "{", "}}", "1\n2", "$1"));
  await fc.assert(
    fc.asyncProperty(template, value, value, async (pieces, a, b) => {
      expect(await fill(pieces.join(""), { a, b })).toBe(reference(pieces.join(""), { a, b }));
      expect(await problem(`.${pieces.join("")}`)).toBeNull();
    }),
    { numRuns: 300 },
  );
});

test("never fails", async () => {
  const tag = fc.constantFrom("{{", "}}", "{", "}", "#", "^", "/", "a", "\n", "{{a}}", "{{#a}}", "{{/a}}", "{{^", "😀");
  await fc.assert(
    fc.asyncProperty(fc.array(tag, { maxLength: 20 }), async (pieces) => {
      expect(typeof (await fill(pieces.join(""), { a: "v" }))).toBe("string");
    }),
    { numRuns: 200 },
  );
});

describe("the text of a template", () => {
  const problems: readonly (readonly [string, string, RegExp])[] = [
    ["nothing", "", /empty/],
    ["spaces", " \n\t\u00a0\u200b\u2060", /empty/],
    ["too many characters", "x".repeat(10_001), /10001 characters, and may have 10000/],
    ["too many tags", "{{a}}".repeat(201), /201 tags, and may have 200/],
    ["a bell", "a\u0007", /control characters/],
    ["an escape of the terminal", "\u001b[2J", /control characters/],
    ["a mark of direction", "a\u202eb", /direction/],
    ["an unknown variable", "{{c}}", /\{\{c\}\} is not one of its variables: a, b/],
    ["an unknown section", "{{#c}}x{{/c}}", /\{\{c\}\} is not one of its variables/],
    ["the customer's link", "{{confirmation_link}}", /a mail adds its links itself/],
    ["the link to stop mails", "{{unsubscribe_link}}", /a mail adds its links itself/],
    ["a link within a third brace", "{{{confirmation_link}}}", /is not a tag|does not end/],
    ["a third brace", "{{{a}}}", /does not end/],
    ["spaces in a tag", "{{ a }}", /without spaces/],
    ["capitals", "{{A}}", /is not a tag/],
    ["a comment", "{{! note }}", /is not a tag/],
    ["an included template", "{{> a}}", /is not a tag/],
    ["other delimiters", "{{=<% %>=}}", /is not a tag/],
    ["a path", "{{a.b}}", /is not a tag/],
    ["an empty tag", "{{}}", /is not a tag/],
    ["a tag without an end", "a {{a", /does not end/],
    ["a tag over two lines", "{{a\n}}", /does not end/],
    ["a section without an end", "{{#a}}x", /\{\{\/a\}\} is missing/],
    ["an end without a beginning", "x{{/a}}", /has not begun/],
    ["another end", "{{#a}}x{{/b}}", /has not begun/],
    ["sections within sections", "{{#a}}{{#b}}x{{/b}}{{/a}}", /do not nest/],
  ];

  test.each(problems)("is refused with %s", async (_what, template, words) => {
    expect(await problem(template)).toMatch(words);
  });

  test("is accepted with what any text may contain", async () => {
    expect(await problem("<b>&\"'</b> {{a}} *x* \\n `}}` 👩‍👩‍👧 {{^b}}\tnone\n{{/b}}")).toBeNull();
    expect(await problem("a text", 10_000, [])).toBeNull();
    expect(await problem("{{a}}", 10_000, [])).toMatch(/its variables: none/);
  });
});
