/**
 * The description of the API for people: functions and views with their comments, and the other addresses.
 *
 * Does not own: the frame, the style and the escaping (pages/).
 */
import { html } from "hono/html";
import type { ExposedFunction, ExposedRelation } from "../../db/exposed.ts";
import type { Page, Html } from "../pages/page.ts";
import type { RouteEntry } from "../route.ts";
import type { DocumentParts } from "./document.ts";

export function apiPage({ version, publicUrl, routes, schema }: DocumentParts): Page {
  const functions = schema.functions.filter(({ allowed }) => allowed.length > 0);
  const relations = schema.relations.filter(({ allowed }) => allowed.length > 0);
  const own = routes.filter((route) => route.errors !== "postgrest");
  const body = html`<h1>Headroom API</h1>
    <p class="quiet">Version ${version}. For programs: <a href="/openapi.json">openapi.json</a>.</p>
    ${introduction(publicUrl)}
    <nav aria-label="Functions and views">
      <ul>
        ${[...functions, ...relations].map(({ name }) => html`<li><a href="#${name}">${name}</a></li>`)}
      </ul>
    </nav>
    <h2 id="functions">Functions</h2>
    <p>
      Called with <code>POST</code> and a JSON object of arguments; those that only read also with <code>GET</code>.
    </p>
    ${functions.map(functionSection)}
    <h2 id="views">Views</h2>
    <p>
      Read with <code>GET</code>:
      <code>?select=id,state&amp;state=eq.UNDER_REVIEW&amp;order=created_at.desc&amp;limit=20</code>.
    </p>
    ${relations.map(relationSection)}
    <h2 id="routes">Other addresses</h2>
    ${routeTable(own)}`;
  return { title: "Headroom API", body, wide: true };
}

function introduction(publicUrl: string): Html {
  const example = `TOKEN=$(npx headroom keys token --member riley)
curl ${publicUrl}/rest/v1/rpc/get_capacity_request \\
  -H "Authorization: Bearer $TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"p_request_id": "CR-2026-000001"}'`;
  return html`<p>
      Send the token of a member (or the service key) as <code>Authorization: Bearer</code>;
      <code>headroom keys token</code> makes one for the member that you name. Clients made for PostgREST send the key
      of this server as <code>apikey</code> besides. Errors have a code for programs, a sentence, and a hint that says
      what to do.
    </p>
    <pre class="scroll" tabindex="0"><code>${example}</code></pre>`;
}

function functionSection({ name, comment, parameters, shownReturnType, allowed }: ExposedFunction): Html {
  const rows = parameters.map((parameter) => [
    html`<code>${parameter.name ?? "(the whole body)"}</code>`,
    html`${parameter.shownType}`,
    html`${parameter.required ? "yes" : "no"}`,
    html`${parameter.values?.join(", ") ?? ""}`,
  ]);
  return html`<section aria-labelledby="${name}">
    <h3 id="${name}"><code>${name}</code></h3>
    <p>${comment ?? ""}</p>
    <p class="quiet">Returns ${shownReturnType}. May be called by ${allowed.join(", ")}.</p>
    ${parameters.length > 0 && table(`Arguments of ${name}`, ["Argument", "Type", "Required", "Values"], rows)}
  </section>`;
}

function relationSection({ name, comment, columns, allowed }: ExposedRelation): Html {
  const rows = columns.map((column) => [
    html`<code>${column.name}</code>`,
    html`${column.shownType}`,
    html`${column.comment ?? column.values?.join(", ") ?? ""}`,
  ]);
  return html`<section aria-labelledby="${name}">
    <h3 id="${name}"><code>${name}</code></h3>
    <p>${comment ?? ""}</p>
    <p class="quiet">May be read by ${allowed.join(", ")}; everybody sees the rows that concern them.</p>
    ${table(`Columns of ${name}`, ["Column", "Type", "Meaning"], rows)}
  </section>`;
}

function routeTable(routes: readonly RouteEntry[]): Html {
  const rows = routes.map((route) => [
    html`<code>${route.methods.join(", ")} ${route.path}</code>`,
    html`${route.credentials}`,
    html`${route.summary}`,
  ]);
  return table("Addresses", ["Address", "Needs", "What it does"], rows);
}

/** Wide tables scroll on their own, also by keyboard, so that the page fits a phone's width. */
function table(caption: string, headings: readonly string[], rows: readonly (readonly Html[])[]): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}">
    <table>
      <thead>
        <tr>
          ${headings.map((heading) => html`<th scope="col">${heading}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${cells.map((cell) => html`<td>${cell}</td>`)}
            </tr> `,
        )}
      </tbody>
    </table>
  </div>`;
}
