/** `headroom secret …`: the keys and tokens that the database and relays use. They can be stored and replaced, and never shown. */
import { text } from "node:stream/consumers";
import type { Command } from "commander";
import { z } from "zod";
import { call, type FunctionResult } from "../../db/call.ts";
import { listSecrets, removeSecret, setSecret } from "../../db/secrets/index.ts";
import { HeadroomError } from "../../db/errors.ts";
import { withDatabase } from "../database.ts";
import { addCommon, type CommonOptions } from "../options.ts";
import { formatAge, printJson, printLine, printTable } from "../output.ts";
import { orFail } from "../refusal.ts";
import { credentialNames, providerStatus } from "../relay/provider-rails.ts";
import { findSecretKey, secretKeyOption } from "../secret-key.ts";

interface SecretOptions extends CommonOptions {
  readonly secretKey?: string;
}

export function register(program: Command): void {
  const secret = program.command("secret").description("store the keys and tokens that the database and relays use");
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
      .description("remove a secret, such as a previous one that is no longer needed")
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
  const { stored, use } = await withDatabase(options, "secret set", async (client) => ({
    stored: orFail(await setSecret(client, { name, value, key, keepPrevious })),
    use: (await call(client, "outbox.credential_status", {})).find((row) => row.name === name),
  }));
  if (options.json === true) return printJson({ ...stored, rails: use?.rails ?? [] });
  printLine(`${stored.name} is stored.`);
  for (const line of useWords(name, use)) printLine(line);
  if (keepPrevious !== true) return;
  printLine(`The old value stays valid. When it is no longer needed: headroom secret remove ${name}_PREVIOUS`);
}

type CredentialStatus = FunctionResult<"outbox.credential_status">[number];

/** What follows from storing a provider's setting; nothing for any other secret. */
function useWords(name: string, use: CredentialStatus | undefined): string[] {
  if (use !== undefined) {
    return [
      `Relays use it for ${use.rails.join(" and ")}, unless their environment sets ${name}: within a minute if they were started with a stored one, otherwise after a restart.`,
      "Anyone who can log in as a relay can read it, and without Vault needs HEADROOM_SECRET_KEY too. headroom secret list shows who did.",
    ];
  }
  if (!isProviderSetting(name)) return [];
  return [`Nothing reads it from the database: relays take ${name} only from their environment.`];
}

async function runRemove(name: string, options: CommonOptions & { readonly anyway?: boolean }): Promise<void> {
  const { anyway } = options;
  const removed = orFail(
    await withDatabase(options, "secret remove", (client) => removeSecret(client, name, { anyway })),
  );
  if (options.json === true) return printJson(removed);
  const { outcome } = removed;
  printLine(`${name} was ${outcome === "removed" ? "removed" : "overwritten; Vault keeps the row, without its name"}.`);
  if (credentialNames.includes(name))
    printLine("Relays that were started with it keep using it until they are restarted.");
}

async function runList(options: SecretOptions): Promise<void> {
  const key = await findSecretKey(options);
  const secrets = await withDatabase(options, "secret list", async (client) => {
    const uses = await call(client, "outbox.credential_status", {});
    const listed = orFail(await listSecrets(client, key)).secrets;
    return listed.map((row) => ({ ...row, ...usedBy(uses.find(({ name }) => name === row.name)) }));
  });
  if (options.json === true) return printJson({ secrets });
  if (secrets.length === 0) return printLine("No secret is stored. Next: headroom secret set <name>");
  printTable(secrets, [
    { title: "NAME", value: (row) => row.name },
    { title: "KEPT IN", value: (row) => row.keptIn },
    { title: "READABLE", value: (row) => (row.readable ? "yes" : "no, encrypted with another HEADROOM_SECRET_KEY") },
    { title: "USED BY", value: userOf },
    { title: "READ BY", value: (row) => row.readers.map(readerWords).join("; ") },
    { title: "UPDATED", value: (row) => row.updatedAt.toISOString() },
  ]);
}

function userOf({ name, rails }: { readonly name: string; readonly rails: readonly string[] }): string {
  if (rails.length > 0) return `relays: ${rails.join(", ")}`;
  return isProviderSetting(name) ? "nothing" : "the database";
}

function isProviderSetting(name: string): boolean {
  return providerStatus({}).some(({ required, optional }) => [...required, ...optional].includes(name));
}

const readersSchema = z.array(z.object({ login: z.string(), last_at: z.coerce.date(), times: z.number() }));

function readerWords({ login, lastAt }: { readonly login: string; readonly lastAt: Date }): string {
  return `${login}, ${formatAge((Date.now() - lastAt.getTime()) / 1000)} ago`;
}

/** For which rails relays get a secret, and which logins did. A secret that was put into Vault by other means goes to none. */
function usedBy(use: CredentialStatus | undefined) {
  return {
    rails: use === undefined || use.stored_at === null ? [] : use.rails,
    readers: readersSchema
      .parse(use?.readers ?? [])
      .map(({ login, last_at: lastAt, times }) => ({ login, lastAt, times })),
  };
}
