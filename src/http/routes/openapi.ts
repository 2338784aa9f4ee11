/**
 * The description of the API: for programs as OpenAPI, for people as a page.
 */
import { readFileSync } from "node:fs";
import { z } from "zod";
import type { ExposedSchema } from "../../db/exposed.ts";
import type { AppState } from "../app.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { createDocument, type DocumentParts } from "../openapi/document.ts";
import { apiPage } from "../openapi/page.ts";
import { pageResponse } from "../pages/page.ts";
import { defineRoute, type RouteEntry } from "../route.ts";

const manifest = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")));

export function openapiRoutes(dependencies: HttpDependencies, state: AppState): RouteEntry[] {
  /** Anybody may request it, so it is built once per catalogue and the same bytes are sent to everybody, however slowly they read. */
  const madeOnce = (make: (parts: DocumentParts) => Response | Promise<Response>): (() => Promise<Response>) => {
    const made = new WeakMap<ExposedSchema, { readonly headers: Headers; readonly bytes: ArrayBuffer }>();
    return async () => {
      const schema = await state.catalogue.all();
      let whole = made.get(schema);
      if (whole === undefined) {
        const { version } = manifest;
        const answer = await make({ version, publicUrl: dependencies.publicUrl, routes: state.routes(), schema });
        whole = { headers: answer.headers, bytes: await answer.arrayBuffer() };
        made.set(schema, whole);
      }
      return new Response(new Uint8Array(whole.bytes), { headers: whole.headers });
    };
  };
  const document = madeOnce((parts) => Response.json(createDocument(parts)));
  return [
    defineRoute({
      method: "GET",
      path: "/openapi.json",
      credentials: "none",
      summary: "This description, for programs.",
      async handler() {
        const answer = await document();
        answer.headers.set("cache-control", "public, max-age=60");
        return answer;
      },
    }),
    defineRoute({
      method: "GET",
      path: "/rest/v1/",
      credentials: "apikey",
      errors: "postgrest",
      cors: true,
      skipsDatabase: true,
      summary: "This description, at the address where PostgREST serves its own.",
      handler: document,
    }),
    defineRoute({
      method: "GET",
      path: "/",
      credentials: "none",
      summary: "Redirects to the page that describes the API.",
      handler: () => new Response(null, { status: 302, headers: { location: "/docs" } }),
    }),
    defineRoute({
      method: "GET",
      path: "/docs",
      credentials: "none",
      summary: "This description, for people.",
      handler: madeOnce((parts) => pageResponse(apiPage(parts))),
    }),
  ];
}
