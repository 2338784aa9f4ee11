/**
 * The keys that a command needs beside the database: from the environment, or, beside a running `headroom up`, those that it made.
 *
 * Owns: where they are looked for. An installation's own keys are used with its own database only: as soon as another database is
 * named, they would open nothing there, and what they encrypted or signed would be lost.
 */
import { Option } from "commander";
import type { DatabaseUrlOption } from "./database.ts";
import { findLocalServer } from "./local-server.ts";
import { readInstallationKeys, type InstallationKeys } from "./up/installation.ts";

export interface SecretKeyOption {
  readonly secretKey?: string | undefined;
}

/** From the environment alone: what stands on a command line is seen by everybody on the machine. */
export function secretKeyOption(): Option {
  return new Option("--secret-key <key>").env("HEADROOM_SECRET_KEY").hideHelp();
}

/** The key of the database's secrets; undefined where there is none, as with Vault. */
export async function findSecretKey(options: DatabaseUrlOption & SecretKeyOption): Promise<string | undefined> {
  if (isGiven(options.secretKey)) return options.secretKey;
  return (await findLocalKeys(options))?.secretKey;
}

/** The keys of the installation that runs in this folder; undefined when the command is about another database. */
export async function findLocalKeys(options: DatabaseUrlOption): Promise<InstallationKeys | undefined> {
  if (isGiven(options.databaseUrl)) return undefined;
  const local = await findLocalServer();
  return local === undefined ? undefined : readInstallationKeys(local.home);
}

function isGiven(value: string | undefined): value is string {
  return value !== undefined && value !== "";
}
