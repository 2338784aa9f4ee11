/**
 * Brings up the server's process on existing data: takes over the one that is running there, or launches one, and waits until it answers.
 *
 * Owns: the port, the server's settings and log, and the reason why a launch failed. Does not own: where the data is,
 * and who owns the running server.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { open, readFile, rename, rm, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { HeadroomError } from "../errors.ts";
import type { Binaries } from "./binaries.ts";
import type { Place } from "./place.ts";
import { findLiveServer, isAlive, readPidFile, shutDown } from "./postmaster.ts";
import { spawnIdentity, type RunAs } from "./system-user.ts";

export interface LaunchOptions {
  readonly place: Place;
  readonly binaries: Binaries;
  readonly runAs: RunAs;
  /** 0 takes a free one. */
  readonly port: number;
  readonly settings: Readonly<Record<string, string | number | boolean>>;
  readonly startTimeoutMs: number;
  readonly stopTimeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

export interface Running {
  readonly pid: number;
  readonly port: number;
  /** Undefined when the server was running already, so that it is not our child. */
  readonly child: ChildProcess | undefined;
}

/** Tries until a server runs on the data: a port may be taken between choosing and binding it, a rival may be first. */
export async function bringUp(options: LaunchOptions): Promise<Running> {
  const deadline = performance.now() + options.startTimeoutMs;
  let portClashes = 0;
  for (;;) {
    const live = await findLiveServer(options.place.clusterDir);
    if (live !== undefined) {
      const ready = await waitUntilReady(options, live.pid, () => false, deadline);
      if (ready !== undefined) return { ...ready, child: undefined };
      // Its former owner was stopping it.
      continue;
    }
    const port = options.port === 0 ? await findFreePort() : options.port;
    const result = await launch(options, port, deadline);
    if (result.kind === "running") return result.running;
    if (result.kind === "port_taken" && (options.port !== 0 || ++portClashes >= 5)) throw portTaken(port);
    if (result.kind === "failed" || performance.now() > deadline) throw startFailed(options.place, result.log);
    await delay(100, undefined, { signal: options.signal });
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

async function launch(options: LaunchOptions, port: number, deadline: number): Promise<Launch> {
  const { place, binaries, runAs } = options;
  await rotateLog(place.logFile);
  const log = await open(place.logFile, "a", 0o600);
  const logStart = (await log.stat()).size;
  let child: ChildProcess;
  let ended = false;
  try {
    child = spawn(binaries.postgres, serverParameters(place, port, options), {
      ...spawnIdentity(runAs),
      detached: true,
      stdio: ["ignore", log.fd, log.fd],
    });
    child.once("exit", () => (ended = true));
    child.once("error", () => (ended = true));
  } finally {
    await log.close();
  }
  child.unref();
  if (child.pid === undefined) return { kind: "failed", log: "The program could not be run." };
  try {
    const ready = await waitUntilReady(options, child.pid, () => ended, deadline);
    if (ready !== undefined) return { kind: "running", running: { ...ready, child } };
  } catch (error) {
    // A server is recognised by its working folder, which our own child may not have entered yet.
    await shutDown(child.pid, place.clusterDir, options.stopTimeoutMs, () => !ended);
    throw error;
  }
  const said = (await readFile(place.logFile)).subarray(logStart).toString("utf8");
  return { kind: kindOfFailure(said), log: said };
}

/** The server's messages are in English, because it runs under the C locale. */
function kindOfFailure(log: string): "port_taken" | "try_again" | "failed" {
  if (log.includes("could not bind") || log.includes("Address already in use")) return "port_taken";
  // A rival won the start, or children of a server that was killed have not ended yet: both pass.
  if (/lock file "[^"]*" already exists|pre-existing shared memory block/.test(log)) return "try_again";
  return "failed";
}

function serverParameters(place: Place, port: number, options: LaunchOptions): string[] {
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

/** Undefined when the process ended before it was ready. Throws at the deadline, or on abort. */
async function waitUntilReady(
  options: LaunchOptions,
  pid: number,
  ended: () => boolean,
  deadline: number,
): Promise<{ pid: number; port: number } | undefined> {
  const { place, signal } = options;
  for (;;) {
    const file = await readPidFile(place.clusterDir);
    if (file?.pid === pid && file.ready && file.port !== undefined) return { pid, port: file.port };
    if (ended() || !isAlive(pid)) return undefined;
    if (performance.now() > deadline) {
      throw new HeadroomError("embedded_start_slow", "The embedded Postgres is not ready in time.", {
        hint: `It may still be repairing itself after a crash; see ${place.logFile}, and start again.`,
      });
    }
    await delay(15, undefined, { signal });
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

/** Keeps the log from growing forever: at each start, a long one becomes the previous one. */
async function rotateLog(logFile: string): Promise<void> {
  const size = await stat(logFile).then(
    (info) => info.size,
    () => 0,
  );
  if (size > 10 * 1024 * 1024) await rename(logFile, `${logFile}.previous`);
  else if (size === 0) await rm(logFile, { force: true });
}
