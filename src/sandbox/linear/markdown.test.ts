import { describe, expect, test } from "vitest";
import { markdown } from "./markdown.ts";

async function htmlOf(text: string): Promise<string> {
  return String(await markdown(text));
}

test("lists, quotations, bold words and broken lines become HTML", async () => {
  const html = await htmlOf("Rack **12**\nsecond line\n\n- one\n- two\n\n> quoted");
  expect(html).toContain("<p>Rack <strong>12</strong><br>second line</p>");
  expect(html).toMatch(/<ul>\s*<li>one<\/li>\s*<li>two<\/li>\s*<\/ul>/);
  expect(html).toMatch(/<blockquote>\s*<p>quoted<\/p>\s*<\/blockquote>/);
});

test("a backslash before a sign leaves the sign as it is", async () => {
  expect(await htmlOf("\\*not bold\\* \\<b\\> \\[x\\]\\(y\\)")).toContain("*not bold* &lt;b&gt; [x](y)");
});

describe("what a tenant wrote", () => {
  test.for([
    "<script>alert(1)</script>",
    "<script>\nalert(1)\n</script>",
    "text <img src=x onerror=alert(1)> text",
    "<kbd>raw <img src=x onerror=alert(1) ",
    "<div>\n\n<svg onload=alert(1)>\n",
    "<!-- --><style>*{display:none}</style>",
    "`<b>` and\n\n```html\n<b>\n```",
    "- <iframe src=//evil.example>\n> <iframe>",
    "| <u> |\n| --- |\n| <u> |",
    '```"><b>\nx\n```',
  ])("brings no tag of its own: %j", async (text) => {
    const known = /<\/?(?:p|ul|li|blockquote|br|code|pre|table|thead|tbody|tr|th|td)(?: class="[^"<>]*")?>/g;
    expect((await htmlOf(text)).replaceAll(known, "")).not.toMatch(/[<>]/);
  });

  test.for([
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt&#58;alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "<javascript:alert(1)>",
    "[x]: vbscript:x\n\n[x]",
    "![pixel](https://evil.example/pixel.png)",
    "[x](/relative)",
  ])("leads nowhere but to the web, and loads nothing: %j", async (text) => {
    expect(await htmlOf(text)).not.toMatch(/href|src=/);
  });

  test("may hold a link, which cannot end its attribute", async () => {
    expect(await htmlOf('[**a**](https://a.example/?b="c"&d=1#"><b>)')).toContain(
      '<a href="https://a.example/?b=%22c%22&d=1#%22%3E%3Cb%3E" rel="noreferrer"><strong>a</strong></a>',
    );
  });
});
