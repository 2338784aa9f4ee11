/**
 * The caller that a request is counted under, wherever something is shared: a member of a workspace, a machine by its key, and an anonymous
 * caller by its network.
 */
import { whoIs, type Session } from "../auth/session.ts";

export interface Caller {
  /** The workspace, the key, or all anonymous callers. */
  readonly group: string;
  /** The member, or the network. Missing if the group is one caller. */
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
