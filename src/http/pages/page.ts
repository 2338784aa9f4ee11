/**
 * The frame of every page that the server renders, and its headers.
 *
 * Owns: the document around the content, and what a browser may do with it: no script but one of ours, nothing from elsewhere, no
 * framing, no caching. Does not own: the content of a page.
 */
import { html } from "hono/html";
import type { Script } from "./script.ts";
import { styleElement, styleSource } from "./style.ts";

/** A piece of a page. Values in a template are escaped unless they are a piece themselves. Put attribute values in double quotes. */
export type Html = ReturnType<typeof html>;

/** What a template may contain; null, undefined and booleans render as nothing, so that `condition && html` works. */
export type Fragment = Html | string | number | boolean | null | undefined | readonly Fragment[];

export interface Page {
  readonly title: string;
  /** Above the content: whose page this is. */
  readonly heading?: string | undefined;
  readonly body: Html;
  readonly foot?: Fragment;
  readonly wide?: boolean | undefined;
  /** The page reloads after this time, if something on it changes. Default: it does not reload. */
  readonly refreshSeconds?: number | undefined;
  /** The address to load then. Default: the page itself. */
  readonly refreshTo?: string | undefined;
  /** A script that makes the page more convenient; everything works without it. Default: none. */
  readonly script?: Script | undefined;
}

export interface PageOptions {
  readonly status?: number | undefined;
  /**
   * `no-referrer` where the address itself is a secret. A browser then sends `Origin: null` with the page's own forms, so pages
   * whose forms rely on the Origin take `same-origin`. Default: `same-origin`.
   */
  readonly referrer?: "same-origin" | "no-referrer" | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Origins that a form of the page may lead on to. A browser applies this to the redirect that answers a form too, so if one leads to
   * Stripe, name Stripe here. Default: only our own.
   */
  readonly formOrigins?: readonly string[] | undefined;
}

function contentSecurityPolicy(script: Script | undefined, formOrigins: readonly string[] = []): string {
  return [
    "default-src 'none'",
    ...(script === undefined ? [] : [`script-src ${script.source}`, "connect-src 'self'"]),
    `style-src ${styleSource}`,
    "img-src data:",
    ["form-action 'self'", ...formOrigins].join(" "),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** An inline icon, so that browsers do not request /favicon.ico. */
const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%231d5c4b'/%3E%3Cpath d='M4 11V8m4 3V5m4 6V3' stroke='%23fff' stroke-width='2' stroke-linecap='round'/%3E%3C/svg%3E";

/** Works without script, because hardly any of our pages runs one. */
function refreshElement({ refreshSeconds, refreshTo }: Page): Html | false {
  if (refreshSeconds === undefined) return false;
  const to = refreshTo === undefined ? "" : `; url=${refreshTo}`;
  return html`<meta http-equiv="refresh" content="${refreshSeconds}${to}" />`;
}

function renderPage(page: Page): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
${refreshElement(page)}
<title>${page.title}</title>
<link rel="icon" href="${icon}">
${styleElement}
</head>
<body>
<header class="top${page.wide === true && " wide"}">${page.heading ?? "Headroom"}</header>
<main${page.wide === true && html` class="wide"`}>
<div class="paper">
${page.body}
</div>
</main>
${page.foot !== undefined && html`<footer class="foot">${page.foot}</footer>`}
${page.script?.element}
</body>
</html>
`;
}

export async function pageResponse(page: Page, options: PageOptions = {}): Promise<Response> {
  return new Response(await renderPage(page), {
    status: options.status ?? 200,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": contentSecurityPolicy(page.script, options.formOrigins),
      "referrer-policy": options.referrer ?? "same-origin",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "x-robots-tag": "noindex, nofollow",
      ...options.headers,
    },
  });
}
