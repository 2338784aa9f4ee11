/**
 * Asks whether a key or a session was revoked, for routes that may answer without any other query.
 *
 * Owns: which sessions can have been revoked. Does not own: the answer (public.check_request, which begins every transaction anyway).
 */
import type { GatewayDatabase } from "../database/gateway-database.ts";
import type { Session } from "./session.ts";

/** Resolves when the session is valid, and throws the database's refusal when it was revoked. */
export type RevocationCheck = (session: Session) => Promise<void>;

export function createRevocationCheck(database: GatewayDatabase): RevocationCheck {
  return async (session) => {
    if (canBeRevoked(session)) await database.run(session, [], { readOnly: true });
  };
}

/** The installation's own keys have no id; they end with the secret that signed them, and are valid without asking the database. */
function canBeRevoked({ claims }: Session): boolean {
  return claims["key_id"] !== undefined || claims["via"] === "web";
}
