/**
 * Endpoints that the database stores: where webhooks go, what they are signed with, and which topics each receives.
 *
 * Owns: one typed wrapper for each of its functions. Does not own: what an endpoint may be (the SQL decides), nor calling one
 * (the webhook rail).
 */
import type { ClientBase } from "pg";
import { call, type FunctionResult, type Queryable } from "../db/call.ts";
import { withSecretKey, type SecretKey } from "../db/secrets/secret-key.ts";

export interface Endpoint {
  /** Its identity: `endpoint:<id>` is the destination of its rows. */
  readonly id: string;
  /** Unique among the endpoints of its workspace, or of the installation. */
  readonly name: string;
  /** The workspace whose events it receives; null for an endpoint of the installation. */
  readonly workspaceId: string | null;
  readonly url: string;
  readonly description: string | null;
  readonly topics: readonly string[];
  readonly headerNames: readonly string[];
  readonly enabled: boolean;
  readonly disabledAt: Date | null;
  /** `operator`, or `gone` when the receiver answered 410. */
  readonly disabledCode: string | null;
  readonly disabledReason: string | null;
  /** How many secrets sign. */
  readonly secrets: number;
  /** Whether the secrets can be read under the key of this process. */
  readonly readable: boolean;
  /** When the next of the old secrets stops signing. */
  readonly oldSecretUntil: Date | null;
  readonly dead: number;
  readonly circuit: string;
  readonly createdAt: Date;
}

export interface EndpointChanges {
  readonly url?: string | undefined;
  readonly topics?: readonly string[] | undefined;
  readonly description?: string | null | undefined;
  /** Sent with every request; null removes them. */
  readonly headers?: Readonly<Record<string, string>> | null | undefined;
}

/** Whose endpoint of that name is meant. */
export interface EndpointOwner {
  /** Default: the installation's own. */
  readonly workspaceId?: string | undefined;
}

export interface PutEndpointOptions extends EndpointOwner {
  /** HEADROOM_SECRET_KEY; not needed with Vault. */
  readonly key?: SecretKey | undefined;
  /** An existing secret. Default: one is made. */
  readonly secret?: string | undefined;
  /** Allows http and private addresses, for a sandbox; a relay must allow them too. Default: false. */
  readonly allowPrivate?: boolean | undefined;
}

export async function putEndpoint(
  client: ClientBase,
  name: string,
  changes: EndpointChanges,
  options: PutEndpointOptions = {},
): Promise<{ readonly created: boolean; readonly secret: string | null }> {
  const { url, topics, description, headers } = changes;
  return withSecretKey(client, options.key, () =>
    call(client, "webhooks.put_endpoint", {
      p_name: name,
      // Undefined fields are left out of the JSON, and so stay as they are.
      p_changes: { url, topics, description, headers },
      p_secret: options.secret,
      p_allow_private: options.allowPrivate,
      p_tenant_id: options.workspaceId,
    }),
  );
}

export async function listEndpoints(
  client: ClientBase,
  options: { readonly key?: SecretKey | undefined; readonly workspaceId?: string | undefined } = {},
): Promise<Endpoint[]> {
  const rows = await withSecretKey(client, options.key, () =>
    call(client, "webhooks.list_endpoints", { p_tenant_id: options.workspaceId }),
  );
  return rows.map(toEndpoint);
}

/** Adds a secret, which is returned only by this call; the old ones sign together with it for that long. Default: a day. */
export async function rotateEndpointSecret(
  client: ClientBase,
  name: string,
  options: EndpointOwner & {
    readonly key?: SecretKey | undefined;
    readonly windowHours?: number | undefined;
    readonly secret?: string | undefined;
  } = {},
): Promise<string> {
  const { key, windowHours, secret, workspaceId } = options;
  return withSecretKey(client, key, () =>
    call(client, "webhooks.rotate_endpoint_secret", {
      p_name: name,
      p_secret: secret,
      p_window: windowHours === undefined ? undefined : `${windowHours} hours`,
      p_tenant_id: workspaceId,
    }),
  );
}

export function enableEndpoint(db: Queryable, name: string, owner: EndpointOwner = {}): Promise<void> {
  return call(db, "webhooks.enable_endpoint", { p_name: name, p_tenant_id: owner.workspaceId });
}

export function disableEndpoint(
  db: Queryable,
  name: string,
  options: EndpointOwner & { readonly reason?: string | undefined } = {},
): Promise<void> {
  const { reason, workspaceId } = options;
  return call(db, "webhooks.disable_endpoint", { p_name: name, p_reason: reason, p_tenant_id: workspaceId });
}

/** Permanent: one that is made under the same name later is a different one. Refused while alerts go to it. */
export function removeEndpoint(db: Queryable, name: string, owner: EndpointOwner = {}): Promise<void> {
  return call(db, "webhooks.remove_endpoint", { p_name: name, p_tenant_id: owner.workspaceId });
}

/** Enqueues a signed test event, and returns its row. */
export function pingEndpoint(db: Queryable, name: string, owner: EndpointOwner = {}): Promise<string> {
  return call(db, "webhooks.ping_endpoint", { p_name: name, p_tenant_id: owner.workspaceId });
}

/** Sends an endpoint of the installation the events of a period that it missed; returns how many. */
export function replayEnvelopes(
  db: Queryable,
  name: string,
  period: { readonly from: Date; readonly to?: Date | undefined; readonly stream?: string | undefined },
): Promise<number> {
  return call(db, "webhooks.replay_envelopes", {
    p_endpoint: name,
    p_from: period.from,
    p_to: period.to,
    p_stream: period.stream,
  });
}

function toEndpoint(row: FunctionResult<"webhooks.list_endpoints">[number]): Endpoint {
  return {
    id: row.id,
    name: row.name,
    workspaceId: row.tenant_id,
    url: row.url,
    description: row.description,
    topics: row.topics,
    headerNames: row.header_names,
    enabled: row.enabled,
    disabledAt: row.disabled_at,
    disabledCode: row.disabled_code,
    disabledReason: row.disabled_reason,
    secrets: row.secrets,
    readable: row.readable,
    oldSecretUntil: row.old_secret_until,
    dead: row.dead,
    circuit: row.circuit,
    createdAt: row.created_at,
  };
}
