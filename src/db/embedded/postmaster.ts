/**
 * What is known of a running server from its data folder: the pid file, and whether that pid really is a server there.
 *
 * Owns: reading and clearing `postmaster.pid`, sending signals, waiting for the end. After a crash or a restarted
 * container the pid in the file may belong to nobody or to a stranger; believing it would either refuse a healthy start
 * or signal somebody else's process.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { readFile, readlink, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { HeadroomError, nodeCodeOf } from "../errors.ts";

export interface PidFile {
  readonly pid: number;
  readonly port: number | undefined;
  readonly ready: boolean;
}

/** The lines of `postmaster.pid` that matter: 1 pid, 4 port, 8 status. */
export async function readPidFile(clusterDir: string): Promise<PidFile | undefined> {
  const text = await readFile(join(clusterDir, "postmaster.pid"), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const lines = text.split("\n");
  const pid = Number(lines[0]);
  // A negative number marks a stand-alone backend; nobody but initdb starts one here.
  if (!Number.isInteger(pid) || pid <= 1) return undefined;
  const port = Number(lines[3]);
  return {
    pid,
    port: Number.isInteger(port) && port > 0 ? port : undefined,
    ready: /^(ready|standby)\b/.test(lines[7] ?? ""),
  };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (nodeCodeOf(error) !== "EPERM") return false;
  }
  return !hasEnded(pid);
}

/** On Linux a process that has ended stays in the table until its parent collects it, and takes signals meanwhile. */
function hasEnded(pid: number): boolean {
  if (process.platform !== "linux") return false;
  try {
    // The name, in parentheses, may have any character in it; the state follows the last of them.
    const facts = readFileSync(`/proc/${pid}/stat`, "latin1");
    return facts.slice(facts.lastIndexOf(")") + 2).startsWith("Z");
  } catch {
    return false;
  }
}

/**
 * True when the process is a Postgres server on this very folder: a server's working folder is its data folder. Where nobody may look at that
 * (the root of a container may not, at a process of the server's user), its command line tells, as on systems without /proc.
 */
export async function servesFolder(pid: number, clusterDir: string): Promise<boolean> {
  if (!isAlive(pid)) return false;
  const folder = await realpath(clusterDir).catch(() => clusterDir);
  const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  if (cwd !== undefined) return cwd === folder;
  const command = await commandOf(pid);
  return command.includes("postgres ") && [clusterDir, folder].some((path) => command.includes(` -D ${path} `));
}

/** Its words, each with a space behind it. */
async function commandOf(pid: number): Promise<string> {
  if (process.platform === "linux") {
    return (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).replaceAll("\0", " ");
  }
  const shown = spawnSync("ps", ["-ww", "-o", "command=", "-p", String(pid)], { encoding: "utf8", timeout: 10_000 });
  return shown.status === 0 ? `${shown.stdout.trimEnd()} ` : "";
}

/**
 * The server that is running on the folder, if any. A pid file that names a stranger's process is removed, because
 * Postgres itself would take that process for a live server and refuse to start.
 */
export async function findLiveServer(clusterDir: string): Promise<PidFile | undefined> {
  const file = await readPidFile(clusterDir);
  if (file === undefined) return undefined;
  if (await servesFolder(file.pid, clusterDir)) return file;
  // A dead pid is left in place: Postgres replaces such a file itself, and safely so when two start at once.
  if (isAlive(file.pid)) await rm(join(clusterDir, "postmaster.pid"), { force: true });
  return undefined;
}

/** True when the process has ended; false when it still lives at the deadline. */
async function waitForEnd(isThere: IsThere, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (await isThere()) {
    if (performance.now() > deadline) return false;
    await delay(20);
  }
  return true;
}

function signal(pid: number, name: "SIGINT" | "SIGQUIT"): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (nodeCodeOf(error) !== "ESRCH") throw error;
  }
}

/** Whether the process still is the server that is meant, and not a stranger with its pid. */
type IsThere = () => boolean | Promise<boolean>;

/** Fast shutdown (SIGINT): sessions are cut, everything is written. If it hangs, immediate shutdown (SIGQUIT). */
export async function shutDown(
  pid: number,
  clusterDir: string,
  timeoutMs: number,
  isThere: IsThere = () => servesFolder(pid, clusterDir),
): Promise<void> {
  if (!(await isThere())) return;
  signal(pid, "SIGINT");
  if (await waitForEnd(isThere, timeoutMs)) return;
  signal(pid, "SIGQUIT");
  if (await waitForEnd(isThere, 10_000)) return;
  throw new HeadroomError("embedded_stuck", `The embedded Postgres (process ${pid}) does not stop.`, {
    hint: `End it with: kill -9 ${pid}. Its data survives that; the next start repairs itself.`,
  });
}
