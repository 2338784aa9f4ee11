/**
 * The session: on whose behalf the server queries the database.
 *
 * Owns: what a session is, and what the sessions of a member, a service and an anonymous caller contain. Does not own: how a credential
 * proves one (credentials.ts), nor what a session may do (the database decides).
 */

export const sessionRoles = ["anon", "authenticated", "service_role"] as const;
export type SessionRole = (typeof sessionRoles)[number];

/** The claims of a verified token, handed to the database as they are. */
export type Claims = Readonly<Record<string, unknown>>;

export interface Session {
  readonly role: SessionRole;
  readonly claims: Claims;
}

export const anonymous: Session = { role: "anon", claims: { role: "anon" } };

export interface MemberIdentity {
  readonly workspaceId: string;
  readonly memberId: string;
  /** The subject of the token or of the sign-in. Default: the member's id. */
  readonly subject?: string | undefined;
  /** Set for somebody who uses our pages; events then record the web as their origin. */
  readonly via?: "web" | undefined;
}

export function memberSession({ workspaceId, memberId, subject, via }: MemberIdentity): Session {
  return {
    role: "authenticated",
    claims: {
      role: "authenticated",
      sub: subject ?? memberId,
      app_metadata: { workspace_id: workspaceId, member_id: memberId },
      ...(via === undefined ? {} : { via }),
    },
  };
}

/** A machine that acts for members; the key's id, where it has one, is recorded with what it does. */
export function serviceSession(keyId?: string): Session {
  return {
    role: "service_role",
    claims: { role: "service_role", ...(keyId === undefined ? {} : { key_id: keyId }) },
  };
}

/** The member that a session names. The database decides whether that member exists. */
export interface NamedMember {
  readonly workspaceId: string;
  readonly memberId: string;
}

export function whoIs({ claims }: Session): NamedMember {
  const metadata = claims["app_metadata"];
  const read = (name: string): string => {
    if (typeof metadata !== "object" || metadata === null) return "";
    const value: unknown = Object.getOwnPropertyDescriptor(metadata, name)?.value;
    return typeof value === "string" ? value : "";
  };
  return { workspaceId: read("workspace_id"), memberId: read("member_id") };
}
