/** `headroom keys list`: which API keys were issued, and whether they are still valid. */
import type { Command } from "commander";
import { listApiKeys, type ApiKey } from "../../../directory/index.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, type CommonOptions } from "../../options.ts";
import { printJson, printLine, printTable } from "../../output.ts";

export function registerListKeys(keys: Command): void {
  addCommon(keys.command("list").description("list the API keys that were issued")).action(runList);
}

async function runList(options: CommonOptions): Promise<void> {
  const keys = await withDatabase(options, "keys list", listApiKeys);
  if (options.json === true) return printJson({ keys });
  if (keys.length === 0) return printLine("No API key was issued. Next: headroom keys token --member <id>");
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
