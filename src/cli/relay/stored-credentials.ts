/**
 * Credentials of providers that the database keeps for relays (`headroom secret set`), beside those of the environment.
 *
 * Owns: reading them, reading them again while rails send, and changing a rail's when they change. Does not own: which there are and which
 * environment variables they stand for (provider-rails.ts), nor who may read them (outbox.rail_credentials).
 */
import { call, type Queryable } from "../../db/call.ts";
import { HeadroomError, toHeadroomError } from "../../db/errors.ts";
import { withSecretKey, type SecretKey } from "../../db/secrets/secret-key.ts";
import type { Use } from "../../db/side-pool.ts";
import { withTimeout } from "../../db/wait/with-timeout.ts";
import type { Rail } from "../../contract/rail.ts";
import { closeRails } from "./close-rails.ts";
import type { Log } from "./log.ts";

/** By name; null where this process cannot open it. */
export type CredentialValues = ReadonlyMap<string, string | null>;

export interface StoredCredentialsOptions {
  readonly read: Use;
  readonly secretKey: SecretKey | undefined;
  /** Those that the environment does not set. No others are asked for. */
  readonly names: readonly string[];
  readonly log: Log;
  /** For how long what was read counts while rails send. Default: 30,000. */
  readonly rememberMs?: number | undefined;
}

const defaultRememberMs = 30_000;
/** A send waits no longer for a database that does not answer, and goes on with what it has. */
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

  /** The values of not long ago. One that was removed, or cannot be opened any more, stays as it was. */
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
 * The rails of a provider, made of stored credentials and made again when one of these changes. Those that they replace are closed with
 * them, at the end: calls of theirs may be under way.
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
      // What was stored is of the wrong form, and is not repeated here.
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

/** A rail that is made again can do what it could before; this is for the type alone. */
const notAsked = { kind: "unavailable", code: "lookup_failed", reason: "this rail cannot be asked" } as const;

/** What a relay needs to know of what its database keeps, before it has rails. */
export interface Kept {
  /** Whether endpoints' secrets are opened without a key. */
  readonly inVault: boolean;
  readonly credentials: CredentialValues;
}

/** A database that cannot tell, because it was not migrated yet or the login is no relay's, fails the relay's start, in better words. */
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

/** No such schema, table or function; not allowed. */
const startFailures = new Set(["3F000", "42P01", "42883", "42501"]);
