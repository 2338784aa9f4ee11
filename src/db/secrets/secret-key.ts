/**
 * The keys under which a database without Vault encrypts secrets, set for as long as one transaction needs them.
 *
 * They are set for one transaction at a time, as bound parameters: behind a pooler another session would inherit them, and a
 * statement's text may be logged. Without a key only Vault can be used.
 */
import type { Queryable } from "../call.ts";
import { withSettings } from "../transaction.ts";

/**
 * HEADROOM_SECRET_KEY, and while it is being changed also the previous one. Either opens what it sealed. The database decides which of
 * them seals, since all processes must agree (headroom.key_to_seal_with).
 */
export type SecretKey = string | { readonly current: string; readonly previous?: string | undefined };

/** The current key, and the previous one. Undefined if there is none. */
export function keysOf(
  key: SecretKey | undefined,
): readonly [current: string | undefined, previous: string | undefined] {
  return typeof key === "object" ? [key.current, key.previous] : [key, undefined];
}

/** Runs the work in a transaction that holds the keys, and rolls it back when the work fails. */
export async function withSecretKey<T>(
  client: Queryable,
  key: SecretKey | undefined,
  work: () => Promise<T>,
): Promise<T> {
  return withSettings(client, keySettings(key), work);
}

export function keySettings(key: SecretKey | undefined): Readonly<Record<string, string | undefined>> {
  const [current, previous] = keysOf(key);
  return { "headroom.secret_key": current, "headroom.secret_key_previous": previous };
}
