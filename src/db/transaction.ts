/**
 * One transaction with its own settings, on the caller's connection.
 *
 * The settings end with the transaction, so the connection's next user does not get them. They go to the server as parameters: a statement's
 * text is logged more often. Owns: begin, commit and rollback. Does not own: the connection.
 */
import type { Queryable } from "./call.ts";

/** Runs the work in a transaction that has the settings, and rolls it back when the work fails. Undefined ones are left as they are. */
export async function withSettings<T>(
  db: Queryable,
  settings: Readonly<Record<string, string | undefined>>,
  work: () => Promise<T>,
): Promise<T> {
  await db.query({ text: "begin" });
  try {
    for (const [name, value] of Object.entries(settings)) {
      if (value !== undefined) await db.query({ text: "select set_config($1, $2, true)", values: [name, value] });
    }
    const result = await work();
    await db.query({ text: "commit" });
    return result;
  } catch (error) {
    // On a lost connection this fails too, with a less useful error.
    await db.query({ text: "rollback" }).catch(() => undefined);
    throw error;
  }
}
