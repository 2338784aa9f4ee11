/**
 * `/rest/v1`: the same API as PostgREST gives on Supabase, for the functions and relations of schema public.
 */
import type { AppState } from "../app.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { RestError } from "../rest/errors.ts";
import { createRestSurface } from "../rest/surface.ts";
import { defineRoute, type RouteDefinition, type RouteEntry } from "../route.ts";

/** As on hosted Supabase; a client that wants more asks for pages. */
const maxRows = 1_000;

const shared = { credentials: "apikey", errors: "postgrest", cors: true } as const satisfies Partial<RouteDefinition>;

export function restRoutes(_dependencies: HttpDependencies, { catalogue }: AppState): RouteEntry[] {
  const surface = createRestSurface({ catalogue, maxRows });
  return [
    defineRoute({
      ...shared,
      method: ["GET", "POST"],
      path: "/rest/v1/rpc/:function",
      summary: "Calls a function.",
      handler: (context) => surface.call(context, context.params["function"] ?? ""),
    }),
    defineRoute({
      ...shared,
      method: ["PUT", "PATCH", "DELETE"],
      path: "/rest/v1/rpc/:function",
      skipsDatabase: true,
      summary: "Refused: a function is called with GET or POST.",
      handler(context) {
        throw new RestError(405, "PGRST101", `Cannot use the ${context.method} method on RPC`);
      },
    }),
    defineRoute({
      ...shared,
      method: "GET",
      path: "/rest/v1/:relation",
      summary: "Reads a view or table.",
      handler: (context) => surface.read(context, context.params["relation"] ?? ""),
    }),
    defineRoute({
      ...shared,
      method: ["POST", "PUT", "PATCH", "DELETE"],
      path: "/rest/v1/:relation",
      skipsDatabase: true,
      summary: "Refused: changes are made by functions.",
      handler(context) {
        throw new RestError(405, "PGRST117", `Unsupported HTTP method: ${context.method}`, {
          hint: "Views are read-only. Changes are made by functions: POST /rest/v1/rpc/<function>.",
        });
      },
    }),
  ];
}
