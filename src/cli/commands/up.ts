/**
 * `headroom up`: everything that this release has, started together: a database, migrated, and a relay.
 *
 * With --ephemeral --json it is a contract with machines: one JSON line on stdout when everything is ready, then silence there
 * until SIGTERM, and nothing left behind afterwards.
 */
import { randomBytes } from "node:crypto";
import { type Command, Option } from "commander";
import { describeDatabaseUrl, probeServer, requireUsable, withConnection } from "../../db/connect.ts";
import { HeadroomError } from "../../db/errors.ts";
import { migrate } from "../../db/migrate.ts";
import { databaseUrlOption, type DatabaseUrlOption } from "../database.ts";
import { defaultDataDir } from "../local-server.ts";
import { printJson, printLine, startProgress } from "../output.ts";
import { createLog, type Log } from "../relay/log.ts";
import { createLogRail } from "../relay/log-rail.ts";
import { addRelayOptions, wholeNumber, type RelayCommandOptions } from "../relay/options.ts";
import { loadRails } from "../relay/rails.ts";
import { describeStart, runRelay, type RunningRelay } from "../relay/run.ts";
import { type Signals, watchSignals } from "../signals.ts";
import { startServer, type UpServer } from "../up/server.ts";

interface UpOptions extends DatabaseUrlOption, RelayCommandOptions {
  readonly ephemeral?: boolean;
  readonly port?: number;
  readonly dataDir: string;
}

export function register(program: Command): void {
  addRelayOptions(program.command("up").description("start a database, migrate it, and run a relay on it"))
    .option("--ephemeral", "throw-away data on a free port; nothing is left at the end")
    .option("--port <port>", "loopback port of the embedded database; 0 takes a free one", wholeNumber(0, 65_535))
    .addOption(new Option("--data-dir <folder>", "where the embedded database keeps its data").default(defaultDataDir))
    .addOption(databaseUrlOption())
    .option("--json", "print one JSON line when ready; logs go to stderr")
    .action(runUp);
}

async function runUp(options: UpOptions, command: Command): Promise<void> {
  const url = databaseOf(options, command.getOptionValueSource("databaseUrl") === "cli");
  const json = options.json === true;
  const log = createLog(json, json ? process.stderr : process.stdout);
  const signals = watchSignals((signal) => log({ level: "info", event: "stopping", message: signal }));
  try {
    await runAll(url, options, signals, log);
  } catch (error) {
    // Told to stop while it was starting: that is no failure.
    if (!signals.stop.aborted) throw error;
  } finally {
    signals.dispose();
  }
}

/** --ephemeral means a database of its own, whatever the environment says; naming one as well is a contradiction. */
function databaseOf(options: UpOptions, named: boolean): string | undefined {
  if (options.ephemeral !== true) return options.databaseUrl === "" ? undefined : options.databaseUrl;
  if (!named) return undefined;
  throw new HeadroomError("usage", "--ephemeral makes a database of its own; --database-url names another.", {
    hint: "Leave one of the two out.",
  });
}

async function runAll(url: string | undefined, options: UpOptions, signals: Signals, log: Log): Promise<void> {
  const rails = [createLogRail(log), ...(await loadRails(options))];
  const server = await startServer({
    url,
    ephemeral: options.ephemeral === true,
    dataDir: options.dataDir,
    port: options.port,
    signal: signals.stop,
    log,
    notice: (text) => process.stderr.write(`${text}\n`),
  });
  let running: RunningRelay | undefined;
  try {
    await migrateServer(server.url, signals.stop);
    running = await runRelay(server.url, rails, options, log);
    if (options.json === true) printJson(factsOf(server, running, options));
    else showStart(server, running, options);
    await Promise.race([signals.stopped, server.lost]);
  } finally {
    await running?.stop();
    await server.stop();
  }
}

async function migrateServer(url: string, signal: AbortSignal): Promise<void> {
  const progress = startProgress("Migrating");
  try {
    await withConnection(
      url,
      async (client) => {
        requireUsable(await probeServer(client));
        await migrate(client, {
          signal,
          onEvent: (event) => {
            if (event.kind === "applying") progress.update(event.index, event.count);
          },
        });
      },
      { applicationName: "headroom up" },
    );
  } finally {
    progress.finish();
  }
}

/** Only what exists: what a later release adds, it adds here. */
function factsOf(server: UpServer, running: RunningRelay, options: UpOptions) {
  return {
    databaseUrl: server.url,
    ...(options.ephemeral === true ? { relaySecret: randomBytes(32).toString("base64url") } : {}),
    ...(running.metricsUrl === undefined ? {} : { metricsUrl: running.metricsUrl }),
  };
}

function showStart(server: UpServer, running: RunningRelay, options: UpOptions): void {
  for (const line of describeStart(server.url, running, options)) printLine(line);
  const kept = options.ephemeral === true ? "thrown away at the end" : `kept in ${server.home ?? ""}`;
  if (server.embedded) printLine(`data       ${kept}`);
  const shown = server.embedded ? server.url : describeDatabaseUrl(server.url);
  printLine();
  printLine("Look into the database:");
  printLine(`  psql "${shown}"`);
  printLine("Enqueue a first row; the rail `log` shows its delivery here:");
  printLine(`  psql "${shown}" -c "${firstRow}"`);
  printLine("See what became of it (in another terminal):");
  printLine(
    `  npx headroom outbox status${server.embedded && options.ephemeral !== true ? "" : ` --database-url "${shown}"`}`,
  );
  printLine("Ctrl-C stops everything.");
  printLine();
}

const firstRow = `select * from outbox.enqueue('capacity', 'CR-1:log', 'CR-1', 'first', 'log', '{\\"hello\\": \\"world\\"}')`;
