/**
 * The keys that a command needs besides the database: from the environment, or from the `headroom up` that runs in this folder.
 *
 * Owns: where they are looked for. An installation's own keys are used only with its own database: in another database
 * they would decrypt nothing, and what they encrypted or signed would be lost.
 */
import { Option } from "commander";
import { HeadroomError } from "../db/errors.ts";
import type { SecretKey } from "../db/secrets/secret-key.ts";
import type { DatabaseUrlOption } from "./database.ts";
import { readInstallationKeys, type KeptKeys } from "./installation.ts";
import { findLocalServer } from "./local-server.ts";
import type { Environment } from "./relay/provider-rails.ts";

export interface SecretKeyOption {
  readonly secretKey?: string | undefined;
}

/** The keys that the database's secrets are encrypted with, from the environment; undefined if it has none, as with Vault. */
export function secretKeyOf(environment: Environment): SecretKey | undefined {
  const [current, previous] = [environment["HEADROOM_SECRET_KEY"], environment["HEADROOM_SECRET_KEY_PREVIOUS"]];
  if (isGiven(current)) return isGiven(previous) && previous !== current ? { current, previous } : current;
  if (!isGiven(previous)) return undefined;
  throw new HeadroomError("usage", "HEADROOM_SECRET_KEY_PREVIOUS is set, but HEADROOM_SECRET_KEY is not.", {
    hint: "While the key is rotated, set both: HEADROOM_SECRET_KEY to the new key and HEADROOM_SECRET_KEY_PREVIOUS to the old one.",
  });
}

/** Hidden, because it belongs in the environment: a command line can be seen by everybody on the machine. */
export function secretKeyOption(): Option {
  return new Option("--secret-key <key>").env("HEADROOM_SECRET_KEY").hideHelp();
}

/** The keys of the database's secrets; undefined if there is none, as with Vault. */
export async function findSecretKey(options: DatabaseUrlOption & SecretKeyOption): Promise<SecretKey | undefined> {
  const local = isGiven(options.secretKey) ? undefined : await findLocalKeys(options);
  return secretKeyOf({ ...process.env, HEADROOM_SECRET_KEY: options.secretKey || local?.secretKey });
}

/** The keys of the installation that runs in this folder; undefined when the command is about another database. */
export async function findLocalKeys(options: DatabaseUrlOption): Promise<KeptKeys | undefined> {
  if (isGiven(options.databaseUrl)) return undefined;
  const local = await findLocalServer();
  return local === undefined ? undefined : readInstallationKeys(local.home);
}

function isGiven(value: string | undefined): value is string {
  return value !== undefined && value !== "";
}
