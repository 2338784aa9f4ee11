/** `/events`: live updates for a member who is signed in, as server-sent events. */
import { HeadroomError } from "../../db/errors.ts";
import type { AppState } from "../app.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { EventFeed } from "../live/event-feed.ts";
import { streamHeaders } from "../live/stream.ts";
import { defineRoute, type RouteEntry } from "../route.ts";

export function eventRoutes(
  { database, log, live, now = Date.now }: HttpDependencies,
  { closing }: AppState,
): RouteEntry[] {
  const feed = new EventFeed({ database, log, closing, options: live, now });
  return [
    defineRoute({
      method: "GET",
      path: "/events",
      credentials: "member",
      skipsDatabase: true,
      summary:
        "Live updates as server-sent events: events of the requests that the member may read, resumable by Last-Event-ID; and as `notifications` how much is unread in their inbox.",
      handler(context) {
        const since = sinceOf(context.request);
        // For HEAD nobody reads a body, so no stream is opened that would have to be closed.
        if (context.method === "HEAD") return new Response(null, { headers: streamHeaders });
        return feed.open(context, since);
      },
    }),
  ];
}

/** From the header that browsers send when they reconnect. */
function sinceOf(request: Request): number | undefined {
  const given = request.headers.get("last-event-id");
  if (given === null || given === "") return undefined;
  if (/^\d{1,16}$/.test(given)) return Number(given);
  throw new HeadroomError("invalid_input", "Last-Event-ID is not an id that this server sent.", {
    hint: "Leave it out to start from now.",
  });
}
