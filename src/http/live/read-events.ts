/** Reads recent events, as a session or as the server itself, and validates the answer once. */
import { z } from "zod";
import { call } from "../../db/call.ts";
import type { Json } from "../../db/generated.gen.ts";
import type { GatewayDatabase } from "../database/gateway-database.ts";
import type { Session } from "../auth/session.ts";
import type { Horizon } from "./watermark.ts";

const eventSchema = z.looseObject({
  id: z.string(),
  workspace_id: z.string().nullable(),
  /** Microseconds since 1970. */
  at: z.number(),
});
/** An event as the view of the API shows it; fields that are not named here are passed on unchanged. */
export type LiveEvent = z.infer<typeof eventSchema>;

const answerSchema = z.object({ events: z.array(eventSchema) });
/** Only our own session gets this, because it concerns everybody's transactions. */
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

/** A page of the largest events is well below what a client may leave unread. */
const pageSize = 200;

/** Live updates have their own share of the connections: a workspace that keeps its own share busy must not delay others here. */
export const liveShare = "live updates";

export async function readEvents(database: GatewayDatabase, session: Session, since: number): Promise<Recent> {
  return recentOf(await ask(database, session, since));
}

/** The server's own session. Its answers go to no client unfiltered. */
export const ownSession: Session = { role: "service_role", claims: { role: "service_role", purpose: "events" } };

/** All workspaces' events, and how complete the answer is. */
export async function readAllEvents(database: GatewayDatabase, since: number): Promise<Recent & Horizon> {
  const answer = await ask(database, ownSession, since);
  return { ...recentOf(answer), ...horizonSchema.parse(answer) };
}

function ask(database: GatewayDatabase, session: Session, since: number): Promise<Json> {
  return database.transaction(
    session,
    (client) => call(client, "public.recent_capacity_events", { p_since: since, p_limit: pageSize }),
    { readOnly: true, share: liveShare },
  );
}

function recentOf(answer: Json): Recent {
  const { events } = answerSchema.parse(answer);
  return { events, full: events.length >= pageSize };
}
