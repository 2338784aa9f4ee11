/**
 * The rails that a command line asks for: those of the providers that the environment or the database has settings for, the built-in
 * webhook rail, and the rails of the user's module. The user's rail replaces a built-in one of the same name.
 */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { HeadroomError } from "../../db/errors.ts";
import type { SidePool } from "../../db/side-pool.ts";
import { slackWebhookOf } from "../../notify/sending.ts";
import type { Rail } from "../../contract/rail.ts";
import { checkRail } from "../../contract/registry.ts";
import { createSlackWebhookRail } from "../../rails/slack-webhook/rail.ts";
import { createWebhookRail } from "../../rails/webhook/rail.ts";
import { createStoredEndpoints, endpointIdOf } from "../../rails/webhook/stored-endpoints.ts";
import { secretKeyOf } from "../secret-key.ts";
import { endpointFor, readEndpoints, type Endpoints } from "./endpoints.ts";
import type { Log } from "./log.ts";
import type { RailOptions } from "./options.ts";
import { createProviderRails, credentialNames, valueOf, type Environment } from "./provider-rails.ts";
import { readKept, StoredCredentials } from "./stored-credentials.ts";

export interface RailSurroundings {
  /** Connections for what the rails read while they send. */
  readonly side: SidePool;
  readonly log: Log;
  /** Default: the environment of the process. */
  readonly environment?: Environment | undefined;
  /** How long stored credentials are used before they are read again. Default: 30,000. */
  readonly rememberMs?: number | undefined;
}

export async function loadRails(options: RailOptions, surroundings: RailSurroundings): Promise<Rail[]> {
  const own = options.rails === undefined ? [] : await importRails(options.rails);
  const taken = new Set(own.map((rail) => rail.name));
  const { side, log, environment = process.env } = surroundings;
  const asked = {
    read: side.read,
    log,
    rememberMs: surroundings.rememberMs,
    secretKey: secretKeyOf(environment),
    names: credentialNames.filter((name) => valueOf(environment, name) === undefined),
  };
  const { inVault, credentials } = await readKept(asked);
  const opensSecrets = options.webhooks ?? (asked.secretKey !== undefined || inVault);
  return [
    ...own,
    ...(await webhookRails(options, surroundings, opensSecrets)).filter((rail) => !taken.has(rail.name)),
    ...slackWebhookRails(surroundings, opensSecrets).filter((rail) => !taken.has(rail.name)),
    ...createProviderRails(side.read, environment, new StoredCredentials(asked, credentials)).filter(
      (rail) => !taken.has(rail.name),
    ),
  ];
}

/**
 * The webhook rail, if there are endpoints that this relay can use: those of a file, and those of the database if it
 * can open their secrets. A relay without this rail leaves its rows to one that has it.
 */
async function webhookRails(
  options: RailOptions,
  surroundings: RailSurroundings,
  ofDatabase: boolean,
): Promise<Rail[]> {
  const { side, log, environment = process.env } = surroundings;
  const ofFile: Endpoints = options.endpoints === undefined ? new Map() : await readEndpoints(options.endpoints);
  if (options.endpoints === undefined && !ofDatabase) return [];
  const stored = createStoredEndpoints({ read: side.read, secretKey: secretKeyOf(environment), log });
  const rail = createWebhookRail({
    async endpoint(message) {
      if (endpointIdOf(message) === undefined) return endpointFor(ofFile, message);
      // Another relay may have the key to its secrets.
      if (!ofDatabase) throw new HeadroomError("not_configured", "This relay serves only the endpoints of its file.");
      return stored.find(message);
    },
    gone: (endpoint) => stored.gone(endpoint),
    allowHttp: options.allowHttp ?? false,
    allowPrivate: options.allowPrivate ?? [],
  });
  return [rail];
}

/** People's own webhooks in Slack, for a relay that can open their addresses. */
function slackWebhookRails(surroundings: RailSurroundings, opensSecrets: boolean): Rail[] {
  if (!opensSecrets) return [];
  const { side, environment = process.env } = surroundings;
  const rail = createSlackWebhookRail({
    hooksUrl: valueOf(environment, "SLACK_HOOKS_URL"),
    address: ({ outboxId }) => side.read((db) => slackWebhookOf(db, outboxId, secretKeyOf(environment))),
  });
  return [rail];
}

async function importRails(path: string): Promise<Rail[]> {
  const loaded: unknown = await import(pathToFileURL(resolve(path)).href).catch((cause: unknown) => {
    throw new HeadroomError("usage", `The rails module ${path} cannot be loaded.`, {
      detail: cause instanceof Error ? cause.message : String(cause),
      hint: "Check its path and that it runs alone: node <module>",
      cause,
    });
  });
  const given = typeof loaded === "object" && loaded !== null && "default" in loaded ? loaded.default : undefined;
  const made: unknown = typeof given === "function" ? await given() : given;
  const rails: unknown[] = Array.isArray(made) ? made : [made];
  for (const rail of rails) requireRail(rail, path);
  return rails.filter(isRail);
}

function isRail(value: unknown): value is Rail {
  return typeof value === "object" && value !== null && "name" in value && "send" in value;
}

function requireRail(value: unknown, path: string): void {
  if (!isRail(value)) {
    throw new HeadroomError("usage", `The default export of ${path} is not a rail.`, {
      hint: "Export a rail, a list of rails, or a function that returns either. A rail has name, capability, timeoutMs and send.",
    });
  }
  checkRail(value);
}
