/** `headroom endpoint list`: the endpoints and their state, never their secrets. */
import type { Command } from "commander";
import { listEndpoints, type Endpoint } from "../../../webhooks/endpoints.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, type CommonOptions } from "../../options.ts";
import { printJson, printLine, printTable } from "../../output.ts";
import { findSecretKey, secretKeyOption } from "../../secret-key.ts";
import { named } from "./owner.ts";
import { parseUrl } from "../../../db/parse-url.ts";

interface ListOptions extends CommonOptions {
  readonly workspace?: string;
  readonly secretKey?: string;
}

export function registerList(endpoint: Command): void {
  addCommon(
    endpoint
      .command("list")
      .description("list the endpoints, their topics and their state")
      .option("--workspace <id>", "only those of this workspace")
      .addOption(secretKeyOption()),
  ).action(runList);
}

async function runList(options: ListOptions): Promise<void> {
  const key = await findSecretKey(options);
  const endpoints = await withDatabase(options, "endpoint list", (client) =>
    listEndpoints(client, { key, workspaceId: options.workspace }),
  );
  if (options.json === true) return printJson({ endpoints });
  if (endpoints.length === 0)
    return printLine("There are no endpoints. Next: headroom endpoint add <name> --url <url>");
  printTable(endpoints, [
    { title: "NAME", value: (row) => row.name },
    { title: "STATE", value: stateOf },
    { title: "URL", value: (row) => hostOf(row.url) },
    { title: "TOPICS", value: (row) => row.topics.join(", ") || "none" },
    { title: "WORKSPACE", value: (row) => row.workspaceId },
    { title: "SECRETS", value: secretsOf },
    { title: "DEAD", value: (row) => row.dead, align: "right" },
  ]);
  const disabled = endpoints.filter((row) => !row.enabled);
  if (disabled.length > 0) printLine();
  for (const row of disabled) {
    const why = row.disabledReason ?? "";
    printLine(`${row.name} has been disabled since ${row.disabledAt?.toISOString() ?? "?"}. ${why}`.trimEnd());
    printLine(`  Once its receiver works again: headroom endpoint enable ${named(row.name, row.workspaceId)}`);
  }
}

function stateOf(row: Endpoint): string {
  if (!row.enabled) return row.disabledCode === "gone" ? "gone" : "disabled";
  return row.circuit === "closed" ? "enabled" : `circuit ${row.circuit}`;
}

/** A path or a query may contain a token, so a table leaves them out; --json shows the whole URL. */
function hostOf(url: string): string {
  const parsed = parseUrl(url);
  return parsed === null ? url : `${parsed.origin}${parsed.pathname === "/" ? "" : "/…"}`;
}

function secretsOf(row: Endpoint): string {
  if (!row.readable) return `${row.secrets}, not readable with this HEADROOM_SECRET_KEY`;
  return row.oldSecretUntil === null
    ? String(row.secrets)
    : `${row.secrets}, the old one until ${row.oldSecretUntil.toISOString()}`;
}
