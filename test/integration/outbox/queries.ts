/**
 * Queries of tests: rows with numbers as numbers, exactly one row, and the refusal of a statement.
 */
import type { ClientBase, Pool } from "pg";
import { expect } from "vitest";
import { refusalStatuses, type RefusalCode } from "../../../src/db/refusals.gen.ts";
import { valueTypes } from "../../../src/db/values/values.ts";

export type Queryable = ClientBase | Pool;

const names = new Map<string, string>();

/** The same name for the same text. */
function nameOf(text: string): string {
  const name = names.get(text) ?? `statement ${names.size + 1}`;
  names.set(text, name);
  return name;
}

/** A query with values is a named statement: a connection analyses it once, as the server's connections do. */
export async function rowsOf<T>(client: Queryable, text: string, values: readonly unknown[] = []): Promise<T[]> {
  const named = values.length > 0 ? { name: nameOf(text) } : {};
  const result = await client.query({ ...named, text, values: [...values], types: valueTypes });
  return result.rows as T[];
}

export async function oneOf<T>(client: Queryable, text: string, values: readonly unknown[] = []): Promise<T> {
  const rows = await rowsOf<T>(client, text, values);
  const [first] = rows;
  if (first === undefined || rows.length > 1) throw new Error(`Expected one row, not ${rows.length}: ${text}`);
  return first;
}

/** What a refusal with this code looks like from the driver; `facts`, an id or a word, are somewhere behind the code. */
export function refusedAs(code: RefusalCode, facts = ""): { code: string; detail: unknown } {
  const behind = facts === "" ? "(: .+)?$" : `: .*${facts}`;
  return {
    code: `PT${refusalStatuses[code]}`,
    detail: expect.stringMatching(new RegExp(`^${code}${behind}`, "s")),
  };
}

/** The SQLSTATE, message and hint of a refusal; fails when there is none. */
export async function refusalOf(
  work: Promise<unknown>,
): Promise<{ code: string; message: string; hint?: string; detail?: string }> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error) || !("code" in error))
    throw new Error(`Expected a refusal by the database, not ${String(error)}.`);
  return error as Error & { code: string };
}
