/** `headroom jobs secret`: the secret that a workspace's runs sign their callbacks with. */
import { type Command, Option } from "commander";
import { HeadroomError } from "../../../db/errors.ts";
import { dropPreviousSecret, listSettings, putCallbackSecret } from "../../../provisioning/index.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, type CommonOptions } from "../../options.ts";
import { printJson, printLine } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { findSecretKey, secretKeyOption } from "../../secret-key.ts";
import { requireWorkspace, workspaceOption, type WorkspaceOption } from "../../workspace.ts";
import { showNewSecret } from "./new-secret.ts";

interface SecretOptions extends CommonOptions, WorkspaceOption {
  readonly rotate?: boolean;
  readonly dropPrevious?: boolean;
  readonly secretKey?: string;
}

export function registerSecret(jobs: Command): void {
  addCommon(
    jobs
      .command("secret")
      .description("give a workspace's runs a new secret to sign callbacks with, or drop the previous one")
      .option("--rotate", "make a new secret, shown only once; the old one stays valid for now")
      .addOption(new Option("--drop-previous", "the old secret is no longer valid").conflicts("rotate"))
      .addOption(workspaceOption())
      .addOption(secretKeyOption()),
  ).action(runSecret);
}

async function runSecret(options: SecretOptions): Promise<void> {
  if (options.rotate === true) return rotate(options);
  if (options.dropPrevious === true) return dropPrevious(options);
  throw new HeadroomError("usage", "Nothing was asked for.", {
    hint: "Pass --rotate or --drop-previous. headroom jobs connect shows whether there is one.",
  });
}

async function rotate(options: SecretOptions): Promise<void> {
  const key = await findSecretKey(options);
  const { secret, connected } = await withDatabase(options, "jobs secret", async (client) => ({
    secret: orFail(await putCallbackSecret(client, options.workspace, { key })).secret,
    connected: (await listSettings(client, key)).find((row) => row.workspaceId === options.workspace) ?? null,
  }));
  if (options.json === true) return printJson({ workspace: options.workspace, secret });
  printLine(`The workspace ${options.workspace} has a new callback secret.`);
  showNewSecret(secret, connected);
  printLine("An earlier secret stays valid, because runs under way sign with it. When they have ended:");
  printLine(`  headroom jobs secret --drop-previous --workspace ${options.workspace}`);
}

async function dropPrevious(options: SecretOptions): Promise<void> {
  await withDatabase(options, "jobs secret", async (client) => {
    await requireWorkspace(client, options.workspace);
    orFail(await dropPreviousSecret(client, options.workspace));
  });
  if (options.json === true) return printJson({ workspace: options.workspace, previous: "dropped" });
  printLine(`Only the present callback secret of the workspace ${options.workspace} is valid now.`);
}
