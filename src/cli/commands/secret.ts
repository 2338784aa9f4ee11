/** `headroom secret …`: the keys and tokens that the database uses. They go in; nothing brings them out again. */
import { text } from "node:stream/consumers";
import type { Command } from "commander";
import { listSecrets, setSecret } from "../../capacity/index.ts";
import { HeadroomError } from "../../db/errors.ts";
import { withDatabase } from "../database.ts";
import { printJson, printLine, printTable } from "../output.ts";
import { findSecretKey, secretKeyOption } from "../secret-key.ts";
import { addCommon, orFail, type CommonOptions } from "./request/acting.ts";

interface SecretOptions extends CommonOptions {
  readonly secretKey?: string;
}

export function register(program: Command): void {
  const secret = program.command("secret").description("store the keys and tokens that the database uses");
  addCommon(
    secret
      .command("set")
      .description("store a secret, or replace it; its value is read from standard input")
      .argument("<name>", "such as SLACK_BOT_TOKEN or CONFIRMATION_TOKEN_SECRET")
      .addOption(secretKeyOption()),
  ).action(runSet);
  addCommon(
    secret
      .command("list")
      .description("list the secrets by name, and whether they can be read under HEADROOM_SECRET_KEY")
      .addOption(secretKeyOption()),
  ).action(runList);
}

async function runSet(name: string, options: SecretOptions): Promise<void> {
  if (process.stdin.isTTY) {
    throw new HeadroomError("usage", "The value comes from standard input, so that no shell keeps it.", {
      hint: `For example: openssl rand -hex 32 | headroom secret set ${name}`,
    });
  }
  // The line end that a shell's command adds is not part of the value.
  const value = (await text(process.stdin)).replace(/\r?\n$/, "");
  const key = await findSecretKey(options);
  const stored = orFail(await withDatabase(options, "secret set", (client) => setSecret(client, { name, value, key })));
  if (options.json === true) return printJson(stored);
  printLine(`${stored.name} is stored.`);
}

async function runList(options: SecretOptions): Promise<void> {
  const key = await findSecretKey(options);
  const { secrets } = orFail(await withDatabase(options, "secret list", (client) => listSecrets(client, key)));
  if (options.json === true) return printJson({ secrets });
  if (secrets.length === 0) return printLine("No secret is stored. Next: headroom secret set <name>");
  printTable(secrets, [
    { title: "NAME", value: (row) => row.name },
    { title: "KEPT IN", value: (row) => row.keptIn },
    { title: "READABLE", value: (row) => (row.readable ? "yes" : "no, under another HEADROOM_SECRET_KEY") },
    { title: "UPDATED", value: (row) => row.updatedAt.toISOString() },
  ]);
}
