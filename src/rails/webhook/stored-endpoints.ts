/**
 * Finds endpoints in the database for the webhook rail, and tells the database when one is gone.
 *
 * Owns: remembering an endpoint for a moment, so that a busy one is not read for each request. A change is seen when the moment
 * is over, and a secret is never used beyond its time. Does not own: what an endpoint is, nor how its secrets are kept.
 */
import type { Pool } from "pg";
import { z } from "zod";
import { call, type FunctionResult } from "../../db/call.ts";
import { HeadroomError, toHeadroomError } from "../../db/errors.ts";
import { withSecretKey } from "../../db/secret-key.ts";
import type { DisabledEndpoint, WebhookEndpoint } from "./config.ts";

export interface StoredEndpointsOptions {
  /** As a member of headroom_executor; one or two connections are enough. */
  readonly pool: Pool;
  /** HEADROOM_SECRET_KEY; not needed with Vault. */
  readonly secretKey?: string | undefined;
  /** How long an endpoint is remembered. Default: 2,000. */
  readonly rememberMs?: number | undefined;
  /** Told why an endpoint could not be read: a code, never a secret. Default: nothing. */
  readonly log?: ((entry: { level: "warn"; event: string; name: string; code: string }) => void) | undefined;
}

export interface StoredEndpoints {
  /** The endpoint of that name; null when there is none. Throws when it cannot be read now. */
  find(name: string): Promise<WebhookEndpoint | DisabledEndpoint | null>;
  /** Disables the endpoint, unless it has been changed since it was found. */
  gone(endpoint: WebhookEndpoint): Promise<void>;
}

const defaultRememberMs = 2_000;
/** More names than this in two seconds means that nobody gains by remembering them. */
const maxRemembered = 1_000;

type Row = FunctionResult<"outbox.endpoint_for_relay">[number];
type Found = WebhookEndpoint | DisabledEndpoint | null;

interface Remembered {
  readonly found: Promise<Found>;
  untilMs: number;
}

export function createStoredEndpoints(options: StoredEndpointsOptions): StoredEndpoints {
  return new Reader(options);
}

class Reader implements StoredEndpoints {
  readonly #options: StoredEndpointsOptions;
  readonly #remembered = new Map<string, Remembered>();
  /** The objects that were handed out: the rail keeps what it prepared for each for as long as it is the same one. */
  readonly #handedOut = new Map<string, { readonly text: string; readonly endpoint: WebhookEndpoint }>();
  readonly #origins = new WeakMap<WebhookEndpoint, { readonly name: string; readonly version: number }>();

  constructor(options: StoredEndpointsOptions) {
    this.#options = options;
  }

  find(name: string): Promise<Found> {
    const known = this.#remembered.get(name);
    if (known !== undefined && performance.now() < known.untilMs) return known.found;
    if (this.#remembered.size >= maxRemembered) {
      this.#remembered.clear();
      this.#handedOut.clear();
    }
    const found = this.#read(name, () => entry).catch((error: unknown) => {
      if (this.#remembered.get(name) === entry) this.#remembered.delete(name);
      const { code } = toHeadroomError(error);
      this.#options.log?.({ level: "warn", event: "endpoint_unavailable", name, code });
      throw error;
    });
    const entry: Remembered = {
      found,
      untilMs: performance.now() + (this.#options.rememberMs ?? defaultRememberMs),
    };
    this.#remembered.set(name, entry);
    return found;
  }

  async gone(endpoint: WebhookEndpoint): Promise<void> {
    const origin = this.#origins.get(endpoint);
    if (origin === undefined) return;
    await call(this.#options.pool, "outbox.endpoint_gone", { p_name: origin.name, p_version: origin.version });
    this.#remembered.delete(origin.name);
  }

  async #read(name: string, entry: () => Remembered): Promise<Found> {
    const [row] = await inTransaction(this.#options.pool, this.#options.secretKey, name);
    if (row === undefined) return null;
    if (!row.enabled) return { disabled: true, reason: row.disabled_code ?? "disabled" };
    if (row.expires_in_ms !== null) {
      entry().untilMs = Math.min(entry().untilMs, performance.now() + Math.max(0, row.expires_in_ms));
    }
    return this.#endpointOf(row);
  }

  #endpointOf(row: Row): WebhookEndpoint {
    if (row.secrets === null || (row.headers === null && row.has_headers)) {
      throw new HeadroomError("not_configured", `The secrets of endpoint "${row.name}" cannot be read.`, {
        hint: "Give this relay the HEADROOM_SECRET_KEY under which they were stored.",
      });
    }
    const text = JSON.stringify([row.version, row.url, row.secrets, row.headers]);
    const before = this.#handedOut.get(row.name);
    if (before?.text === text) return before.endpoint;
    const { url, secrets, headers } = row;
    const endpoint: WebhookEndpoint = {
      url,
      secrets,
      ...(headers === null ? {} : { headers: headersSchema.parse(headers) }),
    };
    this.#handedOut.set(row.name, { text, endpoint });
    this.#origins.set(endpoint, { name: row.name, version: row.version });
    return endpoint;
  }
}

const headersSchema = z.record(z.string(), z.string());

async function inTransaction(pool: Pool, secretKey: string | undefined, name: string): Promise<Row[]> {
  const client = await pool.connect();
  let failed = true;
  try {
    const rows = await withSecretKey(client, secretKey, () =>
      call(client, "outbox.endpoint_for_relay", { p_name: name }),
    );
    failed = false;
    return rows;
  } finally {
    // A connection in doubt is not handed to the next one.
    client.release(failed);
  }
}
