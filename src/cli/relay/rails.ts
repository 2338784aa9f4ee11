/**
 * The rails that a command line asks for: those of the providers that the environment has settings for, the built-in
 * webhook rail, and what a module of the user's brings. The user's rail replaces a built-in one of the same name.
 */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { HeadroomError } from "../../db/errors.ts";
import type { Rail } from "../../rails/rail.ts";
import { checkRail } from "../../rails/registry.ts";
import { createWebhookRail } from "../../rails/webhook/rail.ts";
import { endpointFor, readEndpoints } from "./endpoints.ts";
import type { RelayCommandOptions } from "./options.ts";
import { createProviderRails, type Environment } from "./provider-rails.ts";

export async function loadRails(options: RelayCommandOptions, environment: Environment = process.env): Promise<Rail[]> {
  const own = options.rails === undefined ? [] : await importRails(options.rails);
  const taken = new Set(own.map((rail) => rail.name));
  return [
    ...own,
    ...(options.endpoints === undefined ? [] : [await webhookRail(options.endpoints, options)]),
    ...createProviderRails(environment).filter((rail) => !taken.has(rail.name)),
  ];
}

async function webhookRail(file: string, options: RelayCommandOptions): Promise<Rail> {
  const endpoints = await readEndpoints(file);
  return createWebhookRail({
    endpoint: (message) => Promise.resolve(endpointFor(endpoints, message)),
    allowHttp: options.allowHttp ?? false,
    allowPrivate: options.allowPrivate ?? [],
  });
}

async function importRails(path: string): Promise<Rail[]> {
  const loaded: unknown = await import(pathToFileURL(resolve(path)).href).catch((cause: unknown) => {
    throw new HeadroomError("usage", `The rails module ${path} cannot be loaded.`, {
      detail: cause instanceof Error ? cause.message : String(cause),
      hint: "Check its path and that it runs by itself: node <module>",
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
    throw new HeadroomError("usage", `The default export of ${path} is no rail.`, {
      hint: "Export a rail, a list of rails, or a function that returns either. A rail has name, capability, timeoutMs and send.",
    });
  }
  checkRail(value);
}
