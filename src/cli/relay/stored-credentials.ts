/**
 * Credentials of providers that the database keeps for relays (`headroom secret set`), in addition to those of the environment.
 *
 * Owns: reading them, reading them again while rails send, and remaking rails when they change. Does not own: which there are and which
 * environment variables they replace (provider-rails.ts), nor who may read them (outbox.rail_credentials).
 */
import { call, type Queryable } from "../../db/call.ts";
import { HeadroomError, toHeadroomError } from "../../db/errors.ts";
import { withSecretKey, type SecretKey } from "../../db/secrets/secret-key.ts";
import type { Use } from "../../db/side-pool.ts";
import { withTimeout } from "../../db/wait/with-timeout.ts";
import type { Rail } from "../../contract/rail.ts";
import { closeRails } from "./close-rails.ts";
import type { Log } from "./log.ts";

/** By name; null if this process cannot open it. */
export type CredentialValues = ReadonlyMap<string, string | null>;

export interface StoredCredentialsOptions {
  readonly read: Use;
  readonly secretKey: SecretKey | undefined;
  /** The ones that the environment does not set. No others are read. */
  readonly names: readonly string[];
  readonly log: Log;
  /** How long the values are used before they are read again. Default: 30,000. */
  readonly rememberMs?: number | undefined;
}

const defaultRememberMs = 30_000;
/** How long a send waits for the database. Then it uses the values that it has. */
const waitMs = 2_000;

export async function readCredentials(
  db: Queryable,
  names: readonly string[],
  secretKey: SecretKey | undefined,
): Promise<CredentialValues> {
  if (names.length === 0) return new Map();
  const rows = await withSecretKey(db, secretKey, () => call(db, "outbox.rail_credentials", { p_names: [...names] }));
  return new Map(rows.map(({ name, value }) => [name, value]));
}

export class StoredCredentials {
  readonly log: Log;
  readonly #options: StoredCredentialsOptions;
  #values: CredentialValues;
  #readAtMs = performance.now();
  #reading: Promise<void> | undefined;

  constructor(options: StoredCredentialsOptions, values: CredentialValues) {
    this.#options = options;
    this.#values = values;
    this.log = options.log;
  }

  get values(): CredentialValues {
    return this.#values;
  }

  /** The recent values. A value that was removed, or can no longer be opened, is kept. */
  async fresh(): Promise<CredentialValues> {
    const { rememberMs = defaultRememberMs } = this.#options;
    if (performance.now() - this.#readAtMs >= rememberMs) {
      this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
      await withTimeout(this.#reading, waitMs);
    }
    return this.#values;
  }

  async #read(): Promise<void> {
    const { read, names, secretKey, log } = this.#options;
    try {
      const found = await read((db) => readCredentials(db, names, secretKey));
      this.#values = new Map([...this.#values, ...[...found].filter(([, value]) => value !== null)]);
    } catch (error) {
      log({ level: "warn", event: "credentials_not_read", code: toHeadroomError(error).code });
    } finally {
      this.#readAtMs = performance.now();
    }
  }
}

/**
 * The rails of a provider, made from stored credentials and made again when one of these changes. Replaced rails are closed at the end,
 * with the others: they may have calls under way.
 */
export function renewableRails(
  make: (values: CredentialValues) => readonly Rail[],
  names: readonly string[],
  stored: StoredCredentials,
): Rail[] {
  let values = stored.values;
  let current = make(values);
  const made = [...current];
  const renewed = async (): Promise<readonly Rail[]> => {
    const fresh = await stored.fresh();
    if (names.every((name) => fresh.get(name) === values.get(name))) return current;
    values = fresh;
    try {
      current = make(fresh);
      made.push(...current);
      stored.log({ level: "info", event: "credential_changed", what: names.join(", ") });
    } catch (error) {
      // The stored value is malformed, and is not repeated here.
      stored.log({
        level: "error",
        event: "credential_refused",
        what: names.join(", "),
        code: toHeadroomError(error).code,
      });
    }
    return current;
  };
  return current.map((rail, at) => {
    const now = async (): Promise<Rail> => (await renewed())[at] ?? rail;
    return {
      ...rail,
      send: async (message, context) => (await now()).send(message, context),
      ...(rail.lookup === undefined
        ? {}
        : { lookup: async (message, context) => (await now()).lookup?.(message, context) ?? notAsked }),
      close: () => closeRails(made.splice(0)),
    } satisfies Rail & { close(): void };
  });
}

/** A rail that is made again has the same functions; this is only for the type. */
const notAsked = { kind: "unavailable", code: "lookup_failed", reason: "this rail cannot be asked" } as const;

/** What a relay must read from its database before it has rails. */
export interface Kept {
  /** Whether endpoints' secrets can be opened without a key. */
  readonly inVault: boolean;
  readonly credentials: CredentialValues;
}

/** If this read fails, because the database is not migrated or the login is not a relay's, the relay's start fails later with a better message. */
export async function readKept(options: StoredCredentialsOptions): Promise<Kept> {
  const { read, names, secretKey } = options;
  try {
    return await read(async (db) => ({
      inVault: await call(db, "webhooks.kept_in_vault", {}),
      credentials: await readCredentials(db, names, secretKey),
    }));
  } catch (error) {
    const { sqlState } = toHeadroomError(error);
    if (!(error instanceof HeadroomError) || !startFailures.has(sqlState ?? "")) throw error;
    return { inVault: false, credentials: new Map() };
  }
}

/** SQLSTATEs of a missing schema, table or function, and of a missing right. */
const startFailures = new Set(["3F000", "42P01", "42883", "42501"]);
