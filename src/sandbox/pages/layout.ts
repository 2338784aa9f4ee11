/**
 * The frame of every page: the bar with links to the others, the policy that blocks foreign scripts, and the response.
 */
import { html } from "hono/html";
import { sha256 } from "../../db/hash.ts";
import { script } from "./script.ts";
import { css } from "./style.ts";

/** A piece of a page. Values in a template are escaped unless they are a piece themselves. Put attribute values in double quotes. */
export type Html = ReturnType<typeof html>;

/** What a template may contain; null, undefined and booleans render as nothing, so that `condition && html` works. */
export type Fragment = Html | string | number | boolean | null | undefined | readonly Fragment[];

export interface Page {
  readonly title: string;
  /** Which entry of the bar this is. */
  readonly current?: string;
  readonly body: Fragment;
  readonly mainClass?: string;
  readonly status?: number;
}

const bar = [
  ["/", "Overview"],
  ["/slack", "Slack"],
  ["/mail", "Mail"],
  ["/linear", "Linear"],
  ["/github", "GitHub"],
  ["/stripe", "Stripe"],
  ["/messages", "Messages"],
] as const;

const version = sha256(css + script).slice(0, 12);

/** What the pages load in addition. */
export const assets: ReadonlyMap<string, { readonly type: string; readonly text: string }> = new Map([
  ["sandbox.css", { type: "text/css", text: css }],
  ["live.js", { type: "text/javascript", text: script }],
]);

const policy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: https:",
  "frame-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
].join("; ");

export async function page({ title, current, body, mainClass, status }: Page): Promise<Response> {
  const document = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} – Headroom sandbox</title>
        <link rel="stylesheet" href="/_assets/sandbox.css?${version}" />
        <link rel="icon" href="data:," />
        <script src="/_assets/live.js?${version}" defer></script>
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header class="top">
          <strong>Headroom sandbox</strong>
          <nav aria-label="Stand-ins">${bar.map(([href, name]) => entry(href, name, current))}</nav>
        </header>
        <main id="main" class="${mainClass ?? ""}">${body}</main>
      </body>
    </html>`;
  return new Response(await document, {
    status: status ?? 200,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy,
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    },
  });
}

function entry(href: string, name: string, current: string | undefined): Html {
  return html`<a href="${href}" ${href === current && html`aria-current="page"`}>${name}</a> `;
}

/** After a form: a redirect to the page, so that a reload does not send the form twice. */
export function seeOther(location: string): Response {
  return new Response(null, { status: 303, headers: { location } });
}

/** A time that people read, in UTC, with the exact one for machines. */
export function time(at: string | number, precision: "minutes" | "seconds" = "minutes"): Html {
  const iso = new Date(at).toISOString();
  const clock = iso.slice(11, precision === "seconds" ? 19 : 16);
  return html`<time datetime="${iso}" title="${iso}">${iso.slice(0, 10)} ${clock} UTC</time>`;
}
