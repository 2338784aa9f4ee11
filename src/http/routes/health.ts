/**
 * For monitoring: whether the process answers, whether it can serve, and its metrics.
 */
import type { AppState } from "../app.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { defineRoute, type RouteEntry } from "../route.ts";

/** Health checks come often and from one address. */
const limits = { rate: { burst: 200, perSecond: 50 } } as const;

export function healthRoutes(dependencies: HttpDependencies, state: AppState): RouteEntry[] {
  return [
    defineRoute({
      method: "GET",
      path: "/healthz",
      credentials: "none",
      limits,
      summary: "Whether the process answers.",
      handler: () => text(200, "ok\n"),
    }),
    defineRoute({
      method: "GET",
      path: "/readyz",
      credentials: "none",
      limits,
      summary: "Whether it can serve: not shutting down, and the database answers.",
      async handler() {
        if (state.closing.aborted) return text(503, "shutting down\n");
        try {
          await dependencies.database.ask({ text: "select 1" });
          return text(200, "ok\n");
        } catch {
          // The error may name hosts and users.
          return text(503, "the database cannot be reached\n");
        }
      },
    }),
    defineRoute({
      method: "GET",
      path: "/metrics",
      // Metrics reveal the volume of business, and this port may be public.
      credentials: dependencies.metricsOpen === true ? "none" : "service",
      limits,
      skipsDatabase: true,
      summary: "What the server, and the relay that runs with it, measured; for Prometheus.",
      async handler() {
        const parts = [await state.metrics.text()];
        if (dependencies.relay !== undefined) parts.push(await dependencies.relay.metrics());
        return new Response(parts.join("\n"), { headers: { "content-type": state.metrics.contentType } });
      },
    }),
  ];
}

function text(status: number, body: string): Response {
  return new Response(body, { status, headers: { "content-type": "text/plain; charset=utf-8" } });
}
