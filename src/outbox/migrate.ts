/** Installs only the engine. */
import type { ClientBase } from "pg";
import { migrate as migrateParts, type MigrateOptions, type MigrationResult } from "../db/migrate.ts";

/**
 * Brings the engine in this database to this release: the schemas headroom, outbox, webhooks, payments and ledger, and their roles;
 * nothing in `public`. In one transaction, over the caller's connection, which stays open; safe when several start at the same time.
 * If the whole of Headroom is installed, it only checks whether the engine is up to date, and refuses when it is not.
 */
export function migrate(client: ClientBase, options: Omit<MigrateOptions, "only"> = {}): Promise<MigrationResult> {
  return migrateParts(client, { ...options, only: "outbox" });
}
