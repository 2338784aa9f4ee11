/**
 * Reads the folder of SQL files: numbered migrations, and what can be created again at any time.
 *
 * Owns: names, order and checksums. Does not own: what was applied to which database (the plan), nor running anything.
 */
import { readdirSync, readFileSync, type Dirent } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { escapeLiteral } from "pg";
import { HeadroomError, nodeCodeOf } from "../errors.ts";
import { layerOf, partOf, schemaLayers, type Part } from "../layers.ts";
import { sha256 } from "../hash.ts";

/**
 * Order matters: functions and views by layer, lowest first, then what names them, and last the grants on everything.
 */
export const recreatableKinds = [
  "functions",
  "views",
  "registrations",
  "templates",
  "triggers",
  "policies",
  "grants",
] as const;
export type RecreatableKind = (typeof recreatableKinds)[number];

export interface SqlFile {
  /** Below the SQL folder, with forward slashes: `functions/outbox/claim/claim.sql`. */
  readonly path: string;
  readonly text: string;
  /** SHA-256 of the text with normalised line ends, so that a checkout on Windows is treated as unchanged. */
  readonly checksum: string;
  /** `migrator`: as the login that migrates; `owner`: as the owner of our objects. */
  readonly runAs: "migrator" | "owner";
  /** The layer's part, by the schema that its path names. */
  readonly part: Part;
}

export interface MigrationFile extends SqlFile {
  readonly number: number;
}

export interface RecreatableFile extends SqlFile {
  readonly kind: RecreatableKind;
}

export interface SqlFolder {
  /** By number, ascending. */
  readonly migrations: readonly MigrationFile[];
  /** In the order in which they are applied. */
  readonly recreatables: readonly RecreatableFile[];
}

/** The SQL of this release. The path is the same from `src/db/migrate` and from `dist/db/migrate`. */
export const ownSqlDir = fileURLToPath(new URL("../../../sql/", import.meta.url));

/** Reads all files; refuses names that would make the order ambiguous. */
export function readSqlFolder(sqlDir: string): SqlFolder {
  const migrations = readFiles(sqlDir, "migrations")
    .map(asMigration)
    .toSorted((a, b) => a.number - b.number);
  for (const [index, migration] of migrations.entries()) {
    const before = migrations[index - 1];
    if (before?.number === migration.number) {
      throw new HeadroomError("migration_number_taken", `Two migrations have number ${migration.number}.`, {
        detail: `${before.path} and ${migration.path}`,
        hint: "Give the one that was not released yet the next free number.",
      });
    }
  }
  const byKind = new Map<RecreatableKind, RecreatableFile[]>();
  for (const kind of recreatableKinds) {
    byKind.set(
      kind,
      readFiles(sqlDir, kind)
        .map((file) => ({ ...file, kind }))
        .toSorted((a, b) => rankOf(a) - rankOf(b)),
    );
  }
  const [functions = [], views = [], ...others] = recreatableKinds.map((kind) => byKind.get(kind) ?? []);
  // A layer's functions may take and return rows of views below it; those of `public` return rows of its own views too.
  const isExposed = (file: RecreatableFile): boolean => file.path.startsWith("functions/public/");
  const definitions = [
    ...functions.filter((file) => !isExposed(file)),
    ...views,
    ...functions.filter(isExposed),
  ].toSorted((a, b) => rankOf(a) - rankOf(b));
  const recreatables = [...definitions, ...others.flat()];
  return { migrations, recreatables };
}

/** The layer of a file, by the schema that its path names; a file of no layer comes last. */
function rankOf(file: SqlFile): number {
  return layerOf(schemaOf(file.path)) ?? schemaLayers.length;
}

/** `functions/outbox/claim/claim.sql`, `grants/outbox.sql` and `migrations/0004_outbox_streams.sql` all belong to the schema `outbox`. */
function schemaOf(path: string): string {
  return /^(?:migrations\/\d+_|[a-z]+\/)([a-z]+)/.exec(path)?.[1] ?? "";
}

/** The part of a file of which only the path is known, such as a file of an earlier release. */
export function partOfPath(path: string): Part {
  return partOf(schemaOf(path));
}

function asMigration(file: SqlFile): MigrationFile {
  const match = /^migrations\/(\d{4})_[a-z0-9_]+\.sql$/.exec(file.path);
  if (match?.[1] === undefined) {
    throw new HeadroomError("migration_misnamed", `${file.path} is not named like a migration.`, {
      hint: "Name it NNNN_schema_subject.sql, with four digits.",
    });
  }
  return { ...file, number: Number(match[1]) };
}

/** Reads synchronously, because the files are many and small: asynchronous reads took four times the CPU time. */
function readFiles(sqlDir: string, folder: string): SqlFile[] {
  const paths = entriesBelow(join(sqlDir, folder))
    .filter((entry) => entry.isFile() && entry.name.endsWith(folder === "templates" ? ".txt" : ".sql"))
    .map((entry) => relative(sqlDir, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .toSorted();
  return paths.map((path) => readSqlFile(sqlDir, path));
}

function entriesBelow(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true });
  } catch (error) {
    if (nodeCodeOf(error) === "ENOENT") return [];
    throw error;
  }
}

function readSqlFile(sqlDir: string, path: string): SqlFile {
  const read = readFileSync(join(sqlDir, path), "utf8").replaceAll("\r\n", "\n");
  const text = path.startsWith("templates/") ? asStatement(path, read) : read;
  const checksum = sha256(text);
  const firstLine = text.slice(0, text.indexOf("\n"));
  const runAs = firstLine.trim() === "-- run as: migrator" ? "migrator" : "owner";
  return { path, text, checksum, runAs, part: partOfPath(path) };
}

/** The text of a message is a file, `templates/capacity/en/offer.txt`; the migrator makes a function of it. */
function asStatement(path: string, text: string): string {
  const [, language, name] = /^templates\/[a-z]+\/([a-z]{2})\/([a-z_]+)\.txt$/.exec(path) ?? [];
  if (language === undefined || name === undefined) {
    throw new HeadroomError("template_misnamed", `${path} is not named like a template.`, {
      hint: "Name it templates/<schema>/<language>/<name>.txt, the language by its two letters.",
    });
  }
  return `select notify.bring_template('${name}', '${language}', ${escapeLiteral(text)});`;
}
