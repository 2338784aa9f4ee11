/**
 * A Postgres server of one's own, from the programs that npm installed: started, adopted after a crash, stopped.
 *
 * Owns: the life of the server process. Does not own: roles, schemas and data (the migrator), nor signals of our own
 * process: whoever starts a server also stops it. The server gets a session of its own, so that Ctrl-C in a terminal
 * reaches us alone and the server stays up until the last settle is written.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { open, readFile, rename, rm, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { prepareBinaries, type Binaries, type EmbeddedVersion } from "./embedded/binaries.ts";
import { takeOwnership, type Ownership } from "./embedded/ownership.ts";
import { choosePlace, ensureCluster, makeThrowAwayPlace, type Place } from "./embedded/place.ts";
import { findLiveServer, isAlive, readPidFile, shutDown } from "./embedded/postmaster.ts";
import { chooseRunAs, spawnIdentity, type RunAs } from "./embedded/system-user.ts";
import { startUndertaker, type Undertaker } from "./embedded/undertaker.ts";
import { HeadroomError, sqlStateOf } from "./errors.ts";

export type { EmbeddedVersion } from "./embedded/binaries.ts";

export interface EmbeddedOptions {
  /** Folder that keeps the data. With `ephemeral`: below it the throw-away folder is made. Required unless ephemeral. */
  readonly dataDir?: string | undefined;
  /** Loopback port; 0 takes a free one. Default: 0. */
  readonly port?: number | undefined;
  /** Major version. Default: 18. Others need their development package. */
  readonly version?: EmbeddedVersion | undefined;
  /** Data in a temporary folder that is removed at the end, even when our process is killed. Default: false. */
  readonly ephemeral?: boolean | undefined;
  /** Server settings on top of ours, as in postgresql.conf. Default: none. */
  readonly settings?: Readonly<Record<string, string | number | boolean>> | undefined;
  /** Database that `url` names, created when missing. Default: headroom. */
  readonly database?: string | undefined;
  /** How long a start may take, crash recovery included. Default: 120,000. */
  readonly startTimeoutMs?: number | undefined;
  /** Gives up the start; nothing is left running. */
  readonly signal?: AbortSignal | undefined;
  /** Told, in whole sentences, what the user should know: data kept elsewhere, a server adopted. */
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
  /** Resolves when the server's process has ended, wanted or not. */
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
  const undertaker = ephemeral ? startUndertaker(place.home, place.clusterDir) : undefined;
  try {
    options.signal?.throwIfAborted();
    const password = await ensureCluster({ place, binaries, version, runAs, quick: ephemeral });
    return await startOn({ place, binaries, runAs, password, undertaker, notice, options });
  } catch (error) {
    await undertaker?.finish();
    throw error;
  }
}

function requireDataDir(dataDir: string | undefined): string {
  if (dataDir !== undefined && dataDir !== "") return dataDir;
  throw new HeadroomError("usage", "An embedded server that keeps its data needs a data folder.");
}

interface Start {
  readonly place: Place;
  readonly binaries: Binaries;
  readonly runAs: RunAs;
  readonly password: string;
  readonly undertaker: Undertaker | undefined;
  readonly notice: (text: string) => void;
  readonly options: EmbeddedOptions;
}

interface Running {
  readonly pid: number;
  readonly port: number;
  /** Undefined when the server is adopted and therefore nobody's child. */
  readonly child: ChildProcess | undefined;
}

async function startOn(start: Start): Promise<EmbeddedServer> {
  const { place, options, password } = start;
  const running = await bringUp(start);
  const database = options.database ?? defaults.database;
  const urlFor = (name: string): string =>
    `postgresql://postgres:${password}@127.0.0.1:${running.port}/${encodeURIComponent(name)}`;
  let ownership: Ownership;
  try {
    ownership = await takeOwnership(urlFor("postgres"), place.home);
    await ensureDatabase(urlFor("postgres"), database);
  } catch (error) {
    // What is adopted may be another's; only a child of ours is ended here.
    if (running.child !== undefined) await shutDown(running.pid, place.clusterDir, defaults.stopTimeoutMs);
    throw error;
  }
  if (running.child === undefined) {
    start.notice(
      `Took over the database server (process ${running.pid}) that was left running on port ${running.port}.`,
    );
  }
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= stopServer(start, running, ownership));
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

async function stopServer(start: Start, running: Running, ownership: Ownership): Promise<void> {
  await ownership.release();
  await shutDown(running.pid, start.place.clusterDir, defaults.stopTimeoutMs);
  await start.undertaker?.finish();
}

/** Tries until a server runs on the data: a port may be taken between choosing and binding it, a rival may be first. */
async function bringUp(start: Start): Promise<Running> {
  const { place, options } = start;
  const deadline = performance.now() + (options.startTimeoutMs ?? defaults.startTimeoutMs);
  let portClashes = 0;
  for (;;) {
    const live = await findLiveServer(place.clusterDir);
    if (live !== undefined)
      return { ...(await waitUntilReady(start, live.pid, () => false, deadline)), child: undefined };
    const wished = options.port ?? defaults.port;
    const port = wished === 0 ? await findFreePort() : wished;
    const result = await launch(start, port, deadline);
    if (result.kind === "running") return result.running;
    if (result.kind === "port_taken" && (wished !== 0 || ++portClashes >= 5)) throw portTaken(port);
    if (result.kind === "failed" || performance.now() > deadline) throw startFailed(place, result.log);
    await delay(100);
  }
}

function portTaken(port: number): HeadroomError {
  return new HeadroomError("port_in_use", `Port ${port} on 127.0.0.1 is taken by another program.`, {
    hint: `Stop that program (lsof -i :${port} names it), or choose another port; port 0 takes any free one.`,
  });
}

function startFailed(place: Place, log: string): HeadroomError {
  return new HeadroomError("embedded_start_failed", "The embedded Postgres did not start.", {
    detail: log.trim().split("\n").slice(-8).join("\n"),
    hint: `Its whole log is ${place.logFile}.`,
  });
}

type Launch =
  | { readonly kind: "running"; readonly running: Running }
  | { readonly kind: "port_taken" | "try_again" | "failed"; readonly log: string };

async function launch(start: Start, port: number, deadline: number): Promise<Launch> {
  const { place, binaries, runAs, options } = start;
  await rotateLog(place.logFile);
  const log = await open(place.logFile, "a", 0o600);
  const logStart = (await log.stat()).size;
  let child: ChildProcess;
  try {
    child = spawn(binaries.postgres, serverParameters(place, port, options), {
      ...spawnIdentity(runAs),
      detached: true,
      stdio: ["ignore", log.fd, log.fd],
    });
  } finally {
    await log.close();
  }
  let ended = false;
  child.once("exit", () => (ended = true));
  child.once("error", () => (ended = true));
  child.unref();
  try {
    if (child.pid === undefined) return { kind: "failed", log: "The program could not be run." };
    const ready = await waitUntilReady(start, child.pid, () => ended, deadline);
    return { kind: "running", running: { ...ready, child } };
  } catch (error) {
    if (!ended || options.signal?.aborted === true) {
      if (child.pid !== undefined) await shutDown(child.pid, place.clusterDir, defaults.stopTimeoutMs);
      throw error;
    }
    const said = (await readFile(place.logFile)).subarray(logStart).toString("utf8");
    return { kind: kindOfFailure(said), log: said };
  }
}

/** The server's sentences are in English here, because it runs under the C locale. */
function kindOfFailure(log: string): "port_taken" | "try_again" | "failed" {
  if (log.includes("could not bind") || log.includes("Address already in use")) return "port_taken";
  // A rival won the start, or children of a server that was killed have not ended yet: both pass.
  if (/lock file "[^"]*" already exists|pre-existing shared memory block/.test(log)) return "try_again";
  return "failed";
}

function serverParameters(place: Place, port: number, options: EmbeddedOptions): string[] {
  const settings: Record<string, string | number | boolean> = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    timezone: "UTC",
    log_timezone: "UTC",
    ...options.settings,
  };
  const assignments = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return ["-D", place.clusterDir, "-p", String(port), ...assignments];
}

async function waitUntilReady(
  start: Start,
  pid: number,
  ended: () => boolean,
  deadline: number,
): Promise<{ pid: number; port: number }> {
  const { place, options } = start;
  for (;;) {
    options.signal?.throwIfAborted();
    const file = await readPidFile(place.clusterDir);
    if (file?.pid === pid && file.ready && file.port !== undefined) return { pid, port: file.port };
    if (ended() || !isAlive(pid)) throw startFailed(place, "The server ended before it was ready.");
    if (performance.now() > deadline) {
      throw new HeadroomError("embedded_start_slow", "The embedded Postgres is not ready in time.", {
        hint: `It may still be repairing itself after a crash; see ${place.logFile}, and start again.`,
      });
    }
    await delay(15);
  }
}

async function findFreePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((fulfil, reject) => {
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", fulfil);
  });
  const address = probe.address();
  await new Promise<void>((fulfil) => probe.close(() => fulfil()));
  if (address === null || typeof address === "string")
    throw new HeadroomError("port_in_use", "No free port was found.");
  return address.port;
}

/** Keeps the log from growing for ever: at each start, a long one becomes the previous one. */
async function rotateLog(logFile: string): Promise<void> {
  const size = await stat(logFile).then(
    (info) => info.size,
    () => 0,
  );
  if (size > 10 * 1024 * 1024) await rename(logFile, `${logFile}.previous`);
  else if (size === 0) await rm(logFile, { force: true });
}

async function ensureDatabase(maintenanceUrl: string, name: string): Promise<void> {
  const client = new Client({ connectionString: maintenanceUrl });
  await client.connect();
  try {
    const found = await client.query("select from pg_database where datname = $1", [name]);
    if (found.rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`);
  } catch (error) {
    if (sqlStateOf(error) !== "42P04") throw error;
  } finally {
    await client.end();
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
