/**
 * Changes the key under which the database seals secrets: everything that another key sealed is sealed again under the current one, batch by
 * batch, while relays and servers that hold both keys go on.
 *
 * Owns: the order of the steps, by which a rotation that ends anywhere can be begun again and nothing is lost. Does not own: sealing, and which
 * key is in use (headroom.key_to_seal_with).
 */
import type { ClientBase } from "pg";
import { call, type FunctionResult } from "../call.ts";
import { keySettings, keysOf, type SecretKey } from "./secret-key.ts";
import { withSettings } from "../transaction.ts";
import { refusable, type Refused } from "../refusal.ts";

/** What there is, seen with some keys. */
export interface Sealed {
  readonly sealed: number;
  /** Of those, under another key than the current one. */
  readonly due: number;
  /** What no key opens, by name. */
  readonly unreadable: readonly string[];
  /** Secrets of endpoints that Vault keeps. */
  readonly inVault: number;
}

export interface Resealed extends Omit<Sealed, "due"> {
  /** `looked`: nothing was to be changed. `unreadable`: nothing was changed, because of those. */
  readonly outcome: "rotated" | "looked" | "unreadable";
  /** How many were sealed again now, or would be. */
  readonly resealed: number;
  /** Whether something is left that the current key alone does not open. */
  readonly previousNeeded: boolean;
}

export interface RotateOptions {
  readonly key: SecretKey;
  /** Only says what would be done. Default: false. */
  readonly dryRun?: boolean | undefined;
  /** Goes on although some were sealed under a key that is lost; they stay as they are. Default: false. */
  readonly lost?: boolean | undefined;
  /** How many in one transaction. Default: 100. */
  readonly batch?: number | undefined;
  readonly onProgress?: ((done: number, of: number) => void) | undefined;
}

/** A batch waits no longer for somebody who holds one of its rows. */
const lockTimeout = "2s";

export function rotateSecretKey(client: ClientBase, options: RotateOptions): Promise<Resealed | Refused> {
  return refusable(rotate(client, options));
}

async function rotate(client: ClientBase, options: RotateOptions): Promise<Resealed> {
  const { key, dryRun = false, lost = false, batch = 100, onProgress } = options;
  const before = await walk(client, key, { write: false, batch });
  if (dryRun) return report("looked", before, before.due);
  // First of all: a mistyped key must not become the one in use.
  if (before.unreadable.length > 0 && !lost) return report("unreadable", before, 0);
  await withKeys(client, key, () => call(client, "headroom.switch_sealing_key", {}));
  const { due } = await walk(client, key, {
    write: true,
    batch,
    onProgress: (done) => onProgress?.(done, before.sealed),
  });
  // The proof: every one is opened once more, with the current key and no other.
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
