/**
 * As much Markdown as Linear's texts from Headroom have: lists, quotations, bold words, and backslashes before signs that mean nothing.
 */
import { html } from "hono/html";
import type { Fragment, Html } from "../pages/layout.ts";

type Kind = "text" | "item" | "quote";

export function markdown(text: string): Html {
  const groups: { kind: Kind; lines: string[] }[] = [];
  for (const line of text.split("\n")) {
    const kind: Kind = line.startsWith("- ") ? "item" : line.startsWith(">") ? "quote" : "text";
    const bare = kind === "text" ? line : line.replace(/^(- |> ?)/, "");
    const last = groups.at(-1);
    if (last?.kind === kind) last.lines.push(bare);
    else groups.push({ kind, lines: [bare] });
  }
  return html`${groups.map(groupHtml)}`;
}

function groupHtml({ kind, lines }: { readonly kind: Kind; readonly lines: readonly string[] }): Fragment {
  if (kind === "item")
    return html`<ul>
      ${lines.map((line) => html`<li>${spans(line)}</li>`)}
    </ul>`;
  const broken = lines.map((line, index) => html`${index > 0 && html`<br />`}${spans(line)}`);
  if (kind === "quote") return html`<blockquote>${broken}</blockquote>`;
  return lines.some((line) => line !== "") && html`<p>${broken}</p>`;
}

function spans(line: string): Fragment {
  return line
    .split(/(?<!\\)\*\*(.+?)(?<!\\)\*\*/)
    .map((part, index) => (index % 2 === 1 ? html`<strong>${unescaped(part)}</strong>` : unescaped(part)));
}

function unescaped(text: string): string {
  return text.replaceAll(/\\([\\`*_[\]<>#!|~@])/g, "$1");
}
