/**
 * A real Postgres with default durability that can be killed like a power cut and started again on the same data. A kill keeps everything
 * that the server has passed to the operating system, on a disk or in memory; only the waits for the disk are skipped.
 *
 * Owns: the server's life and its folder. The folder is removed at the end, even when our own process is killed.
 */
import { readdir, readFile, readlink, realpath } from "node:fs/promises";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { Client } from "pg";
import { startEmbedded, type EmbeddedServer } from "../../../src/db/embedded.ts";
import { makeThrowAwayPlace } from "../../../src/db/embedded/place.ts";
import { chooseRunAs } from "../../../src/db/embedded/system-user.ts";
import { startCleanupProcess, type CleanupProcess } from "../../../src/db/embedded/cleanup-process.ts";
import { pause } from "../../../src/db/wait/pause.ts";
import { dataFolder } from "../../helpers/data-folder.ts";

/** Another program may briefly take the port while the server is down. */
const maxStarts = 3;
const startTimeoutMs = 30_000;
const killTimeoutMs = 10_000;

export class CrashablePostgres {
  readonly #cleanup: CleanupProcess;
  readonly #home: string;
  #server: EmbeddedServer;

  private constructor(home: string, cleanup: CleanupProcess, server: EmbeddedServer) {
    this.#home = home;
    this.#cleanup = cleanup;
    this.#server = server;
  }

  static async start(): Promise<CrashablePostgres> {
    const runAs = chooseRunAs();
    const place = await makeThrowAwayPlace(dataFolder, runAs);
    const cleanup = startCleanupProcess(place.home, place.clusterDir, runAs);
    try {
      return new CrashablePostgres(place.home, cleanup, await startEmbedded({ dataDir: place.home }));
    } catch (error) {
      await cleanup.finish();
      throw error;
    }
  }

  /** Stays the same across crashes. */
  urlFor(database: string): string {
    return this.#server.urlFor(database);
  }

  async createDatabase(name: string): Promise<string> {
    const client = new Client({ connectionString: this.urlFor("postgres") });
    await client.connect();
    try {
      await client.query(`create database ${client.escapeIdentifier(name)}`);
    } finally {
      await client.end();
    }
    return this.urlFor(name);
  }

  /** What the server has logged so far. */
  async log(): Promise<string> {
    return readFile(this.#server.logFile, "utf8");
  }

  /** Kills the server and all its processes with -9, so that nothing is flushed and no client is notified. */
  async crash(): Promise<void> {
    const crashed = this.#server;
    // While stopped, it starts no further process, so its children can be listed.
    kill(crashed.pid, "SIGSTOP");
    for (const pid of [...(await childrenOf(crashed.pid)), crashed.pid]) kill(pid, "SIGKILL");
    await crashed.exited;
    await this.#killStragglers();
    // Releases ownership of the dead server, so that the next start may take it.
    await crashed.stop();
  }

  /**
   * A process that was just starting may wait forever for a lock of a dead one, and as long as it lives no
   * new server starts on the data. The working folder of each is the data folder.
   */
  async #killStragglers(): Promise<void> {
    if (process.platform !== "linux") return;
    const clusterDir = await realpath(join(this.#home, "server", "cluster"));
    const deadline = performance.now() + killTimeoutMs;
    for (;;) {
      const left: number[] = [];
      for (const pid of await allPids()) {
        if ((await readlink(`/proc/${pid}/cwd`).catch(() => "")) === clusterDir) left.push(pid);
      }
      if (left.length === 0) return;
      if (performance.now() > deadline) throw new Error(`processes of the killed server stay: ${left.join(", ")}`);
      for (const pid of left) kill(pid, "SIGKILL");
      await pause(5);
    }
  }

  async restart(): Promise<void> {
    for (let start = 1; ; start += 1) {
      try {
        this.#server = await startEmbedded({ dataDir: this.#home, port: this.#server.port, startTimeoutMs });
        return;
      } catch (error) {
        if (start >= maxStarts) throw error;
        await pause(200);
      }
    }
  }

  async close(): Promise<void> {
    await this.#server.stop();
    await this.#cleanup.finish();
  }
}

function kill(pid: number, signal: "SIGKILL" | "SIGSTOP"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It exited when it noticed that its parent had died.
  }
}

/** The processes that a process has started and that are still there. */
export async function childrenOf(parent: number): Promise<number[]> {
  if (process.platform !== "linux") {
    const shown = spawnSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8", timeout: 10_000 });
    const pairs = shown.stdout.trim().split("\n");
    return pairs.map((line) => line.trim().split(/\s+/).map(Number)).flatMap(([pid, up]) => childPid(pid, up, parent));
  }
  const found = await Promise.all(
    (await allPids()).map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
      // The program's name is in brackets and may contain anything; the state and the parent follow it.
      const up = Number(
        stat
          .slice(stat.lastIndexOf(")") + 2)
          .split(" ")
          .at(1),
      );
      return childPid(pid, up, parent);
    }),
  );
  return found.flat();
}

async function allPids(): Promise<number[]> {
  return (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
}

function childPid(pid: number | undefined, up: number | undefined, parent: number): number[] {
  return pid !== undefined && up === parent ? [pid] : [];
}
