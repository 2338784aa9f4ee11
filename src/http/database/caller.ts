/**
 * As whom a request counts, wherever something is shared out: a member of a workspace, a machine by its key, and whoever has no name by the
 * network that they call from.
 */
import { whoIs, type Session } from "../auth/session.ts";

export interface Caller {
  /** The workspace, the key, or all who have no name. */
  readonly group: string;
  /** The member, or the network. Missing where the group is one caller. */
  readonly one?: string | undefined;
}

export function callerOf(session: Session, network: string | undefined): Caller {
  const { role, claims } = session;
  if (role === "authenticated") {
    const { workspaceId, memberId } = whoIs(session);
    return { group: JSON.stringify([role, workspaceId]), one: memberId };
  }
  const group = JSON.stringify([role, claims["key_id"], claims["purpose"]]);
  return role === "anon" ? { group, one: network } : { group };
}

export function keyOf({ group, one }: Caller): string {
  return one === undefined ? group : JSON.stringify([group, one]);
}
