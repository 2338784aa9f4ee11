/** What a statement does, from its text as pg_stat_statements keeps it. */

/**
 * `sent` by the server or a client; inside the database a `read`, a `write`, or a constraint trigger's own `check`. A statement without a
 * table is `bare`, such as a function call or a list of values.
 */
export type StatementKind = "sent" | "read" | "bare" | "write" | "check";

/** The server's own query for the other side of a foreign key. */
const CHECK = /\bfrom only "/i;
const WRITE = /^(insert|update|delete|merge)\b/i;
/** Written inside of a `with`; the lock of a `select … for update` names no columns to set. */
const WRITE_WITHIN = /\b(insert into|delete from|merge into|update [\w."]+( as \w+| \w+)? set)\b/i;
/** Tables have a schema in their name, except the catalogue's; a function in their place has arguments. */
const TABLE = /\b(from|join) (pg|[a-z_]+\.[a-z])[a-z_]*\b(?! ?\()/i;

export function statementKind(text: string, isTopLevel: boolean): StatementKind {
  if (isTopLevel) return "sent";
  if (CHECK.test(text)) return "check";
  if (WRITE.test(text) || (/^with\b/i.test(text) && WRITE_WITHIN.test(text))) return "write";
  return TABLE.test(text) ? "read" : "bare";
}
