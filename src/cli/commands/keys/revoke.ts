/** `headroom keys revoke`: revokes an API key, immediately and permanently. */
import type { Command } from "commander";
import { revokeApiKey } from "../../../directory/index.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, type CommonOptions } from "../../options.ts";
import { printJson, printLine } from "../../output.ts";
import { orFail } from "../../refusal.ts";

export function registerRevoke(keys: Command): void {
  addCommon(
    keys
      .command("revoke")
      .description("revoke an API key, immediately and permanently")
      .argument("<id>", "the key's id, as listed"),
  ).action(runRevoke);
}

async function runRevoke(id: string, options: CommonOptions): Promise<void> {
  const { key } = orFail(await withDatabase(options, "keys revoke", (client) => revokeApiKey(client, id)));
  if (options.json === true) return printJson({ key });
  printLine(`${key.id} is revoked. It is refused from now on.`);
}
