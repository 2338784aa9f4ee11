/** `headroom migrate`: brings a database to the schema of this release. */
import type { Command } from "commander";
import { connect, describeDatabaseUrl, probeServer, requireUsable } from "../../db/connect.ts";
import { migrate, type MigrationEvent, type MigrationResult } from "../../db/migrate.ts";
import { databaseUrlOption, requireDatabaseUrl, type DatabaseUrlOption } from "../database.ts";
import { printJson, printLine, startProgress } from "../output.ts";

interface MigrateCommandOptions extends DatabaseUrlOption {
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export function register(program: Command): void {
  program
    .command("migrate")
    .description("bring the database to the schema of this release, in one transaction")
    .addOption(databaseUrlOption())
    .option("--dry-run", "only say what would be done")
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
      onEvent: (event) => {
        if (event.kind === "applying") progress.update(event.index, event.count);
        else if (options.json !== true) announce(event);
      },
    });
    progress.finish();
    if (options.json === true) printJson(result);
    else summarize(result, url);
  } finally {
    progress.finish();
    await client.end().catch(() => undefined);
  }
}

function announce(event: MigrationEvent): void {
  if (event.kind === "retrying") process.stderr.write(`Trying again, because of others at work: ${event.reason}\n`);
  if (event.kind === "notice") process.stderr.write(`${event.path}: ${event.text}\n`);
}

function summarize(result: MigrationResult, url: string): void {
  const would = result.dryRun ? "would be " : "";
  for (const path of result.applied) printLine(`${would}applied    ${path}`);
  for (const path of result.reapplied) printLine(`${would}re-created ${path}`);
  for (const path of result.missing) printLine(`gone       ${path} (what it made stays until a migration drops it)`);
  const counts = `${result.applied.length} applied, ${result.reapplied.length} re-created, ${result.unchanged.length} unchanged`;
  printLine(`${describeDatabaseUrl(url)} is at version ${result.version}: ${counts}.`);
  if (result.dryRun && result.applied.length + result.reapplied.length > 0) {
    printLine("Nothing was changed. Run without --dry-run to do it.");
  } else if (result.applied.length > 0) {
    printLine("Next: headroom relay starts delivering.");
  }
}
