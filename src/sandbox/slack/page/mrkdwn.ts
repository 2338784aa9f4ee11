/**
 * Slack's markup as HTML: mentions, dates, links, quotations, code, bold, italic and struck text, and a few emoji.
 *
 * Owns: parsing markup. Everything else is text and is escaped.
 */
import { html } from "hono/html";
import type { Fragment, Html } from "../../pages/layout.ts";

export interface Names {
  user(id: string): string;
  channel(id: string): string;
}

const inline =
  /<(?<angle>[^<>\n]+)>|`(?<code>[^`\n]+)`|(?<![\w*])\*(?<bold>[^\s*](?:[^*\n]*[^\s*])?)\*(?![\w*])|(?<![\w_])_(?<italic>[^\s_](?:[^_\n]*[^\s_])?)_(?![\w_])|(?<![\w~])~(?<strike>[^\s~](?:[^~\n]*[^\s~])?)~(?![\w~])|:(?<emoji>[a-z0-9_+-]+):/g;

const emoji: Readonly<Record<string, string>> = {
  "+1": "👍",
  "-1": "👎",
  alarm_clock: "⏰",
  bell: "🔔",
  bulb: "💡",
  eyes: "👀",
  heavy_check_mark: "✔️",
  heavy_minus_sign: "➖",
  hourglass: "⌛",
  hourglass_flowing_sand: "⏳",
  information_source: "ℹ️",
  large_green_circle: "🟢",
  large_yellow_circle: "🟡",
  link: "🔗",
  lock: "🔒",
  memo: "📝",
  moneybag: "💰",
  no_entry: "⛔",
  package: "📦",
  red_circle: "🔴",
  rocket: "🚀",
  speech_balloon: "💬",
  stopwatch: "⏱️",
  tada: "🎉",
  warning: "⚠️",
  wave: "👋",
  white_check_mark: "✅",
  x: "❌",
};

export function mrkdwn(text: string, names: Names): Html {
  const parts = text.split(/```\n?([\s\S]*?)```/);
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<pre>${plain(part)}</pre>` : lines(part, names)))}`;
}

/** The same without its markup, shortened, for screen readers. */
export async function spoken(text: string, names: Names): Promise<string> {
  const marked = await mrkdwn(text, names);
  const bare = marked.replaceAll(/<br \/>/g, " ").replaceAll(/<[^>]+>/g, "");
  return plain(bare.replaceAll("&quot;", '"').replaceAll("&#39;", "'")).slice(0, 160);
}

/** Text in which only entities and emoji are interpreted, as in headers and buttons. */
export function plainText(text: string): string {
  return plain(text).replaceAll(/:([a-z0-9_+-]+):/g, (whole, name: string) => emoji[name] ?? whole);
}

/** Consecutive lines that begin with `>` form one quotation. */
function lines(text: string, names: Names): Fragment {
  const groups: { quoted: boolean; lines: string[] }[] = [];
  for (const line of text.split("\n")) {
    const quoted = /^(>|&gt;)/.test(line);
    const last = groups.at(-1);
    const bare = quoted ? line.replace(/^(>|&gt;) ?/, "") : line;
    if (last?.quoted === quoted) last.lines.push(bare);
    else groups.push({ quoted, lines: [bare] });
  }
  return groups.map((group) => {
    const inner = group.lines.map((line, index) => html`${index > 0 && html`<br />`}${spans(line, names)}`);
    return group.quoted ? html`<blockquote>${inner}</blockquote>` : inner;
  });
}

function spans(text: string, names: Names): Fragment {
  const pieces: Fragment[] = [];
  let at = 0;
  for (const match of text.matchAll(inline)) {
    pieces.push(plain(text.slice(at, match.index)));
    pieces.push(span(match[0], match.groups ?? {}, names));
    at = match.index + match[0].length;
  }
  pieces.push(plain(text.slice(at)));
  return pieces;
}

function span(whole: string, found: Readonly<Record<string, string | undefined>>, names: Names): Fragment {
  if (found["angle"] !== undefined) return angle(found["angle"], names);
  if (found["code"] !== undefined) return html`<code>${plain(found["code"])}</code>`;
  if (found["bold"] !== undefined) return html`<strong>${spans(found["bold"], names)}</strong>`;
  if (found["italic"] !== undefined) return html`<em>${spans(found["italic"], names)}</em>`;
  if (found["strike"] !== undefined) return html`<s>${spans(found["strike"], names)}</s>`;
  return emoji[found["emoji"] ?? ""] ?? whole;
}

/** The content of angle brackets: a person, a channel, a date or a link. */
function angle(inside: string, names: Names): Fragment {
  const [target, label] = splitOnce(inside, "|");
  if (target.startsWith("@")) return html`<span class="mention">@${names.user(target.slice(1))}</span>`;
  if (target.startsWith("#")) return html`<span class="mention">#${label ?? names.channel(target.slice(1))}</span>`;
  if (target.startsWith("!date^")) return date(target, label);
  if (target.startsWith("!")) return html`<span class="mention">@${label ?? target.slice(1)}</span>`;
  if (/^(https?:|mailto:)/.test(target)) {
    return html`<a href="${plain(target)}" rel="noreferrer">${plain(label ?? target.replace(/^mailto:/, ""))}</a>`;
  }
  return plain(`<${inside}>`);
}

function date(target: string, fallback: string | undefined): Fragment {
  const [, seconds = "", format = ""] = target.split("^");
  const at = new Date(Number(seconds) * 1000);
  if (Number.isNaN(at.getTime())) return plain(fallback ?? target);
  const told = (options: Intl.DateTimeFormatOptions): string =>
    new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", ...options }).format(at);
  const day = { day: "numeric", month: "short", year: "numeric" } as const;
  const text = format
    .replaceAll(/\{date(_\w+)?\}/g, told(day))
    .replaceAll("{time_secs}", `${told({ hour: "2-digit", minute: "2-digit", second: "2-digit" })} UTC`)
    .replaceAll("{time}", `${told({ hour: "2-digit", minute: "2-digit" })} UTC`);
  return html`<time datetime="${at.toISOString()}">${text}</time>`;
}

function plain(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

function splitOnce(text: string, by: string): [string, string?] {
  const at = text.indexOf(by);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + by.length)];
}
