/** Reads what happened lately as a session, and checks the answer once. */
import { z } from "zod";
import { call } from "../../db/call.ts";
import type { GatewayDatabase } from "../gateway-database.ts";
import type { Session } from "../session.ts";
import type { Horizon } from "./watermark.ts";

const eventSchema = z.looseObject({
  id: z.string(),
  workspace_id: z.string().nullable(),
  /** Microseconds since 1970. */
  at: z.number(),
});
/** An event as the view of the API shows it; what is not named here is passed on as it is. */
export type LiveEvent = z.infer<typeof eventSchema>;

const answerSchema = z.object({ events: z.array(eventSchema) });
/** Only our own session is told how far an answer can be relied upon. */
const horizonSchema = z.object({
  at: z.number(),
  xmin: z.string().transform(BigInt),
  next: z.string().transform(BigInt),
});

export interface Recent {
  readonly events: readonly LiveEvent[];
  /** There may be more; the next page begins at the last one. */
  readonly full: boolean;
}

/** What a page of the largest events takes is well below what a client may leave unread. */
const pageSize = 200;

/** What the session may read. */
export async function readEvents(database: GatewayDatabase, session: Session, since: number): Promise<Recent> {
  return recentOf(await ask(database, session, since));
}

/** What happened to all, for the server's own session, and the horizon of the answer. */
export async function readAllEvents(
  database: GatewayDatabase,
  ownSession: Session,
  since: number,
): Promise<Recent & { readonly horizon: Horizon }> {
  const answer = await ask(database, ownSession, since);
  return { ...recentOf(answer), horizon: horizonSchema.parse(answer) };
}

function ask(database: GatewayDatabase, session: Session, since: number): Promise<unknown> {
  return database.transaction(
    session,
    (client) => call(client, "public.recent_capacity_events", { p_since: since, p_limit: pageSize }),
    { readOnly: true },
  );
}

function recentOf(answer: unknown): Recent {
  const { events } = answerSchema.parse(answer);
  return { events, full: events.length >= pageSize };
}
