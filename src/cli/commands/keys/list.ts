/** `headroom keys list` and `headroom keys revoke`: which keys were handed out, and calling one back. */
import type { Command } from "commander";
import { listApiKeys, revokeApiKey, type ApiKey } from "../../../directory/index.ts";
import { withDatabase } from "../../database.ts";
import { printJson, printLine, printTable } from "../../output.ts";
import { addCommon, orFail, type CommonOptions } from "../request/acting.ts";

export function registerListKeys(keys: Command): void {
  addCommon(keys.command("list").description("list the keys that were handed out")).action(runList);
  addCommon(
    keys
      .command("revoke")
      .description("call a key back, at once and for good")
      .argument("<id>", "the key's id, as listed"),
  ).action(runRevoke);
}

async function runList(options: CommonOptions): Promise<void> {
  const keys = await withDatabase(options, "keys list", listApiKeys);
  if (options.json === true) return printJson({ keys });
  if (keys.length === 0) return printLine("No key was handed out. Next: headroom keys token --member <id>");
  printTable(keys, [
    { title: "ID", value: (row) => row.id },
    { title: "FOR", value: (row) => (row.memberId === null ? "service" : `${row.workspaceId}/${row.memberId}`) },
    { title: "STATE", value: stateOf },
    { title: "CREATED", value: (row) => row.createdAt },
    { title: "EXPIRES", value: (row) => row.expiresAt },
    { title: "NOTE", value: (row) => row.note },
  ]);
}

function stateOf({ revokedAt, expiresAt }: ApiKey): string {
  if (revokedAt !== null) return `revoked ${revokedAt.toISOString()}`;
  return expiresAt !== null && expiresAt.getTime() < Date.now() ? "expired" : "valid";
}

async function runRevoke(id: string, options: CommonOptions): Promise<void> {
  const { key } = orFail(await withDatabase(options, "keys revoke", (client) => revokeApiKey(client, id)));
  if (options.json === true) return printJson({ key });
  printLine(`${key.id} is revoked. Whoever presents it is refused from now on.`);
}
