/**
 * Changes the key under which the database seals secrets: everything that another key sealed is sealed again under the current one, batch by
 * batch, while relays and servers that hold both keys keep running.
 *
 * Owns: the order of the steps, so that a rotation that stops anywhere can be started again and nothing is lost. Does not own: sealing, and
 * which key is in use (headroom.key_to_seal_with).
 */
import type { ClientBase } from "pg";
import { call, type FunctionResult } from "../call.ts";
import { keySettings, keysOf, type SecretKey } from "./secret-key.ts";
import { withSettings } from "../transaction.ts";
import { refusable, type Refused } from "../refusal.ts";

/** The sealed secrets, as seen with some keys. */
export interface Sealed {
  readonly sealed: number;
  /** How many of them are under another key than the current one. */
  readonly due: number;
  /** The names of those that no key opens. */
  readonly unreadable: readonly string[];
  /** How many secrets of endpoints are in Vault. */
  readonly inVault: number;
}

export interface Resealed extends Omit<Sealed, "due"> {
  /** `looked`: nothing was to be changed. `unreadable`: nothing was changed, because no key opens some. */
  readonly outcome: "rotated" | "looked" | "unreadable";
  /** How many were sealed again, or would be. */
  readonly resealed: number;
  /** Whether there is still a secret that the current key alone does not open. */
  readonly previousNeeded: boolean;
}

export interface RotateOptions {
  readonly key: SecretKey;
  /** Only report what would be done. Default: false. */
  readonly dryRun?: boolean | undefined;
  /** Continue although some were sealed under a key that is lost; they are left unchanged. Default: false. */
  readonly lost?: boolean | undefined;
  /** How many in one transaction. Default: 100. */
  readonly batch?: number | undefined;
  readonly onProgress?: ((done: number, of: number) => void) | undefined;
}

/** How long a batch waits for a session that holds one of its rows. */
const lockTimeout = "2s";

export function rotateSecretKey(client: ClientBase, options: RotateOptions): Promise<Resealed | Refused> {
  return refusable(rotate(client, options));
}

async function rotate(client: ClientBase, options: RotateOptions): Promise<Resealed> {
  const { key, dryRun = false, lost = false, batch = 100, onProgress } = options;
  const before = await walk(client, key, { write: false, batch });
  if (dryRun) return report("looked", before, before.due);
  // This comes first: a mistyped key must not become the key in use.
  if (before.unreadable.length > 0 && !lost) return report("unreadable", before, 0);
  await withKeys(client, key, () => call(client, "headroom.switch_sealing_key", {}));
  const { due } = await walk(client, key, {
    write: true,
    batch,
    onProgress: (done) => onProgress?.(done, before.sealed),
  });
  // The proof: open every secret again, with the current key alone.
  const [current = ""] = keysOf(key);
  return report("rotated", await walk(client, current, { write: false, batch }), due);
}

function report(outcome: Resealed["outcome"], { due, ...seen }: Sealed, resealed: number): Resealed {
  return { outcome, ...seen, resealed, previousNeeded: due > 0 || seen.unreadable.length > 0 };
}

interface Walk {
  readonly write: boolean;
  readonly batch: number;
  readonly onProgress?: (done: number) => void;
}

async function walk(client: ClientBase, key: SecretKey, { write, batch, onProgress }: Walk): Promise<Sealed> {
  const total = { sealed: 0, due: 0, unreadable: new Array<string>(), inVault: 0 };
  for (let after: string | null | undefined; after !== null;) {
    const step = await nextBatch(client, key, { write, batch, after: after ?? null });
    total.sealed += step.seen;
    total.due += step.due;
    total.unreadable.push(...step.unreadable);
    total.inVault += step.in_vault;
    after = step.after;
    if (after !== null) onProgress?.(total.sealed);
  }
  return total;
}

type Batch = FunctionResult<"headroom.reseal_secrets">;

function nextBatch(client: ClientBase, key: SecretKey, step: Walk & { readonly after: string | null }): Promise<Batch> {
  const { after, batch, write } = step;
  return withKeys(client, key, () =>
    call(client, "headroom.reseal_secrets", { p_after: after, p_most: batch, p_write: write }),
  );
}

function withKeys<T>(client: ClientBase, key: SecretKey, work: () => Promise<T>): Promise<T> {
  return withSettings(client, { ...keySettings(key), lock_timeout: lockTimeout }, work);
}
