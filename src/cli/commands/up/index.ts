/**
 * `headroom up`: starts everything together: a migrated database with an example in it, the server, a relay, and a sandbox with
 * stand-ins for every provider. With the user's own database, it starts only the relay.
 *
 * Programs rely on --ephemeral --json: one JSON line on stdout when everything is ready, nothing more there until SIGTERM, and nothing
 * left behind afterwards.
 */
import { type Command, Option } from "commander";
import { probeServer, requireUsable, withConnection } from "../../../db/connect.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { migrate } from "../../../db/migrate.ts";
import { databaseUrlOption, type DatabaseUrlOption } from "../../database.ts";
import { keepInstallationKeys, makeInstallationKeys, type InstallationKeys } from "../../installation.ts";
import { defaultDataDir } from "../../local-server.ts";
import { parseWhole } from "../../options.ts";
import { printJson, printLine, startProgress } from "../../output.ts";
import { createLogRail } from "../../relay/log-rail.ts";
import { createHttpLog, createLog, type Log } from "../../relay/log.ts";
import { addRelayOptions, allowLoopback, type RelayCommandOptions } from "../../relay/options.ts";
import { loadRails } from "../../relay/rails.ts";
import { openSidePool } from "../../../db/side-pool.ts";
import { runRelay, type RunningRelay } from "../../relay/run.ts";
import { type Signals, watchSignals } from "../../signals.ts";
import { startDatabaseServer, type DatabaseServer } from "./database-server.ts";
import { requirePackages } from "./needed-packages.ts";
import type { Product } from "./product.ts";
import { welcome } from "./welcome.ts";

interface UpOptions extends DatabaseUrlOption, RelayCommandOptions {
  readonly ephemeral?: boolean;
  readonly port?: number;
  readonly sandboxPort?: number;
  readonly databasePort?: number;
  readonly dataDir: string;
}

export function register(program: Command): void {
  addRelayOptions(
    program.command("up").description("start the whole product on this machine, with stand-ins for every provider"),
  )
    .option("--ephemeral", "temporary data, on free ports; nothing is left at the end")
    .option("--port <port>", "loopback port of the server; 0 takes a free one (default: 8400)", parseWhole(0, 65_535))
    .option("--sandbox-port <port>", "loopback port of the sandbox (default: 8401)", parseWhole(0, 65_535))
    .option("--database-port <port>", "loopback port of the embedded database (default: 54330)", parseWhole(0, 65_535))
    .addOption(new Option("--data-dir <folder>", "where the embedded database keeps its data").default(defaultDataDir))
    .addOption(databaseUrlOption())
    .option("--json", "print one JSON line when ready; logs go to stderr")
    .action(runUp);
}

async function runUp(options: UpOptions, command: Command): Promise<void> {
  const url = databaseOf(options, command.getOptionValueSource("databaseUrl") === "cli");
  if (url === undefined) requirePackages();
  const log = createLog(options.json === true, logStream(options));
  const signals = watchSignals((signal) => log({ level: "info", event: "stopping", message: signal }));
  try {
    await runAll(url, options, signals, log);
  } catch (error) {
    // A signal during the start is not a failure; a server that does not stop is one.
    const isStuck = error instanceof HeadroomError && error.code === "embedded_stuck";
    if (!signals.stop.aborted || isStuck) throw error;
  } finally {
    signals.dispose();
  }
}

/** With --json a program reads one line from stdout, so the log goes to stderr. */
function logStream(options: UpOptions): NodeJS.WriteStream {
  return options.json === true ? process.stderr : process.stdout;
}

/** --ephemeral makes its own database, even if the environment names one; an explicit --database-url contradicts it. */
function databaseOf(options: UpOptions, named: boolean): string | undefined {
  if (options.ephemeral !== true) return options.databaseUrl === "" ? undefined : options.databaseUrl;
  if (!named) return undefined;
  throw new HeadroomError("usage", "--ephemeral and --database-url cannot be used together.", {
    hint: "--ephemeral makes its own database. Leave one of the two out.",
  });
}

function notice(text: string): void {
  process.stderr.write(`${text}\n`);
}

async function runAll(url: string | undefined, options: UpOptions, signals: Signals, log: Log): Promise<void> {
  const server = await startDatabaseServer({
    url,
    ephemeral: options.ephemeral === true,
    dataDir: options.dataDir,
    port: options.databasePort,
    signal: signals.stop,
    log,
    notice,
  });
  const side = openSidePool(server.url);
  let running: RunningRelay | undefined;
  let product: Product | undefined;
  try {
    await migrateServer(server, signals.stop);
    const keys = await keysOf(server, options);
    const metrics = async (): Promise<string> => (await running?.relay.metrics()) ?? "";
    if (keys !== undefined) {
      const { port, sandboxPort } = portsOf(options);
      // Loaded here, because the sandbox needs packages that an installation may leave out.
      const { startProduct } = await import("./product.ts");
      product = await startProduct({
        databaseUrl: server.url,
        keys,
        folder: options.ephemeral === true ? undefined : (server.home ?? options.dataDir),
        port,
        sandboxPort,
        log: createHttpLog(options.json === true, logStream(options)),
        notice,
        metrics,
        drain: (limits) => (running === undefined ? Promise.reject(notYet()) : running.drain(limits)),
      });
    }
    const environment =
      keys === undefined ? process.env : { ...product?.environment, HEADROOM_SECRET_KEY: keys.secretKey };
    const railOptions = keys === undefined ? options : allowLoopback(options);
    const rails = [createLogRail(log), ...(await loadRails(railOptions, { side, log, environment }))];
    running = await runRelay(server.url, side, rails, options, log);
    if (options.json === true) printJson(factsOf(server, running, product, keys));
    else for (const line of welcome({ server, running, product, options })) printLine(line);
    await Promise.race([signals.stopped, server.lost]);
  } finally {
    // The relay stops first, so that its calls to the stand-ins still arrive. Whatever fails, the database server is not left behind.
    try {
      await running?.stop();
      await side.end();
    } finally {
      try {
        await product?.stop();
      } finally {
        await server.stop();
      }
    }
  }
}

function notYet(): HeadroomError {
  return new HeadroomError("not_configured", "The relay is still starting.", { hint: "Try again in a moment." });
}

/** It makes keys, logins and example people only in its own database; the user's own database is not changed. */
async function keysOf(server: DatabaseServer, options: UpOptions): Promise<InstallationKeys | undefined> {
  if (!server.embedded) return undefined;
  return options.ephemeral === true ? makeInstallationKeys() : keepInstallationKeys(server.home ?? options.dataDir);
}

function portsOf(options: UpOptions): { readonly port: number | undefined; readonly sandboxPort: number | undefined } {
  if (options.ephemeral === true) return { port: options.port ?? 0, sandboxPort: options.sandboxPort ?? 0 };
  return { port: options.port, sandboxPort: options.sandboxPort };
}

async function migrateServer(server: DatabaseServer, signal: AbortSignal): Promise<void> {
  const progress = startProgress("Migrating");
  try {
    await withConnection(
      server.url,
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
  } catch (error) {
    throw explainUnreleased(error, server.home);
  } finally {
    progress.finish();
  }
}

/** The hint for a data folder from before the first release, whose database nobody made by hand. */
function explainUnreleased(error: unknown, home: string | undefined): unknown {
  if (!(error instanceof HeadroomError) || error.code !== "schema_unreleased" || home === undefined) return error;
  return new HeadroomError(error.code, error.message, {
    detail: error.detail,
    hint: `Its data is in ${home}. Start again with another folder (--data-dir <folder>), or move that one away first. Nothing was changed.`,
    cause: error,
  });
}

/** For programs: where everything is, and the keys to it. */
function factsOf(
  server: DatabaseServer,
  running: RunningRelay,
  product: Product | undefined,
  keys: InstallationKeys | undefined,
) {
  return {
    ...(product === undefined ? {} : { url: product.url, sandboxUrl: product.sandbox.url }),
    databaseUrl: server.url,
    ...(keys === undefined
      ? {}
      : { anonKey: keys.anonKey, serviceKey: keys.serviceKey, relaySecret: keys.relaySecret }),
    ...(running.metricsUrl === undefined ? {} : { metricsUrl: running.metricsUrl }),
  };
}
