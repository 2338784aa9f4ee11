/**
 * Decides what a migration run has to do, from the files and from the history in the database. Pure.
 */
import { HeadroomError } from "../errors.ts";
import type { Part } from "../layers.ts";
import { partOfPath, type MigrationFile, type RecreatableFile, type SqlFolder } from "./files.ts";

export interface RecordedMigration {
  readonly number: number;
  readonly path: string;
  readonly checksum: string;
}

/** What was applied, according to the database. */
export interface History {
  readonly migrations: readonly RecordedMigration[];
  /** Path → checksum. */
  readonly recreatables: ReadonlyMap<string, string>;
}

export interface MigrationPlan {
  readonly apply: readonly MigrationFile[];
  readonly reapply: readonly RecreatableFile[];
  readonly unchanged: readonly string[];
  /** Recorded, but no longer among the files: a migration is expected to have dropped what they made. */
  readonly missing: readonly string[];
}

/**
 * Plans for these parts; files of other parts are neither applied nor reported missing. Throws when it would be wrong to go forward: the
 * history was changed, or is not this release's.
 */
export function planMigration(folder: SqlFolder, history: History, parts: readonly Part[]): MigrationPlan {
  checkHistory(folder.migrations, history.migrations);
  checkOrder(folder.migrations, history.migrations);
  const isWanted = ({ path }: { readonly path: string }): boolean => parts.includes(partOfPath(path));
  const recorded = history.migrations.filter(isWanted);
  const done = new Set(recorded.map((migration) => migration.number));
  const apply = folder.migrations.filter((file) => isWanted(file) && !done.has(file.number));
  const recreatables = folder.recreatables.filter(isWanted);
  const reapply = chooseRecreatables(recreatables, history.recreatables, apply.length > 0);
  const again = new Set(reapply.map((file) => file.path));
  const present = new Set(recreatables.map((file) => file.path));
  const plan = {
    apply,
    reapply,
    unchanged: [
      ...recorded.map((migration) => migration.path),
      ...recreatables.map((file) => file.path).filter((path) => !again.has(path)),
    ],
    missing: [...history.recreatables.keys()].filter((path) => isWanted({ path }) && !present.has(path)).toSorted(),
  };
  checkWhole(plan, history, parts);
  return plan;
}

function checkHistory(files: readonly MigrationFile[], recorded: readonly RecordedMigration[]): void {
  const byNumber = new Map(files.map((file) => [file.number, file]));
  for (const migration of recorded) {
    const file = byNumber.get(migration.number);
    if (file === undefined) {
      throw new HeadroomError("schema_newer_than_code", "The database's schema is newer than this release.", {
        sqlState: "HR011",
        detail: `The database has ${migration.path}, which this release does not know.`,
        hint: "Run the release that migrated it, or a later one. Nothing was changed.",
      });
    }
    // A migration keeps its name forever. Before the first release they were renumbered once.
    if (file.path !== migration.path) {
      throw new HeadroomError("schema_unreleased", "An unreleased version of Headroom made this database's schema.", {
        detail: `The database has ${migration.path}, where this release has ${file.path}.`,
        hint: "Make a new database and migrate that one: this one cannot be migrated. Nothing was changed.",
      });
    }
    if (file.checksum !== migration.checksum) {
      throw new HeadroomError("migration_changed", `${file.path} was changed after it had been applied.`, {
        detail: `Applied with checksum ${migration.checksum.slice(0, 12)}, now ${file.checksum.slice(0, 12)}.`,
        hint: "Restore the file as it was, and put the change into a new migration.",
      });
    }
  }
}

/** Each part has its own order: the product may be added to an engine that is far ahead of the product's first migration. */
function checkOrder(files: readonly MigrationFile[], recorded: readonly RecordedMigration[]): void {
  const applied = new Set(recorded.map((migration) => migration.number));
  for (const part of ["engine", "product"] as const) {
    const numbers = recorded.filter(({ path }) => partOfPath(path) === part).map((migration) => migration.number);
    const highest = Math.max(0, ...numbers);
    const late = files.find((file) => file.part === part && file.number < highest && !applied.has(file.number));
    if (late === undefined) continue;
    throw new HeadroomError(
      "migration_out_of_order",
      `${late.path} comes before migrations that are applied already.`,
      { detail: `The database is at number ${highest}.`, hint: "Give it the next free number." },
    );
  }
}

/**
 * The product's functions and grants are made for the engine of the same release. Where both are installed, a newer engine under an older
 * product would break what runs, so they are upgraded together or not at all.
 */
function checkWhole(plan: MigrationPlan, history: History, parts: readonly Part[]): void {
  if (parts.includes("product") || plan.apply.length + plan.reapply.length + plan.missing.length === 0) return;
  if (!history.migrations.some(({ path }) => partOfPath(path) === "product")) return;
  throw new HeadroomError("engine_not_alone", "This database has more of Headroom than the engine.", {
    detail: "The engine is not up to date, and the rest only works with the engine of its own release.",
    hint: "Migrate all of it together: headroom migrate, without --only. Nothing was changed.",
  });
}

/**
 * A new migration may have recreated tables, and with them triggers, policies and grants: then everything is applied again.
 * Without one, only what changed is. After any change all grants are applied, because everybody can execute a recreated function until
 * then, and all registrations, because a hook point that a lower layer declares again has lost the hooks of the upper layers.
 */
function chooseRecreatables(
  files: readonly RecreatableFile[],
  recorded: ReadonlyMap<string, string>,
  migrated: boolean,
): readonly RecreatableFile[] {
  if (migrated) return files;
  const changed = files.filter((file) => recorded.get(file.path) !== file.checksum);
  if (changed.length === 0) return [];
  const paths = new Set(changed.map((file) => file.path));
  return files.filter((file) => file.kind === "registrations" || file.kind === "grants" || paths.has(file.path));
}
