/**
 * The migrator: brings a database to the schema of this release, in one transaction, or leaves it unchanged.
 *
 * Works as a superuser and as an ordinary role with CREATEROLE (as on Supabase), on PostgreSQL 15 and later, and behind a
 * transaction pooler: no setting outlives the transaction. Forward migrations run once; functions, views, triggers,
 * registrations, policies and grants are applied again when their file changed. Afterwards the product's timers are registered with
 * pg_cron, if the database has it.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { ClientBase } from "pg";
import { HeadroomError, sqlStateOf, toHeadroomError } from "./errors.ts";
import { schemasOf, type Part } from "./layers.ts";
import { ownSqlDir, readSqlFolder, type SqlFile, type SqlFolder } from "./migrate/files.ts";
import { refuseForeignSchemas } from "./migrate/foreign-schemas.ts";
import { makeHistory, ownerRole, readHistory, recordMigrations, recordRecreatables } from "./migrate/history.ts";
import { ensureOwnerUsable } from "./migrate/owner.ts";
import { findMisowned, repairRights, takeBack, type Misowned } from "./migrate/ownership.ts";
import { planMigration, type History, type MigrationPlan } from "./migrate/plan.ts";
import { repairLateRows, stopWriters } from "./migrate/stop-writers.ts";
import { scheduleTimers } from "./migrate/timers.ts";

export type MigrationEvent =
  | { readonly kind: "waiting" }
  | { readonly kind: "planned"; readonly plan: MigrationPlan }
  | { readonly kind: "applying"; readonly path: string; readonly index: number; readonly count: number }
  | { readonly kind: "notice"; readonly path: string; readonly text: string }
  | { readonly kind: "retrying"; readonly attempt: number; readonly reason: string };

export interface MigrateOptions {
  /** The folder of SQL files. Default: the one that comes with this release. */
  readonly sqlDir?: string | undefined;
  /**
   * Install the engine alone: the outbox with webhooks, payments and ledger events, and nothing in `public`. The rest can be added later.
   * Refused if the rest is installed and the engine is not up to date. Default: everything.
   */
  readonly only?: "outbox" | undefined;
  /** Only report what would be done. Default: false. */
  readonly dryRun?: boolean | undefined;
  /** How long one statement waits for a lock that running sessions hold, before the whole migration is tried again. Default: 10,000. */
  readonly lockTimeoutMs?: number | undefined;
  readonly onEvent?: ((event: MigrationEvent) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface MigrationResult {
  /** The migrations that this run applied, by path. */
  readonly applied: readonly string[];
  /** The re-creatable files that this run applied. */
  readonly reapplied: readonly string[];
  readonly unchanged: readonly string[];
  /** Files that were applied once and no longer exist. */
  readonly missing: readonly string[];
  /** Objects that had the wrong owner, with that owner, and rights that differed from the grants: a restore leaves both. */
  readonly repaired: { readonly owners: readonly Misowned[]; readonly rights: readonly string[] };
  /** The number of the newest migration in the database after the run. */
  readonly version: number;
  readonly dryRun: boolean;
}

/** Which of our objects belong to other roles, for logins that may not migrate. */
export function listMisowned(client: ClientBase, parts: readonly Part[]): Promise<readonly Misowned[]> {
  return findMisowned(client, readSqlFolder(ownSqlDir), schemasOf(parts));
}

const maxAttempts = 6;

/**
 * Migrates over the caller's connection, which stays open. Several may start at the same time: they queue, and all
 * but the first find nothing to do.
 */
export async function migrate(client: ClientBase, options: MigrateOptions = {}): Promise<MigrationResult> {
  const folder = readSqlFolder(options.sqlDir ?? ownSqlDir);
  if (folder.migrations.length === 0) {
    throw new HeadroomError("sql_missing", `There are no migrations in ${options.sqlDir ?? ownSqlDir}.`, {
      hint: "Install the package again; its sql folder is missing or empty.",
    });
  }
  for (let attempt = 1; ; attempt += 1) {
    options.signal?.throwIfAborted();
    try {
      const ending = options.dryRun === true ? "rollback" : "commit";
      const result = await inTransaction(client, ending, () => migrateOnce(client, folder, options));
      if (ending === "commit") {
        await scheduleTimers(client, result.applied.length + result.reapplied.length > 0, options.signal);
        if (result.applied.length > 0 && result.applied.length < folder.migrations.length) await repairLateRows(client);
      }
      return result;
    } catch (error) {
      const failure = toHeadroomError(error);
      if (attempt >= maxAttempts || !passes(failure)) throw failure;
      options.onEvent?.({ kind: "retrying", attempt, reason: failure.message });
      await delay(100 * attempt + Math.random() * 200, undefined, { signal: options.signal });
    }
  }
}

async function inTransaction<T>(client: ClientBase, ending: "commit" | "rollback", work: () => Promise<T>): Promise<T> {
  // A stricter level would take its snapshot before it waits for the lock, and miss what the migrator before us did.
  await client.query("begin isolation level read committed");
  try {
    const result = await work();
    await client.query(ending);
    return result;
  } catch (error) {
    // The first error is the one that matters; on a broken connection there is nothing to roll back.
    await client.query("rollback").catch(() => undefined);
    throw error;
  }
}

/**
 * Failures that another session caused and that a new try may survive: a deadlock; a lock held too long; two databases of one cluster that
 * create roles, which are cluster-wide and outside our lock; two migrators that both found the database empty.
 */
function passes(failure: HeadroomError): boolean {
  const sqlState = failure.sqlState ?? "";
  if (["40P01", "40001", "55P03"].includes(sqlState)) return true;
  const races = /\brole\b|pg_auth|tuple concurrently|pg_namespace|schema "[a-z]+" already exists/;
  return ["42710", "42P06", "23505", "XX000"].includes(sqlState) && races.test(failure.message);
}

async function migrateOnce(client: ClientBase, folder: SqlFolder, options: MigrateOptions): Promise<MigrationResult> {
  options.onEvent?.({ kind: "waiting" });
  const parts: readonly Part[] = options.only === "outbox" ? ["engine"] : ["engine", "product"];
  const ownerExists = await ensureOwnerUsable(client);
  const owners = ownerExists ? await findMisowned(client, folder, schemasOf(parts)) : [];
  if (owners.length > 0) await takeBack(client, owners, parts.includes("product"));
  await refuseForeignSchemas(client, schemasOf(parts));
  const history = ownerExists ? await readHistory(client) : undefined;
  const plan = planMigration(folder, history ?? { migrations: [], recreatables: new Map() }, parts);
  options.onEvent?.({ kind: "planned", plan });
  if (options.dryRun !== true && plan.apply.length + plan.reapply.length + plan.missing.length > 0) {
    await applyPlan(client, plan, history !== undefined, options);
  }
  const isWhole = plan.apply.length + plan.reapply.length === 0;
  const rights = isWhole && history !== undefined ? await checkRights(client, folder, history, parts, options) : [];
  return {
    applied: plan.apply.map((file) => file.path),
    reapplied: plan.reapply.map((file) => file.path),
    unchanged: plan.unchanged,
    missing: plan.missing,
    version: versionAfter(plan, history?.migrations.at(-1)?.number ?? 0, options.dryRun === true),
    repaired: { owners, rights },
    dryRun: options.dryRun === true,
  };
}

/** Every other plan applies all grants anyway. */
async function checkRights(
  client: ClientBase,
  folder: SqlFolder,
  history: History,
  parts: readonly Part[],
  options: MigrateOptions,
): Promise<readonly string[]> {
  const grants = folder.recreatables.filter(({ kind, path }) => kind === "grants" && history.recreatables.has(path));
  const plan = { apply: [], reapply: grants, unchanged: [], missing: [] };
  return repairRights(client, schemasOf(parts), () =>
    applyPlan(client, plan, true, { ...options, onEvent: undefined }),
  );
}

function versionAfter(plan: MigrationPlan, before: number, dryRun: boolean): number {
  return dryRun ? before : Math.max(before, plan.apply.at(-1)?.number ?? 0);
}

async function applyPlan(
  client: ClientBase,
  plan: MigrationPlan,
  hasHistory: boolean,
  options: MigrateOptions,
): Promise<void> {
  const files = [...plan.apply, ...plan.reapply];
  const lockTimeoutMs = Math.trunc(options.lockTimeoutMs ?? 10_000);
  // A function's body may name what a later file makes. The role's time-outs would cut short the build of a long index.
  await client.query(
    `set local check_function_bodies = off; set local jit = off; set local statement_timeout = 0;
     set local idle_in_transaction_session_timeout = 0; set local lock_timeout = ${lockTimeoutMs}`,
  );
  if (hasHistory && plan.apply.length > 0) await stopWriters(client, lockTimeoutMs, options.signal);
  let historyMade = hasHistory;
  let actingAs: SqlFile["runAs"] = "migrator";
  for (const [index, file] of files.entries()) {
    options.signal?.throwIfAborted();
    options.onEvent?.({ kind: "applying", path: file.path, index, count: files.length });
    // Almost all files run as the owner, so switching for each would be most of the traffic. Only the migrator's own files switch.
    if (file.runAs !== actingAs || file.runAs === "migrator")
      await client.query(file.runAs === "owner" ? `set local role ${ownerRole}` : "reset role");
    actingAs = file.runAs;
    await applyFile(client, file, options);
    if (historyMade) continue;
    await client.query("reset role");
    actingAs = "migrator";
    await makeHistory(client);
    historyMade = true;
  }
  await client.query(`set local role ${ownerRole}`);
  await client.query(switchOffJit);
  if (plan.apply.length > 0) await recordMigrations(client, plan.apply);
  await recordRecreatables(client, plan.reapply, plan.missing);
  await client.query("reset role");
}

/** A function that is made again loses this setting, and a grant may open another one. The tests' schemas have no such function. */
const switchOffJit = `do $$ begin
  if to_regprocedure('headroom.switch_off_jit()') is not null then perform headroom.switch_off_jit(); end if;
end $$`;

/** One file is one simple query: the server splits it into statements, so quoting of any kind is safe. */
async function applyFile(client: ClientBase, file: SqlFile, options: MigrateOptions): Promise<void> {
  const onNotice = (notice: { message?: string | undefined; severity?: string | undefined }): void => {
    if (notice.severity === "WARNING")
      options.onEvent?.({ kind: "notice", path: file.path, text: notice.message ?? "" });
  };
  client.on("notice", onNotice);
  try {
    await client.query(file.text);
  } catch (error) {
    throw inFile(file, error);
  } finally {
    client.off("notice", onNotice);
  }
  if (client.getTransactionStatus() !== "T") {
    throw new HeadroomError("migration_ends_transaction", `${file.path} ends the migrator's transaction.`, {
      hint: "Take BEGIN, COMMIT and ROLLBACK out of the file.",
    });
  }
}

/** Says in which file, line and function the statement failed: a database may have its own event triggers. */
function inFile(file: SqlFile, error: unknown): HeadroomError {
  const failure = toHeadroomError(error);
  const said = error instanceof Error && "where" in error ? error.where : undefined;
  const where = typeof said === "string" ? said.replaceAll("\n", ", ") : undefined;
  const denied = sqlStateOf(error) === "42501";
  const position = error instanceof Error && "position" in error ? Number(error.position) : 0;
  const line = Number.isInteger(position) && position > 0 ? `:${file.text.slice(0, position).split("\n").length}` : "";
  return new HeadroomError(failure.code, `${file.path}${line}: ${failure.message}`, {
    sqlState: sqlStateOf(error),
    detail: failure.detail ?? (where === undefined ? undefined : `It happened in ${where}.`),
    hint: denied
      ? "The role that migrates may not do this. Where a function that is not Headroom's is named, an event trigger of the database ran it."
      : failure.hint,
    httpStatus: failure.httpStatus,
    cause: error,
  });
}
