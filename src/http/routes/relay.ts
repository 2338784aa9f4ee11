/**
 * The relay as a route: a database webhook or a timer posts here, and the server delivers what is due, within bounds.
 *
 * Owns: the bounds of one call and the answer. Does not own: delivering (the drainer that the server was given). The body is
 * ignored: the request only wakes the relay, and the database knows what is due.
 */
import { HeadroomError } from "../../db/errors.ts";
import type { AppState } from "../app.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { defineRoute, type RouteContext, type RouteEntry } from "../route.ts";

/** A database webhook carries the row that was inserted; a larger body is refused. */
const bodyBytes = 1024 * 1024;

export function relayRoutes(dependencies: HttpDependencies, { closing }: AppState): RouteEntry[] {
  return [
    defineRoute({
      method: "POST",
      path: "/api/internal/outbox-relay",
      credentials: "relay-secret",
      limits: { bodyBytes },
      summary: "Delivers what is due in the outbox, within bounds, and returns how much that was.",
      handler: (context) => relay(dependencies, context, closing),
    }),
  ];
}

async function relay(
  { drainer, relayBudgetMs }: HttpDependencies,
  context: RouteContext,
  closing: AbortSignal,
): Promise<Response> {
  // Read to the end, so that the connection can be reused, and refused if it is too large.
  await context.bytes();
  if (drainer === undefined) {
    throw new HeadroomError("not_configured", "This server does not deliver.", {
      hint: "Start it with rails, or let `headroom relay` deliver.",
    });
  }
  // A database webhook disconnects after a second, long before a run ends. The run continues.
  const { nextInMs, ...report } = await drainer.drain({ budgetMs: relayBudgetMs, signal: closing });
  return Response.json({ ...report, next_in_ms: nextInMs }, { headers: { "cache-control": "no-store" } });
}
