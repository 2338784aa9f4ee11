/**
 * Declares rails to the database, so that rows can name them.
 */
import { call, type Queryable } from "../../db/call.ts";
import type { Rail } from "../../contract/rail.ts";

/** Declares the rails, and returns them by the number that rows carry. */
export async function registerRails(db: Queryable, rails: readonly Rail[]): Promise<Map<number, Rail>> {
  const byId = new Map<number, Rail>();
  for (const rail of rails) {
    const id = await call(db, "outbox.register_rail", {
      p_name: rail.name,
      p_capability: rail.capability,
      p_timeout_ms: rail.timeoutMs,
      p_dedup_window_ms: rail.dedupWindowMs ?? null,
    });
    byId.set(id, rail);
  }
  return byId;
}
