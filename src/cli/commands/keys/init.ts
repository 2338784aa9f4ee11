/**
 * `headroom keys init`: the secrets that an installation needs, as an environment file.
 *
 * Needs no database, because the keys come first. Only the person who runs this keeps them.
 */
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import type { Command } from "commander";
import { HeadroomError, nodeCodeOf } from "../../../db/errors.ts";
import { makeGatewayKeys, randomKey, signToken, tokenScope } from "../../make-keys.ts";
import { printJson, printLine } from "../../output.ts";

interface InitOptions {
  readonly out?: string;
  readonly json?: boolean;
}

export function registerInit(keys: Command): void {
  keys
    .command("init")
    .description(
      "create the keys of a new installation: prints them, or writes an environment file that only you can read",
    )
    .option("--out <file>", "write them to this file (mode 600); an existing file is not overwritten")
    .option("--json", "print one JSON object")
    .action(runInit);
}

async function runInit(options: InitOptions): Promise<void> {
  const scope = tokenScope(process.env);
  const { jwtSecret, anonKey } = await makeGatewayKeys(scope);
  // With an id, so that it can be revoked without a new secret.
  const serviceClaims = { role: "service_role", key_id: `service-${randomBytes(6).toString("hex")}` } as const;
  const values = {
    HEADROOM_JWT_SECRET: jwtSecret,
    HEADROOM_ANON_KEY: anonKey,
    HEADROOM_SERVICE_KEY: await signToken(serviceClaims, { ...scope, jwtSecret, expiresAt: null }),
    HEADROOM_SECRET_KEY: randomKey(),
    HEADROOM_RELAY_SECRET: randomKey(),
  };
  const text = Object.entries(values)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
  if (options.out === undefined) {
    if (options.json === true) return printJson(values);
    process.stdout.write(text);
    return;
  }
  await writeNew(options.out, text);
  if (options.json === true) return printJson({ written: options.out, names: Object.keys(values) });
  printLine(`${options.out} contains ${Object.keys(values).join(", ")}.`);
  printLine(
    `Keep it as safe as a password. Next: node --env-file=${options.out} …, or load it with your process manager.`,
  );
}

/** Keys that are in use are never overwritten: what they signed or encrypted would be lost with them. */
async function writeNew(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { mode: 0o600, flag: "wx" });
  } catch (cause) {
    if (nodeCodeOf(cause) === "EEXIST") {
      throw new HeadroomError("usage", `${path} already exists. Nothing was changed.`, {
        hint: "Give another file name, or move that file away if nothing uses its keys.",
      });
    }
    throw new HeadroomError("usage", `${path} cannot be written.`, { detail: nodeCodeOf(cause), cause });
  }
}
