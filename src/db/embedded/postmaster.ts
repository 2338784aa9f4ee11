/**
 * What a data folder tells about a running server: the pid file, and whether that pid really is a server there.
 *
 * Owns: reading and clearing `postmaster.pid`, sending signals, waiting for the end. After a crash or a restarted
 * container the pid in the file may belong to no process or to another program; trusting it would either refuse a healthy start
 * or signal the wrong process. The server's user may also write anything there, so root reads the file, removes it and
 * sends signals as that user, which gains that user no rights.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { lstat, readFile, readlink, realpath } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { HeadroomError, nodeCodeOf } from "../errors.ts";
import { ownerOf, readAs, shellAs } from "./system-user.ts";

export interface PidFile {
  readonly pid: number;
  readonly port: number | undefined;
  readonly ready: boolean;
}

/** The lines of `postmaster.pid` that matter: 1 pid, 4 port, 8 status. */
export async function readPidFile(clusterDir: string): Promise<PidFile | undefined> {
  const owner = await ownerOf(clusterDir).catch(() => "gone" as const);
  const text = owner === "gone" ? undefined : await readAs(owner, join(clusterDir, "postmaster.pid"));
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

/** On Linux a process that has ended stays in the table until its parent collects it, and still accepts signals. */
function hasEnded(pid: number): boolean {
  return process.platform === "linux" && statOf(pid)?.state === "Z";
}

function statOf(pid: number): { readonly state: string; readonly startedAt: string } | undefined {
  try {
    // The name, in parentheses, may contain any character; the state follows the last parenthesis.
    const facts = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = facts.slice(facts.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0] ?? "", startedAt: fields[19] ?? "" };
  } catch {
    return undefined;
  }
}

export async function servesFolder(pid: number, clusterDir: string): Promise<boolean> {
  return (await identify(pid, clusterDir)) !== undefined;
}

/**
 * When the process started, if it is a Postgres server on this folder, run by the folder's owner: a server's working folder is its data
 * folder. If we may not read that (root in a container may not, for a process of the server's user), its command line tells, as on
 * systems without /proc.
 */
async function identify(pid: number, clusterDir: string): Promise<string | undefined> {
  if (!isAlive(pid)) return undefined;
  const owner = await lstat(clusterDir).catch(() => undefined);
  const facts = process.platform === "linux" ? await factsFromProc(pid) : factsFromPs(pid);
  if (owner === undefined || facts === undefined || facts.uid !== owner.uid) return undefined;
  const folder = await realpath(clusterDir).catch(() => clusterDir);
  const program = facts.program ?? facts.command.split(" ")[0] ?? "";
  const isThere =
    facts.folder === undefined
      ? [clusterDir, folder].some((path) => facts.command.includes(` -D ${path} `))
      : facts.folder === folder;
  return basename(program) === "postgres" && isThere ? facts.startedAt : undefined;
}

interface ProcessFacts {
  readonly uid: number;
  readonly startedAt: string;
  /** Undefined if we may not read it. */
  readonly program: string | undefined;
  readonly folder: string | undefined;
  /** Its words, each followed by a space. */
  readonly command: string;
}

async function factsFromProc(pid: number): Promise<ProcessFacts | undefined> {
  const link = (name: string): Promise<string | undefined> => readlink(`/proc/${pid}/${name}`).catch(() => undefined);
  const [status, command, program, folder] = await Promise.all([
    readFile(`/proc/${pid}/status`, "utf8").catch(() => ""),
    readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => ""),
    link("exe"),
    link("cwd"),
  ]);
  const uid = /^Uid:\s+(\d+)/m.exec(status)?.[1];
  const startedAt = statOf(pid)?.startedAt;
  if (uid === undefined || startedAt === undefined) return undefined;
  // Linux says so when the program was replaced by an upgrade.
  const path = program?.replace(/ \(deleted\)$/, "");
  return { uid: Number(uid), startedAt, program: path, folder, command: command.replaceAll("\0", " ") };
}

function factsFromPs(pid: number): ProcessFacts | undefined {
  const columns = ["-o", "uid=", "-o", "lstart=", "-o", "command="];
  const shown = spawnSync("ps", ["-ww", ...columns, "-p", String(pid)], { encoding: "utf8", timeout: 10_000 });
  const [, uid, startedAt, command] = /^\s*(\d+)\s+(\S+ +\S+ +\S+ +\S+ +\S+) +(.*)/.exec(shown.stdout) ?? [];
  if (uid === undefined || startedAt === undefined || command === undefined) return undefined;
  return { uid: Number(uid), startedAt, program: undefined, folder: undefined, command: `${command.trimEnd()} ` };
}

/**
 * The server that is running on the folder, if any. A pid file that names another program's process is removed, because
 * Postgres would take that process for a live server and refuse to start.
 */
export async function findLiveServer(clusterDir: string): Promise<PidFile | undefined> {
  const file = await readPidFile(clusterDir);
  if (file === undefined) return undefined;
  if (await servesFolder(file.pid, clusterDir)) return file;
  // A dead pid is left in place: Postgres replaces such a file itself, and safely when two start at the same time.
  if (isAlive(file.pid))
    await shellAs(await ownerOf(clusterDir), 'rm -f -- "$1"', [join(clusterDir, "postmaster.pid")]);
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

/** A process that has ended or is another program's by now is not reported: the caller waits for the end anyway. */
async function signal(pid: number, clusterDir: string, name: "INT" | "QUIT"): Promise<void> {
  await shellAs(await ownerOf(clusterDir), 'kill -s "$2" "$1" 2>/dev/null || true', [String(pid), name]);
}

/** Whether the process is still this server, and not another program with its pid. */
type IsThere = () => boolean | Promise<boolean>;

/** Fast shutdown (SIGINT): sessions are cut, everything is written. If it hangs, immediate shutdown (SIGQUIT). */
export async function shutDown(pid: number, clusterDir: string, timeoutMs: number, known?: IsThere): Promise<void> {
  const startedAt = await identify(pid, clusterDir);
  const isThere = known ?? (async () => startedAt !== undefined && (await identify(pid, clusterDir)) === startedAt);
  if (!(await isThere())) return;
  await signal(pid, clusterDir, "INT");
  if (await waitForEnd(isThere, timeoutMs)) return;
  await signal(pid, clusterDir, "QUIT");
  if (await waitForEnd(isThere, 10_000)) return;
  throw new HeadroomError("embedded_stuck", `The embedded Postgres (process ${pid}) does not stop.`, {
    hint: `End it with: kill -9 ${pid}. Its data survives that; the next start repairs itself.`,
  });
}
