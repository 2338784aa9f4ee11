/**
 * Secrets that the database needs: signing keys and tokens of providers. They go in and are used there; they never come out.
 *
 * Without Vault they are encrypted under a key that only processes hold (secret-key.ts).
 */
import type { ClientBase } from "pg";
import { call, type FunctionResult } from "../call.ts";
import { withSecretKey, type SecretKey } from "./secret-key.ts";
import { refusable, type Refused } from "../refusal.ts";

export interface SecretStatus {
  readonly name: string;
  readonly keptIn: string;
  /** Whether the key of this process opens it. */
  readonly readable: boolean;
  readonly updatedAt: Date;
}

export async function setSecret(
  client: ClientBase,
  secret: {
    readonly name: string;
    readonly value: string;
    readonly key?: SecretKey | undefined;
    /** Whether the previous value stays valid, as `<name>_PREVIOUS`, until that is removed. Default: false. */
    readonly keepPrevious?: boolean | undefined;
  },
): Promise<{ readonly outcome: "stored"; readonly name: string } | Refused> {
  const { name, value, key, keepPrevious } = secret;
  return refusable(
    withSecretKey(client, key, async () => {
      await call(client, "headroom.set_secret", { p_name: name, p_value: value, p_keep_previous: keepPrevious });
      return { outcome: "stored", name } as const;
    }),
  );
}

/** `overwritten`: Vault keeps the row, with neither its name nor its value. `anyway`: even if a link that it signed can still be answered. */
export async function removeSecret(
  client: ClientBase,
  name: string,
  options: { readonly anyway?: boolean | undefined } = {},
): Promise<{ readonly outcome: "removed" | "overwritten"; readonly name: string } | Refused> {
  const removed = await refusable(call(client, "headroom.remove_secret", { p_name: name, p_anyway: options.anyway }));
  if (typeof removed !== "string") return removed;
  return { outcome: removed === "overwritten" ? removed : "removed", name };
}

export async function listSecrets(
  client: ClientBase,
  key?: SecretKey,
): Promise<{ readonly outcome: "listed"; readonly secrets: readonly SecretStatus[] } | Refused> {
  const rows = await refusable(withSecretKey(client, key, () => call(client, "headroom.list_secrets", {})));
  if (!Array.isArray(rows)) return rows;
  return { outcome: "listed", secrets: rows.map(toStatus) };
}

function toStatus(row: FunctionResult<"headroom.list_secrets">[number]): SecretStatus {
  return { name: row.name, keptIn: row.kept_in, readable: row.readable, updatedAt: row.updated_at };
}
