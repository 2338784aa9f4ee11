/**
 * The migrator's history: what was applied, with what content, when and by whom.
 *
 * Its tables belong to the owner of all our objects, like everything else, and are made right after the first migration,
 * which makes that owner.
 */
import type { ClientBase } from "pg";
import type { History, RecordedMigration } from "./plan.ts";
import type { MigrationFile, RecreatableFile } from "./files.ts";

export const ownerRole = "headroom_owner";

const makeSchema = `create schema if not exists headroom authorization ${ownerRole}`;

const makeTables = `
create table if not exists headroom.migrations (
  number integer primary key,
  path text not null,
  checksum text not null,
  applied_at timestamptz not null default now(),
  applied_by text not null default session_user
);
comment on table headroom.migrations is 'Migrations that were applied to this database, once each.';
create table if not exists headroom.recreatables (
  path text primary key,
  checksum text not null,
  applied_at timestamptz not null default now(),
  applied_by text not null default session_user
);
comment on table headroom.recreatables is 'Functions, views, registrations, triggers, policies and grants as they were last applied.';
revoke all on schema headroom from public;
revoke all on all tables in schema headroom from public;
`;

/**
 * Reads the history as its owner, after any other migrator, and keeps it locked until the end of the transaction. It locks the table, which
 * other logins cannot lock, and not an advisory lock, which any login can take. An empty database has no table; if two migrators make it at
 * the same time, the second gets the error that the schema exists, and tries again.
 */
export async function readHistory(client: ClientBase): Promise<History | undefined> {
  await client.query(`set local role ${ownerRole}`);
  const state = await readTables(client);
  await client.query("reset role");
  return state;
}

async function readTables(client: ClientBase): Promise<History | undefined> {
  const found = await client.query<{ exists: boolean }>(
    "select to_regclass('headroom.migrations') is not null and to_regclass('headroom.recreatables') is not null as exists",
  );
  if (found.rows[0]?.exists !== true) return undefined;
  await client.query("lock table headroom.migrations in share row exclusive mode");
  const migrations = await client.query<RecordedMigration>(
    "select number, path, checksum from headroom.migrations order by number",
  );
  const recreatables = await client.query<{ path: string; checksum: string }>(
    "select path, checksum from headroom.recreatables",
  );
  return {
    migrations: migrations.rows,
    recreatables: new Map(recreatables.rows.map((row) => [row.path, row.checksum])),
  };
}

export async function makeHistory(client: ClientBase): Promise<void> {
  await client.query(makeSchema);
  await client.query(`set local role ${ownerRole}`);
  await client.query(makeTables);
  await client.query("reset role");
}

export async function recordMigrations(client: ClientBase, files: readonly MigrationFile[]): Promise<void> {
  await client.query(
    `insert into headroom.migrations (number, path, checksum)
     select * from unnest($1::integer[], $2::text[], $3::text[])`,
    [files.map((file) => file.number), files.map((file) => file.path), files.map((file) => file.checksum)],
  );
}

/** Also forgets files that are gone, so that each is reported once. */
export async function recordRecreatables(
  client: ClientBase,
  files: readonly RecreatableFile[],
  missing: readonly string[],
): Promise<void> {
  await client.query(
    `insert into headroom.recreatables as r (path, checksum)
     select * from unnest($1::text[], $2::text[])
     on conflict (path) do update set checksum = excluded.checksum, applied_at = now(), applied_by = session_user`,
    [files.map((file) => file.path), files.map((file) => file.checksum)],
  );
  if (missing.length > 0) await client.query("delete from headroom.recreatables where path = any ($1)", [missing]);
}
