/** `headroom endpoint list`: the endpoints, whether they are well, and never their secrets. */
import type { Command } from "commander";
import { listEndpoints, type Endpoint } from "../../../webhooks/endpoints.ts";
import { withDatabase } from "../../database.ts";
import { printJson, printLine, printTable } from "../../output.ts";
import { findSecretKey, secretKeyOption } from "../../secret-key.ts";
import { addCommon, type CommonOptions } from "../request/acting.ts";
import { named } from "./owner.ts";

interface ListOptions extends CommonOptions {
  readonly workspace?: string;
  readonly secretKey?: string;
}

export function registerList(endpoint: Command): void {
  addCommon(
    endpoint
      .command("list")
      .description("list the endpoints, what they hear of and how they stand")
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
  if (endpoints.length === 0) return printLine("There is no endpoint. Next: headroom endpoint add <name> --url <url>");
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
    printLine(`${row.name} is disabled since ${row.disabledAt?.toISOString() ?? "?"}. ${why}`.trimEnd());
    printLine(`  When its receiver is mended: headroom endpoint enable ${named(row.name, row.workspaceId)}`);
  }
}

function stateOf(row: Endpoint): string {
  if (!row.enabled) return row.disabledCode === "gone" ? "gone" : "disabled";
  return row.circuit === "closed" ? "enabled" : `circuit ${row.circuit}`;
}

/** A path or a query may hold a token; --json shows them to whoever asks for all of it. */
function hostOf(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? url : `${parsed.origin}${parsed.pathname === "/" ? "" : "/…"}`;
}

function secretsOf(row: Endpoint): string {
  if (!row.readable) return `${row.secrets}, not readable under this HEADROOM_SECRET_KEY`;
  return row.oldSecretUntil === null
    ? String(row.secrets)
    : `${row.secrets}, an old one until ${row.oldSecretUntil.toISOString()}`;
}
