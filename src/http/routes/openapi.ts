/**
 * The description of the API: for programs as OpenAPI, for people as a page.
 */
import { readFileSync } from "node:fs";
import { z } from "zod";
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
  const parts = async (): Promise<DocumentParts> => ({
    version: manifest.version,
    publicUrl: dependencies.publicUrl,
    routes: state.routes(),
    schema: await state.catalogue.all(),
  });
  return [
    defineRoute({
      method: "GET",
      path: "/openapi.json",
      credentials: "none",
      summary: "This description, for programs.",
      async handler() {
        return Response.json(createDocument(await parts()), { headers: { "cache-control": "public, max-age=60" } });
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
      handler: async () => Response.json(createDocument(await parts())),
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
      async handler() {
        return pageResponse(apiPage(await parts()));
      },
    }),
  ];
}
