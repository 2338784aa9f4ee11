/** Markdown as Linear shows it. The text is a tenant's, so none of its own HTML is kept, and nothing is loaded from elsewhere. */
import { raw } from "hono/html";
import { Marked } from "marked";
import { parseUrl } from "../../db/parse-url.ts";
import type { Html } from "../pages/layout.ts";

const marked = new Marked({
  breaks: true,
  // Without these two, tags are ordinary text, and text is escaped.
  tokenizer: { html: () => undefined, tag: () => undefined },
  renderer: {
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens);
      const url = parseUrl(href);
      // Once parsed as one of these two, an address contains no quote and no bracket.
      return url?.protocol === "https:" || url?.protocol === "http:"
        ? `<a href="${url.href}" rel="noreferrer">${text}</a>`
        : text;
    },
    image({ tokens }) {
      return this.parser.parseInline(tokens);
    },
  },
});

export function markdown(text: string): Html {
  return raw(marked.parse(text, { async: false }));
}
