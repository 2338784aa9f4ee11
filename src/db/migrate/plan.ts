/**
 * Decides what a migration run has to do, from the files and from what the database says was applied. Pure.
 */
import { HeadroomError } from "../errors.ts";
import type { MigrationFile, RecreatableFile, SqlFolder } from "./files.ts";

export interface RecordedMigration {
  readonly number: number;
  readonly path: string;
  readonly checksum: string;
}

/** What the database's own books say. */
export interface RecordedState {
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

/** Throws when going forward would be wrong: history that changed, or that comes from a later release. */
export function planMigration(folder: SqlFolder, recorded: RecordedState): MigrationPlan {
  checkHistory(folder.migrations, recorded.migrations);
  const done = new Set(recorded.migrations.map((migration) => migration.number));
  const apply = folder.migrations.filter((migration) => !done.has(migration.number));
  const reapply = chooseRecreatables(folder.recreatables, recorded.recreatables, apply.length > 0);
  const again = new Set(reapply.map((file) => file.path));
  const present = new Set(folder.recreatables.map((file) => file.path));
  return {
    apply,
    reapply,
    unchanged: [
      ...recorded.migrations.map((migration) => migration.path),
      ...folder.recreatables.map((file) => file.path).filter((path) => !again.has(path)),
    ],
    missing: [...recorded.recreatables.keys()].filter((path) => !present.has(path)).toSorted(),
  };
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
    if (file.checksum !== migration.checksum) {
      throw new HeadroomError("migration_changed", `${file.path} was changed after it had been applied.`, {
        detail: `Applied with checksum ${migration.checksum.slice(0, 12)}, now ${file.checksum.slice(0, 12)}.`,
        hint: "Restore the file as it was, and put the change into a new migration.",
      });
    }
  }
  const highest = Math.max(0, ...recorded.map((migration) => migration.number));
  const applied = new Set(recorded.map((migration) => migration.number));
  const late = files.find((file) => file.number < highest && !applied.has(file.number));
  if (late === undefined) return;
  throw new HeadroomError("migration_out_of_order", `${late.path} comes before migrations that are applied already.`, {
    detail: `The database is at number ${highest}.`,
    hint: "Give it the next free number.",
  });
}

/**
 * A new migration may have dropped and made tables anew, and with them triggers, policies and grants: then everything is
 * applied again. Without one, only what changed is, and after any change all grants, because a function that was
 * dropped and made anew is executable by everybody until they are.
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
  return files.filter((file) => file.kind === "grants" || paths.has(file.path));
}
