/**
 * Ensures that landed migrations do not change. `sql/migrations/checksums.txt` has a line for each, in the format of `sha256sum`. Lines are
 * added and never changed, because a database that has applied a file refuses a changed one.
 */
import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { readSqlFolder } from "../../src/db/migrate/files.ts";

export interface ChecksumReport {
  /** New migrations, which have no line yet. */
  readonly added: readonly string[];
  /** The problems with migrations that have a line, as sentences. Writing a line does not solve them. */
  readonly problems: readonly string[];
}

export const checksumFile = "sql/migrations/checksums.txt";

const wayOut = "Restore it; a change goes into a new migration (CONTRIBUTING.md).";

/** Adds the lines of new migrations; with `check` it only checks. `root`: the folder that has `sql/`. */
export async function keepChecksums(root: string, check: boolean): Promise<ChecksumReport> {
  const { migrations } = readSqlFolder(join(root, "sql/"));
  const present = new Map(migrations.map((file) => [basename(file.path), file.checksum]));
  const path = join(root, checksumFile);
  const text = await readFile(path, "utf8").catch(() => "");
  const kept = new Map(text.split("\n").flatMap(readLine));
  const problems = [...kept].flatMap(([name, checksum]) => {
    const now = present.get(name);
    if (now === undefined) return [`sql/migrations/${name} is gone. ${wayOut}`];
    return now === checksum ? [] : [`sql/migrations/${name} has changed since it landed. ${wayOut}`];
  });
  const added = [...present].filter(([name]) => !kept.has(name));
  if (!check && added.length > 0) {
    await writeFile(path, text + added.map(([name, checksum]) => `${checksum}  ${name}\n`).join(""));
  }
  return { added: added.map(([name]) => name), problems };
}

function readLine(line: string): [name: string, checksum: string][] {
  if (line === "") return [];
  const match = /^([0-9a-f]{64}) {2}(\S+)$/.exec(line);
  if (match?.[1] === undefined || match[2] === undefined) throw new Error(`${checksumFile} cannot be read at: ${line}`);
  return [[match[2], match[1]]];
}
