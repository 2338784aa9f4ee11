/** `/events`: live updates for a member who is signed in, as server-sent events. */
import { HeadroomError } from "../../db/errors.ts";
import type { AppState } from "../app.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { EventFeed } from "../live/event-feed.ts";
import { defineRoute, type RouteEntry } from "../route.ts";

export function eventRoutes({ database, log, live }: HttpDependencies, { closing }: AppState): RouteEntry[] {
  const feed = new EventFeed({ database, log, closing, options: live });
  return [
    defineRoute({
      method: "GET",
      path: "/events",
      credentials: "member",
      summary:
        "Live updates as server-sent events: what happens to the requests that the member may read. Resumable by Last-Event-ID.",
      handler: ({ request, session, signal }) => feed.open(session, sinceOf(request), signal),
    }),
  ];
}

/** By the header that browsers send when they reconnect. */
function sinceOf(request: Request): number | undefined {
  const given = request.headers.get("last-event-id");
  if (given === null || given === "") return undefined;
  if (/^\d{1,16}$/.test(given)) return Number(given);
  throw new HeadroomError("invalid_input", "Last-Event-ID is not one of ours.", {
    hint: "Leave it out to begin anew.",
  });
}
