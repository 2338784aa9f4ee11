/**
 * Speaks to the database as PostgREST does: logged in as `authenticator`, one transaction per request, in which the role and
 * the claims of the verified token are set first.
 *
 * Owns: sessions and tokens. Does not own: who is in the directory, nor what is asserted.
 */
import type { ClientBase } from "pg";
import type { TestDatabase } from "../../helpers/database.ts";

export type GatewayRole = "anon" | "authenticated" | "service_role";

export interface Session {
  readonly role: GatewayRole;
  /** The token's claims; a string is passed unchanged, so that it can be garbage. */
  readonly claims: unknown;
}

export const anonymous: Session = { role: "anon", claims: { role: "anon" } };
export const service: Session = { role: "service_role", claims: { role: "service_role" } };

/** A member's token: who, and in which workspace. */
export function memberSession(memberId: string, workspaceId = "acme"): Session {
  return {
    role: "authenticated",
    claims: { role: "authenticated", sub: "7f9d", app_metadata: { workspace_id: workspaceId, member_id: memberId } },
  };
}

/** Runs the work as one request of the session; a failure rolls it back, and so does `dryRun`. */
export async function overHttp<T>(
  db: TestDatabase,
  session: Session,
  work: (client: ClientBase) => Promise<T>,
  options: { readonly dryRun?: boolean } = {},
): Promise<T> {
  const client = await db.as("authenticator").pool.connect();
  try {
    await client.query("begin");
    await enter(client, session);
    const result = await work(client);
    await client.query(options.dryRun === true ? "rollback" : "commit");
    return result;
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
}

/** What makes a transaction the session's. */
export function settingsOf({ role, claims }: Session): Readonly<Record<"role" | "request.jwt.claims", string>> {
  return { role, "request.jwt.claims": typeof claims === "string" ? claims : JSON.stringify(claims) };
}

/** Sets role and claims for the rest of the client's transaction. */
export async function enter(client: ClientBase, session: Session): Promise<void> {
  await client.query(
    "select set_config('role', $1, true), set_config('request.jwt.claims', $2, true)",
    Object.values(settingsOf(session)),
  );
}
