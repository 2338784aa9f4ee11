/**
 * An embedded Postgres server, run from the programs that npm installed: started, adopted after a crash, stopped.
 *
 * Owns: the life of the server process. Does not own: roles, schemas and data (the migrator), nor signals to our
 * process: the caller that starts a server also stops it. The server gets a separate session, so that Ctrl-C in a terminal
 * reaches only us and the server stays up until the last settle is written.
 */
import { setTimeout as delay } from "node:timers/promises";
import { withConnection } from "./connect.ts";
import { prepareBinaries, type EmbeddedVersion } from "./embedded/binaries.ts";
import { bringUp, type LaunchOptions, type Running } from "./embedded/launch.ts";
import { takeOwnership, type Ownership } from "./embedded/ownership.ts";
import { choosePlace, ensureCluster, makeThrowAwayPlace } from "./embedded/place.ts";
import { isAlive, shutDown } from "./embedded/postmaster.ts";
import { chooseRunAs } from "./embedded/system-user.ts";
import { startCleanupProcess, type CleanupProcess } from "./embedded/cleanup-process.ts";
import { HeadroomError, isRetryableConnectionError, sqlStateOf, toHeadroomError } from "./errors.ts";

export type { EmbeddedVersion } from "./embedded/binaries.ts";

export interface EmbeddedOptions {
  /** Folder that keeps the data. With `ephemeral`: the parent of the temporary folder. Required unless ephemeral. */
  readonly dataDir?: string | undefined;
  /** Loopback port; 0 takes a free one. Default: 0. */
  readonly port?: number | undefined;
  /** Major version. Default: 18. Others need their development package. */
  readonly version?: EmbeddedVersion | undefined;
  /** Keep the data in a temporary folder that is removed at the end, even when our process is killed. Default: false. */
  readonly ephemeral?: boolean | undefined;
  /** Server settings on top of ours, as in postgresql.conf. Default: none. */
  readonly settings?: Readonly<Record<string, string | number | boolean>> | undefined;
  /** The database in `url`, created when missing. Default: headroom. */
  readonly database?: string | undefined;
  /** How long a start may take, crash recovery included. Default: 120,000. */
  readonly startTimeoutMs?: number | undefined;
  /** Aborts the start; nothing is left running. */
  readonly signal?: AbortSignal | undefined;
  /** Receives what the user should know, in whole sentences: data kept elsewhere, a server adopted. */
  readonly onNotice?: ((text: string) => void) | undefined;
  /** The programs' folder, instead of the one that npm installed. */
  readonly nativeDir?: string | undefined;
  /** Where a copy of the programs may be kept, instead of the system's temporary folders. */
  readonly cacheParents?: readonly string[] | undefined;
}

export interface EmbeddedServer {
  /** Superuser's URL of the database. */
  readonly url: string;
  readonly port: number;
  /** The server's own process. */
  readonly pid: number;
  /** Where the data is. */
  readonly home: string;
  /** Where the server logs. */
  readonly logFile: string;
  /** True when the server was running already, left behind by a process that was killed. */
  readonly adopted: boolean;
  /** Resolves when the server's process has ended, for whatever reason. */
  readonly exited: Promise<void>;
  /** The superuser's URL of another database. */
  urlFor(database: string): string;
  /** Fast shutdown; resolves when no process is left. Repeating it is harmless. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const defaults = {
  port: 0,
  version: 18,
  database: "headroom",
  startTimeoutMs: 120_000,
  stopTimeoutMs: 60_000,
} as const;

/** Starts a server, or adopts the one that a killed process left running on the same data. */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const version = options.version ?? defaults.version;
  const notice = options.onNotice ?? (() => undefined);
  options.signal?.throwIfAborted();
  const runAs = chooseRunAs();
  const { nativeDir, cacheParents } = options;
  const binaries = await prepareBinaries({ version, runAs, nativeDir, cacheParents, onNotice: notice });
  const ephemeral = options.ephemeral === true;
  const place = ephemeral
    ? await makeThrowAwayPlace(options.dataDir, runAs)
    : await choosePlace(requireDataDir(options.dataDir), runAs, notice);
  const cleanup = ephemeral ? startCleanupProcess(place.home, place.clusterDir, runAs) : undefined;
  try {
    options.signal?.throwIfAborted();
    const password = await ensureCluster({ place, binaries, version, runAs, quick: ephemeral });
    const launch: LaunchOptions = {
      place,
      binaries,
      runAs,
      port: options.port ?? defaults.port,
      settings: options.settings ?? {},
      startTimeoutMs: options.startTimeoutMs ?? defaults.startTimeoutMs,
      stopTimeoutMs: defaults.stopTimeoutMs,
      signal: options.signal,
    };
    return await startOn(launch, password, cleanup, options);
  } catch (error) {
    await cleanup?.finish();
    throw error;
  }
}

function requireDataDir(dataDir: string | undefined): string {
  if (dataDir !== undefined && dataDir !== "") return dataDir;
  throw new HeadroomError("usage", "An embedded server that keeps its data needs a data folder.");
}

async function startOn(
  launch: LaunchOptions,
  password: string,
  cleanup: CleanupProcess | undefined,
  options: EmbeddedOptions,
): Promise<EmbeddedServer> {
  const { place } = launch;
  const database = options.database ?? defaults.database;
  const urlAt = (port: number, name: string): string =>
    `postgresql://postgres:${password}@127.0.0.1:${port}/${encodeURIComponent(name)}`;
  const { running, ownership } = await bringUpAndOwn(launch, (port) => urlAt(port, "postgres"));
  const urlFor = (name: string): string => urlAt(running.port, name);
  const end = async (): Promise<void> => {
    // The lock ends with the server. If we released it earlier, a rival that starts would take over a server that is stopping.
    ownership.retire();
    await shutDown(running.pid, place.clusterDir, defaults.stopTimeoutMs);
    await ownership.release();
    await cleanup?.finish();
  };
  try {
    await ensureDatabase(urlFor("postgres"), database);
  } catch (error) {
    await end();
    throw error;
  }
  if (running.child === undefined) {
    options.onNotice?.(
      `Took over the database server (process ${running.pid}) that was left running on port ${running.port}.`,
    );
  }
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= end());
  return {
    url: urlFor(database),
    port: running.port,
    pid: running.pid,
    home: place.home,
    logFile: place.logFile,
    adopted: running.child === undefined,
    exited: whenExited(running),
    urlFor,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function bringUpAndOwn(
  launch: LaunchOptions,
  maintenanceUrl: (port: number) => string,
): Promise<{ running: Running; ownership: Ownership }> {
  for (let attempt = 1; ; attempt += 1) {
    const running = await bringUp(launch);
    try {
      return { running, ownership: await takeOwnership(maintenanceUrl(running.port), launch.place.home) };
    } catch (error) {
      // The owner of a running server may stop it while we take it over: then we launch one.
      if (running.child === undefined && isRetryableConnectionError(error) && attempt < 5) continue;
      // A rival may have taken over the process that we launched: then the rival stops it.
      const taken = error instanceof HeadroomError && error.code === "already_running";
      if (running.child !== undefined && !taken) {
        await shutDown(running.pid, launch.place.clusterDir, launch.stopTimeoutMs);
      }
      throw toHeadroomError(error);
    }
  }
}

async function ensureDatabase(maintenanceUrl: string, name: string): Promise<void> {
  try {
    await withConnection(maintenanceUrl, async (client) => {
      const found = await client.query("select from pg_database where datname = $1", [name]);
      if (found.rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`);
    });
  } catch (error) {
    if (sqlStateOf(error) !== "42P04") throw error;
  }
}

async function whenExited(running: Running): Promise<void> {
  const { child, pid } = running;
  if (child !== undefined) {
    if (child.exitCode !== null || child.signalCode !== null) return;
    await new Promise<void>((fulfil) => child.once("exit", () => fulfil()));
    return;
  }
  while (isAlive(pid)) await delay(500, undefined, { ref: false });
}
