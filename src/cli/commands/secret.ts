/** `headroom secret …`: the keys and tokens that the database uses. They can be stored and replaced, and never shown. */
import { text } from "node:stream/consumers";
import type { Command } from "commander";
import { listSecrets, removeSecret, setSecret } from "../../db/secrets/index.ts";
import { HeadroomError } from "../../db/errors.ts";
import { withDatabase } from "../database.ts";
import { addCommon, type CommonOptions } from "../options.ts";
import { printJson, printLine, printTable } from "../output.ts";
import { orFail } from "../refusal.ts";
import { findSecretKey, secretKeyOption } from "../secret-key.ts";

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
      .option("--keep-previous", "keep the old value valid, as <name>_PREVIOUS, until that is removed")
      .addOption(secretKeyOption()),
  ).action(runSet);
  addCommon(
    secret
      .command("remove")
      .description("remove a secret, such as a previous one that nothing needs any more")
      .argument("<name>", "as listed")
      .option("--anyway", "even if links that it signed are still valid"),
  ).action(runRemove);
  addCommon(
    secret
      .command("list")
      .description("list the secrets by name, and whether they can be decrypted with HEADROOM_SECRET_KEY")
      .addOption(secretKeyOption()),
  ).action(runList);
}

interface SetOptions extends SecretOptions {
  readonly keepPrevious?: boolean;
}

async function runSet(name: string, options: SetOptions): Promise<void> {
  if (process.stdin.isTTY) {
    throw new HeadroomError(
      "usage",
      "The value is read from standard input, so that it stays out of the shell's history.",
      {
        hint: `For example: openssl rand -hex 32 | headroom secret set ${name}`,
      },
    );
  }
  // A line end added by the command before the pipe is not part of the value.
  const value = (await text(process.stdin)).replace(/\r?\n$/, "");
  const key = await findSecretKey(options);
  const { keepPrevious } = options;
  const stored = orFail(
    await withDatabase(options, "secret set", (client) => setSecret(client, { name, value, key, keepPrevious })),
  );
  if (options.json === true) return printJson(stored);
  printLine(`${stored.name} is stored.`);
  if (keepPrevious !== true) return;
  printLine(`The old value stays valid. When nothing needs it any more: headroom secret remove ${name}_PREVIOUS`);
}

async function runRemove(name: string, options: CommonOptions & { readonly anyway?: boolean }): Promise<void> {
  const { anyway } = options;
  const removed = orFail(
    await withDatabase(options, "secret remove", (client) => removeSecret(client, name, { anyway })),
  );
  if (options.json === true) return printJson(removed);
  const { outcome } = removed;
  printLine(`${name} was ${outcome === "removed" ? "removed" : "overwritten; Vault keeps the row, without its name"}.`);
}

async function runList(options: SecretOptions): Promise<void> {
  const key = await findSecretKey(options);
  const { secrets } = orFail(await withDatabase(options, "secret list", (client) => listSecrets(client, key)));
  if (options.json === true) return printJson({ secrets });
  if (secrets.length === 0) return printLine("No secret is stored. Next: headroom secret set <name>");
  printTable(secrets, [
    { title: "NAME", value: (row) => row.name },
    { title: "KEPT IN", value: (row) => row.keptIn },
    { title: "READABLE", value: (row) => (row.readable ? "yes" : "no, encrypted with another HEADROOM_SECRET_KEY") },
    { title: "UPDATED", value: (row) => row.updatedAt.toISOString() },
  ]);
}
