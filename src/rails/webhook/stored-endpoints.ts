/**
 * Finds endpoints in the database for the webhook rail, and records in the database when one is gone.
 *
 * Owns: caching an endpoint briefly, so that a busy one is not read for each request. A change is seen when the cache expires,
 * and a secret is never used after it expires. Does not own: what an endpoint is, nor how its secrets are kept.
 */
import type { Pool } from "pg";
import { z } from "zod";
import { call, type FunctionResult } from "../../db/call.ts";
import { HeadroomError, toHeadroomError } from "../../db/errors.ts";
import type { Use } from "../../db/side-pool.ts";
import { withSecretKey, type SecretKey } from "../../db/secrets/secret-key.ts";
import type { RailMessage } from "../../contract/rail.ts";
import type { DisabledEndpoint, WebhookEndpoint } from "./config.ts";

export interface StoredEndpointsOptions {
  /** A pool of a member of headroom_executor; one or two connections are enough. Give either this or `read`. */
  readonly pool?: Pool | undefined;
  /** Lends a connection to read with, as a side pool does. */
  readonly read?: Use | undefined;
  /** HEADROOM_SECRET_KEY, and while it is being changed the previous one; not needed with Vault. */
  readonly secretKey?: SecretKey | undefined;
  /** How long an endpoint is remembered. Default: 2,000. */
  readonly rememberMs?: number | undefined;
  /** Called with the reason why an endpoint could not be read: a code, never a secret. Default: nothing. */
  readonly log?: ((entry: { level: "warn"; event: string; endpoint: string; code: string }) => void) | undefined;
}

/** The row's tenant and destination. */
export type Addressed = Pick<RailMessage, "destination" | "tenantId">;

export interface StoredEndpoints {
  /**
   * The endpoint that a row is addressed to, by its identity; null when there is none, or when it belongs to another tenant than the
   * row. Throws if it cannot be read now.
   */
  find(row: Addressed): Promise<WebhookEndpoint | DisabledEndpoint | null>;
  /** Disables the endpoint, unless it was changed after it was found. */
  gone(endpoint: WebhookEndpoint): Promise<void>;
}

const defaultRememberMs = 2_000;
/** With more endpoints than this in two seconds, a cache is of no use. */
const maxRemembered = 1_000;

type Row = FunctionResult<"webhooks.endpoint_for_relay">[number];
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
  readonly #use: Use;
  readonly #remembered = new Map<string, Remembered>();
  /** The objects that were returned: the rail keeps what it prepared for an endpoint as long as the object is the same. */
  readonly #handedOut = new Map<string, { readonly text: string; readonly endpoint: WebhookEndpoint }>();
  readonly #origins = new WeakMap<WebhookEndpoint, { readonly id: string; readonly version: number }>();

  constructor(options: StoredEndpointsOptions) {
    this.#options = options;
    this.#use = options.read ?? lender(options.pool);
  }

  find(row: Addressed): Promise<Found> {
    const id = endpointIdOf(row);
    if (id === undefined) return Promise.resolve(null);
    // The key includes the tenant: what one tenant's rows find must not be used for another's.
    const asked = `${id} ${row.tenantId ?? ""}`;
    const known = this.#remembered.get(asked);
    if (known !== undefined && performance.now() < known.untilMs) return known.found;
    if (this.#remembered.size >= maxRemembered) {
      this.#remembered.clear();
      this.#handedOut.clear();
    }
    const found = this.#read(id, row.tenantId, () => entry).catch((error: unknown) => {
      if (this.#remembered.get(asked) === entry) this.#remembered.delete(asked);
      const { code } = toHeadroomError(error);
      this.#options.log?.({ level: "warn", event: "endpoint_unavailable", endpoint: id, code });
      throw error;
    });
    const entry: Remembered = {
      found,
      untilMs: performance.now() + (this.#options.rememberMs ?? defaultRememberMs),
    };
    this.#remembered.set(asked, entry);
    return found;
  }

  async gone(endpoint: WebhookEndpoint): Promise<void> {
    const origin = this.#origins.get(endpoint);
    if (origin === undefined) return;
    const gone = { p_endpoint_id: origin.id, p_version: origin.version };
    await this.#use((db) => call(db, "webhooks.endpoint_gone", gone));
    this.#remembered.clear();
  }

  async #read(id: string, tenantId: string | null, entry: () => Remembered): Promise<Found> {
    const asked = { p_endpoint_id: id, p_tenant_id: tenantId };
    const [row] = await this.#use((db) =>
      withSecretKey(db, this.#options.secretKey, () => call(db, "webhooks.endpoint_for_relay", asked)),
    );
    if (row === undefined) return null;
    if (!row.enabled) return { disabled: true, reason: row.disabled_code ?? "disabled" };
    if (row.expires_in_ms !== null) {
      entry().untilMs = Math.min(entry().untilMs, performance.now() + Math.max(0, row.expires_in_ms));
    }
    return this.#endpointOf(row);
  }

  #endpointOf(row: Row): WebhookEndpoint {
    if (row.secrets === null || (row.headers === null && row.has_headers)) {
      throw new HeadroomError("not_configured", `The secrets of endpoint ${row.id} cannot be read.`, {
        hint: "Give this relay the HEADROOM_SECRET_KEY under which they were stored.",
      });
    }
    const text = JSON.stringify([row.version, row.url, row.private, row.secrets, row.headers]);
    const before = this.#handedOut.get(row.id);
    if (before?.text === text) return before.endpoint;
    const { url, secrets, headers } = row;
    const endpoint: WebhookEndpoint = {
      url,
      secrets,
      publicOnly: !row.private,
      ...(headers === null ? {} : { headers: headersSchema.parse(headers) }),
    };
    this.#handedOut.set(row.id, { text, endpoint });
    this.#origins.set(endpoint, { id: row.id, version: row.version });
    return endpoint;
  }
}

const headersSchema = z.record(z.string(), z.string());

/** The destination of a row for a stored endpoint names it by id. */
export function endpointIdOf({ destination }: Pick<RailMessage, "destination">): string | undefined {
  return destination?.startsWith(destinationPrefix) === true ? destination.slice(destinationPrefix.length) : undefined;
}

const destinationPrefix = "endpoint:";

function lender(pool: Pool | undefined): Use {
  if (pool === undefined)
    throw new HeadroomError("usage", "Stored endpoints need a pool, or a function that lends a connection.");
  return async (work) => {
    const client = await pool.connect();
    let failed = true;
    try {
      const result = await work(client);
      failed = false;
      return result;
    } finally {
      // A connection in an unknown state is not reused.
      client.release(failed);
    }
  };
}
