/**
 * Secrets that the database needs: signing keys and tokens of providers. They go in and are used there; they never come out.
 *
 * Without Vault they are encrypted under a key that only processes hold. That key is set for one transaction at a time, as a
 * bound parameter: behind a pooler another session would inherit it, and a statement's text may be logged.
 */
import type { Client } from "pg";
import { call, type FunctionResult } from "../db/call.ts";
import { refusable, type Refused } from "./refusal.ts";

export interface SecretStatus {
  readonly name: string;
  readonly keptIn: string;
  /** Whether it can be read under the key of this process. */
  readonly readable: boolean;
  readonly updatedAt: Date;
}

/** Runs the work in a transaction that holds the key; without one only Vault can be used. */
async function withKey<T>(client: Client, key: string | undefined, work: () => Promise<T>): Promise<T> {
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

export async function setSecret(
  client: Client,
  secret: { readonly name: string; readonly value: string; readonly key?: string | undefined },
): Promise<{ readonly outcome: "stored"; readonly name: string } | Refused> {
  const { name, value, key } = secret;
  return refusable(
    withKey(client, key, async () => {
      await call(client, "capacity.set_secret", { p_name: name, p_value: value });
      return { outcome: "stored", name } as const;
    }),
  );
}

export async function listSecrets(
  client: Client,
  key?: string,
): Promise<{ readonly outcome: "listed"; readonly secrets: readonly SecretStatus[] } | Refused> {
  const rows = await refusable(withKey(client, key, () => call(client, "capacity.list_secrets", {})));
  if (!Array.isArray(rows)) return rows;
  return { outcome: "listed", secrets: rows.map(toStatus) };
}

function toStatus(row: FunctionResult<"capacity.list_secrets">[number]): SecretStatus {
  return { name: row.name, keptIn: row.kept_in, readable: row.readable, updatedAt: row.updated_at };
}
