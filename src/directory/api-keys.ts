/**
 * Keys of machines and of members: listing issued keys, and revoking one. The keys themselves are signed tokens, which the
 * database never sees.
 */
import { call, type FunctionResult, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";

export interface ApiKey {
  readonly id: string;
  readonly role: string;
  /** Null for a service's key. */
  readonly workspaceId: string | null;
  readonly memberId: string | null;
  readonly note: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

export type KeyHolder =
  { readonly kind: "service" } | { readonly kind: "member"; readonly workspaceId: string; readonly memberId: string };

/** Registers a key before it is issued. An id is used once. */
export async function registerApiKey(
  db: Queryable,
  key: {
    readonly id: string;
    readonly holder: KeyHolder;
    readonly expiresAt?: Date | undefined;
    readonly note?: string | undefined;
  },
): Promise<{ readonly outcome: "registered"; readonly key: ApiKey } | Refused> {
  const { holder } = key;
  const row = await refusable(
    call(db, "directory.put_api_key", {
      p_id: key.id,
      p_role: holder.kind === "member" ? "authenticated" : "service_role",
      p_workspace_id: holder.kind === "member" ? holder.workspaceId : undefined,
      p_member_id: holder.kind === "member" ? holder.memberId : undefined,
      p_expires_at: key.expiresAt,
      p_note: key.note,
    }),
  );
  return "outcome" in row ? row : { outcome: "registered", key: toKey(row) };
}

/** Takes effect immediately and permanently. */
export async function revokeApiKey(
  db: Queryable,
  id: string,
): Promise<{ readonly outcome: "revoked"; readonly key: ApiKey } | Refused> {
  const row = await refusable(call(db, "directory.revoke_api_key", { p_id: id }));
  return "outcome" in row ? row : { outcome: "revoked", key: toKey(row) };
}

export async function listApiKeys(db: Queryable): Promise<readonly ApiKey[]> {
  return (await call(db, "directory.list_api_keys", {})).map(toKey);
}

function toKey(row: FunctionResult<"directory.list_api_keys">[number]): ApiKey {
  return {
    id: row.id,
    role: row.role,
    workspaceId: row.workspace_id,
    memberId: row.member_id,
    note: row.note,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  };
}
