/**
 * How this installation is used, according to its database and the environment: from this the checks derive what is needed.
 *
 * Owns: reading it once. Does not own: what is right or wrong about it.
 */
import type { Client } from "pg";
import { call, type FunctionResult } from "../../../db/call.ts";
import type { Part } from "../../../db/layers.ts";
import type { SecretKey } from "../../../db/secrets/secret-key.ts";
import { listSettings, type ConnectedWorkflows } from "../../../provisioning/index.ts";
import { valueOf, type Environment } from "../../relay/provider-rails.ts";
import { readRelays, type RelayEntry } from "../../relay/read-relays.ts";
import { readCredentials, type CredentialValues } from "../../relay/stored-credentials.ts";
import { wasServed, type RailStatus } from "../../relay/unserved.ts";
import { ifAllowed } from "./finding.ts";

export type WorkspaceNeeds = FunctionResult<"capacity.workspace_needs">[number];
export type MoneyNeeds = FunctionResult<"billing.workspace_needs">[number];
export type StreamStatus = FunctionResult<"outbox.status">[number];

/** The credentials that the database keeps for relays. */
export interface CredentialFacts {
  /** As a relay with this login and this process' key gets them; undefined if the login may not read them. */
  readonly values: CredentialValues | undefined;
  /** The names of the stored ones. */
  readonly stored: readonly string[];
}

export interface Facts {
  readonly environment: Environment;
  /** The key to the encrypted secrets, if this process has it. */
  readonly secretKey: SecretKey | undefined;
  /** Undefined if this login may not see them. Empty if only the engine is installed. */
  readonly workspaces: readonly WorkspaceNeeds[] | undefined;
  /** The workflows that provide capacity; undefined likewise. */
  readonly connected: readonly ConnectedWorkflows[] | undefined;
  /** What workspaces need to accept payments; undefined likewise. */
  readonly money: readonly MoneyNeeds[] | undefined;
  readonly rails: readonly RailStatus[];
  readonly credentials: CredentialFacts;
  /** Rows that wait for a guarded rail that was not granted to their stream. */
  readonly ungranted: readonly FunctionResult<"outbox.ungranted">[number][];
  readonly relays: readonly RelayEntry[];
  readonly streams: readonly StreamStatus[];
  /** Rows that wait to be sent, over all streams. */
  readonly waiting: number;
}

export async function readFacts(
  client: Client,
  environment: Environment,
  secretKey: SecretKey | undefined,
  parts: readonly Part[],
): Promise<Facts> {
  const streams = await call(client, "outbox.status", {});
  const hasProduct = parts.includes("product");
  return {
    environment,
    secretKey,
    workspaces: hasProduct ? await ifAllowed(call(client, "capacity.workspace_needs", {})) : [],
    connected: hasProduct ? await ifAllowed(listSettings(client, secretKey)) : [],
    money: hasProduct ? await ifAllowed(call(client, "billing.workspace_needs", {})) : [],
    rails: await call(client, "outbox.rail_status", {}),
    credentials: await readCredentialFacts(client, environment, secretKey),
    ungranted: await call(client, "outbox.ungranted", {}),
    relays: await readRelays(client),
    streams,
    waiting: streams.reduce((sum, row) => sum + row.pending, 0),
  };
}

async function readCredentialFacts(
  client: Client,
  environment: Environment,
  secretKey: SecretKey | undefined,
): Promise<CredentialFacts> {
  const status = await call(client, "outbox.credential_status", {});
  const stored = status.flatMap(({ name, stored_at: at }) => (at === null ? [] : [name]));
  // Credentials that the environment sets are not read: they are not needed here.
  const asked = stored.filter((name) => valueOf(environment, name) === undefined);
  return { values: await ifAllowed(readCredentials(client, asked, secretKey)), stored };
}

/** Whether people use requests here; an engine without the product has no members. */
export function isInUse({ workspaces }: Pick<Facts, "workspaces">): boolean {
  return workspaces?.some((workspace) => workspace.in_use) ?? false;
}

/** Whether a relay (a process, or one on demand) serves this rail. */
export function isServed({ rails }: Pick<Facts, "rails">, name: string): boolean {
  return rails.some((row) => row.rail === name && wasServed(row));
}

const ofServers = [
  "HEADROOM_GATEWAY_URL",
  "HEADROOM_JWT_SECRET",
  "HEADROOM_RELAY_SECRET",
  "SLACK_BOT_TOKEN",
  "LINEAR_API_KEY",
  "SMTP_URL",
  "POSTAL_API_KEY",
  "GITHUB_TOKEN",
  "STRIPE_SECRET_KEY",
];

/** Whether this is the environment of a server or a relay, which must be complete; an operator's may have only the database. */
export function isServersEnvironment(environment: Environment): boolean {
  return ofServers.some((variable) => valueOf(environment, variable) !== undefined);
}

/** "a", "a and b", "a, b and 3 more": names in a sentence. */
export function listed(names: readonly string[], most = 5): string {
  const shown = names.length > most ? [...names.slice(0, most), `${names.length - most} more`] : [...names];
  const last = shown.pop() ?? "";
  return shown.length === 0 ? last : `${shown.join(", ")} and ${last}`;
}

export function inWorkspaces(workspaces: readonly WorkspaceNeeds[]): string {
  const names = listed(workspaces.map(({ workspace_id: id }) => `"${id}"`));
  return workspaces.length === 1 ? `workspace ${names}` : `workspaces ${names}`;
}
