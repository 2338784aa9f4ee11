/**
 * The key under which the database encrypts secrets where it has no Vault, for as long as one transaction needs it.
 *
 * It is set for one transaction at a time, as a bound parameter: behind a pooler another session would inherit it, and a
 * statement's text may be logged. Without a key only Vault can be used.
 */
import type { ClientBase } from "pg";

/** Runs the work in a transaction that holds the key, and rolls it back when the work fails. */
export async function withSecretKey<T>(
  client: ClientBase,
  key: string | undefined,
  work: () => Promise<T>,
): Promise<T> {
  await client.query("begin");
  try {
    if (key !== undefined) await client.query("select set_config('headroom.secret_key', $1, true)", [key]);
    const result = await work();
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
}
