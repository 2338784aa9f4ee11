/** Reads the unread count, as a session, and who was recently notified, as the server itself. */
import { call } from "../../db/call.ts";
import type { GatewayDatabase } from "../database/gateway-database.ts";
import type { NamedMember, Session } from "../auth/session.ts";
import { liveShare, ownSession } from "./read-events.ts";

export interface Unread {
  /** Up to a thousand. */
  readonly unread: number;
  /** The newest notification, read or not. */
  readonly latest: string | null;
}

export async function readUnread(database: GatewayDatabase, session: Session): Promise<Unread> {
  return database.transaction(session, (client) => call(client, "public.unread_notifications", {}), {
    readOnly: true,
    share: liveShare,
  });
}

export interface Told {
  has(member: NamedMember): boolean;
}

/** Who got or read a notification since a time, in microseconds since 1970. */
export async function readTold(database: GatewayDatabase, since: number): Promise<Told> {
  const rows = await database.transaction(
    ownSession,
    (client) => call(client, "public.recently_told", { p_since: since }),
    { readOnly: true, share: liveShare },
  );
  const told = new Set(rows.map((row) => JSON.stringify([row.workspace_id, row.member_id])));
  return { has: ({ workspaceId, memberId }) => told.has(JSON.stringify([workspaceId, memberId])) };
}
