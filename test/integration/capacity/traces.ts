/**
 * Searches everything in the database for words: every row of every table outside Postgres's own schemas, found through the catalogue, so
 * that tables made later are searched too.
 *
 * Owns: what a trace is. Does not own: what is asserted.
 */
import { createHash } from "node:crypto";
import type { TestDatabase } from "../../helpers/database.ts";
import { rowsOf } from "./harness.ts";

/** The tables that contain any of the words, as text or as bytes, case-insensitively. */
export async function tracesOf(db: TestDatabase, words: readonly string[]): Promise<string[]> {
  const patterns = words.flatMap((word) => [`%${word}%`, `%${Buffer.from(word).toString("hex")}%`]);
  const tables = await rowsOf<{ name: string }>(
    db.superuser.pool,
    `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'm') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema' order by 1`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    // A row's text shows every column, and bytes as hexadecimal digits.
    const [row] = await rowsOf<{ held: boolean }>(
      db.superuser.pool,
      `select exists (select from ${name} x where x::text ilike any ($1)) as held`,
      [patterns],
    );
    if (row?.held === true) found.push(name.replace(/^outbox\.attempts_.*/, "outbox.attempts"));
  }
  return [...new Set(found)];
}

/** What a person who guesses at a content would compute: digests without a salt. */
export function digestsOf(contents: readonly string[]): string[] {
  return contents.flatMap((content) =>
    ["sha256", "md5", "sha1", "sha512"].map((algorithm) => createHash(algorithm).update(content).digest("hex")),
  );
}
