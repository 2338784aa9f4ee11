/** `headroom migrate`: brings a database to the schema of this release. */
import { Option, type Command } from "commander";
import type { Client } from "pg";
import { connect, describeDatabaseUrl, probeServer, requireUsable } from "../../db/connect.ts";
import { openGateway, readGatewayLogin } from "../../db/gateway-login.ts";
import { migrate, type MigrationEvent, type MigrationResult } from "../../db/migrate.ts";
import { databaseUrlOption, requireDatabaseUrl, type DatabaseUrlOption } from "../database.ts";
import { printJson, printLine, startProgress } from "../output.ts";

interface MigrateCommandOptions extends DatabaseUrlOption {
  readonly dryRun?: boolean;
  readonly only?: "outbox";
  readonly json?: boolean;
}

export function register(program: Command): void {
  program
    .command("migrate")
    .description("bring the database to the schema of this release, in one transaction")
    .addOption(databaseUrlOption())
    .addOption(
      new Option("--only <part>", "install the engine alone: the outbox and webhooks, nothing in public").choices([
        "outbox",
      ]),
    )
    .option("--dry-run", "only show what would be done")
    .option("--json", "print one JSON object")
    .action(runMigrate);
}

async function runMigrate(options: MigrateCommandOptions): Promise<void> {
  const url = requireDatabaseUrl(options);
  const client = await connect(url, { applicationName: "headroom migrate" });
  const progress = startProgress("Migrating");
  try {
    requireUsable(await probeServer(client));
    const result = await migrate(client, {
      dryRun: options.dryRun,
      only: options.only,
      onEvent: (event) => {
        if (event.kind === "applying") progress.update(event.index, event.count);
        else if (options.json !== true) announce(event);
      },
    });
    progress.finish();
    const next = result.dryRun ? [] : await nextSteps(client, result, options.only);
    if (options.json === true) printJson({ ...result, next });
    else summarize(result, url, next);
  } finally {
    progress.finish();
    await client.end().catch(() => undefined);
  }
}

function announce(event: MigrationEvent): void {
  if (event.kind === "retrying")
    process.stderr.write(`Trying again, because other sessions are using the database: ${event.reason}\n`);
  if (event.kind === "notice") process.stderr.write(`${event.path}: ${event.text}\n`);
}

/** Migrations make the server's role without a login, so the next step is to give it one. */
async function nextSteps(
  client: Client,
  result: MigrationResult,
  only: MigrateCommandOptions["only"],
): Promise<string[]> {
  const served = only !== undefined || (await readGatewayLogin(client)).gateway;
  return [
    ...(served ? [] : [`${openGateway}   in SQL, so that headroom serve can log in (HEADROOM_GATEWAY_URL)`]),
    ...(result.applied.length === 0
      ? []
      : ["headroom relay    starts delivering", "headroom doctor   shows what else this installation needs"]),
  ];
}

function summarize(result: MigrationResult, url: string, next: readonly string[]): void {
  const would = result.dryRun ? "would be " : "";
  for (const path of result.applied) printLine(`${would}applied    ${path}`);
  for (const path of result.reapplied) printLine(`${would}re-created ${path}`);
  for (const { what, owner } of result.repaired.owners)
    printLine(`${would}taken back ${what} (it belonged to ${owner})`);
  for (const right of result.repaired.rights) printLine(`${would}repaired   ${right}`);
  for (const path of result.missing) printLine(`gone       ${path} (what it made stays until a migration drops it)`);
  const counts = `${result.applied.length} applied, ${result.reapplied.length} re-created, ${result.unchanged.length} unchanged`;
  printLine(`${describeDatabaseUrl(url)} is at version ${result.version}: ${counts}.`);
  const { owners, rights } = result.repaired;
  if (result.dryRun && [result.applied, result.reapplied, owners, rights].some((each) => each.length > 0)) {
    printLine("Nothing was changed. Run without --dry-run to do it.");
  } else if (next.length > 0) {
    printLine("Next:");
    for (const step of next) printLine(`  ${step}`);
  }
}
