/**
 * The description of the API for people: one page, rendered here, without scripts and without anything from elsewhere.
 */
import { createHash } from "node:crypto";
import { html, raw } from "hono/html";
import type { ExposedFunction, ExposedRelation, ExposedSchema } from "../../db/exposed.ts";
import type { RouteEntry } from "../route.ts";

const style = `
:root { color-scheme: light dark; --text: #1a1f26; --quiet: #55606e; --line: #d5dae1; --back: #fff; --raised: #f4f6f8; --link: #0b57c2; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e9ee; --quiet: #a3adba; --line: #343c47; --back: #14181d; --raised: #1d232a; --link: #8ab8ff; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.55 system-ui, sans-serif; }
main, header, nav { max-width: 60rem; margin: 0 auto; padding: 0 1rem; }
header { padding-top: 1.5rem; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.75rem 0 .25rem; overflow-wrap: anywhere; }
p { margin: .25rem 0; }
.quiet { color: var(--quiet); }
a { color: var(--link); }
a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--back); padding: .5rem; }
code { font: .9em ui-monospace, monospace; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; font-size: .92rem; }
caption { text-align: left; color: var(--quiet); padding-bottom: .25rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); }
pre { background: var(--raised); padding: .75rem; border-radius: .4rem; overflow-x: auto; }
nav ul { columns: 16rem; padding-left: 1.1rem; margin: .5rem 0; }
footer { height: 3rem; }
`;

const styleHash = createHash("sha256").update(style).digest("base64");

/** The page may use its own style and nothing else. */
export const pagePolicy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export interface PageParts {
  readonly version: string;
  readonly publicUrl: string;
  readonly routes: readonly RouteEntry[];
  readonly schema: ExposedSchema;
}

type Html = ReturnType<typeof html>;

export async function renderPage({ version, publicUrl, routes, schema }: PageParts): Promise<string> {
  const functions = schema.functions.filter(({ allowed }) => allowed.length > 0);
  const relations = schema.relations.filter(({ allowed }) => allowed.length > 0);
  const own = routes.filter((route) => route.errors !== "postgrest");
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Headroom API</title>
        <style>
          ${raw(style)}
        </style>
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header>
          <h1>Headroom API</h1>
          <p class="quiet">Version ${version}. For programs: <a href="/openapi.json">openapi.json</a>.</p>
        </header>
        <nav aria-label="Functions and views">
          <ul>
            ${functions.map(({ name }) => html`<li><a href="#${name}">${name}</a></li>`)}
            ${relations.map(({ name }) => html`<li><a href="#${name}">${name}</a></li>`)}
          </ul>
        </nav>
        <main id="content">
          ${introduction(publicUrl)}
          <h2 id="functions">Functions</h2>
          <p>
            Called with <code>POST</code> and a JSON object of arguments; those that only read also with
            <code>GET</code>.
          </p>
          ${functions.map(functionSection)}
          <h2 id="views">Views</h2>
          <p>
            Read with <code>GET</code>:
            <code>?select=id,state&amp;state=eq.UNDER_REVIEW&amp;order=created_at.desc&amp;limit=20</code>.
          </p>
          ${relations.map(relationSection)}
          <h2 id="routes">Other addresses</h2>
          ${routeTable(own)}
        </main>
        <footer></footer>
      </body>
    </html> `;
  // hono trims nothing and escapes every value; the style must stand exactly as it was hashed.
  const text = String(await page);
  return text.replace(/<style>[^]*?<\/style>/, () => `<style>${style}</style>`);
}

function introduction(publicUrl: string): Html {
  const example = `curl ${publicUrl}/rest/v1/rpc/get_capacity_request \\
  -H "apikey: $ANON_KEY" -H "Authorization: Bearer $TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"p_request_id": "CR-2026-000042"}'`;
  return html`<p>
      Send the key of this server as <code>apikey</code>, and the token of a member (or the service key) as
      <code>Authorization: Bearer</code>. Errors have a code for programs, a sentence, and a hint that says what to do.
    </p>
    <pre><code>${example}</code></pre>`;
}

function functionSection({ name, comment, parameters, shownReturnType, allowed }: ExposedFunction): Html {
  const rows = parameters.map(
    (parameter) =>
      html`<tr>
        <td><code>${parameter.name ?? "(the whole body)"}</code></td>
        <td>${parameter.shownType}</td>
        <td>${parameter.required ? "yes" : "no"}</td>
        <td>${parameter.values?.join(", ") ?? ""}</td>
      </tr>`,
  );
  return html`<section aria-labelledby="${name}">
    <h3 id="${name}"><code>${name}</code></h3>
    <p>${comment ?? ""}</p>
    <p class="quiet">Returns ${shownReturnType}. May be called by ${allowed.join(", ")}.</p>
    ${parameters.length === 0 ? "" : table(`Arguments of ${name}`, ["Argument", "Type", "Required", "Values"], rows)}
  </section>`;
}

function relationSection({ name, comment, columns, allowed }: ExposedRelation): Html {
  const rows = columns.map(
    (column) =>
      html`<tr>
        <td><code>${column.name}</code></td>
        <td>${column.shownType}</td>
        <td>${column.comment ?? column.values?.join(", ") ?? ""}</td>
      </tr>`,
  );
  return html`<section aria-labelledby="${name}">
    <h3 id="${name}"><code>${name}</code></h3>
    <p>${comment ?? ""}</p>
    <p class="quiet">May be read by ${allowed.join(", ")}; everybody sees the rows that concern them.</p>
    ${table(`Columns of ${name}`, ["Column", "Type", "Meaning"], rows)}
  </section>`;
}

function routeTable(routes: readonly RouteEntry[]): Html {
  const rows = routes.map(
    (route) =>
      html`<tr>
        <td><code>${route.methods.join(", ")} ${route.path}</code></td>
        <td>${route.credentials}</td>
        <td>${route.summary}</td>
      </tr>`,
  );
  return table("Addresses", ["Address", "Needs", "What it does"], rows);
}

function table(caption: string, headings: readonly string[], rows: readonly Html[]): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${headings.map((heading) => html`<th scope="col">${heading}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}
