/**
 * The processes of one run: the commands of deploy/github/headroom.mjs as a runner of GitHub starts them, each with the variables that the
 * ones before it wrote.
 *
 * Owns: their environment and folder, what they print, and that none of them outlives the run. Does not own: the order of the commands.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** The same file that users copy into their repositories. */
export const shippedScript = fileURLToPath(new URL("../../../deploy/github/headroom.mjs", import.meta.url));

/** A stand-in for Terraform: waits, then succeeds or fails. It exits with the sandbox, which holds its standard input. */
const work = `
const { argv, env, exit, stdin } = process;
const [ms, ending] = argv.slice(1);
stdin.resume().on("end", () => exit(1));
if (ending === "never") console.error("This step hangs on purpose.");
else setTimeout(() => {
  if (ending === "badly") console.error("Error: insufficient capacity in " + env.HEADROOM_REGION + " (on purpose)");
  exit(ending === "badly" ? 1 : 0);
}, Number(ms));`;

export type Ending = "well" | "badly" | "never";

export interface JobProcessesOptions {
  readonly script: string;
  /** Created, and removed at the end. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly onLine: (line: string) => void;
}

export class JobProcesses {
  readonly #script: string;
  readonly #folder: string;
  readonly #env: Record<string, string>;
  readonly #onLine: (line: string) => void;
  #current: ChildProcess | undefined;
  #isStopped = false;
  #isKilled = false;

  constructor({ script, folder, env, onLine }: JobProcessesOptions) {
    this.#script = script;
    this.#folder = folder;
    this.#env = {
      ...env,
      HOME: folder,
      RUNNER_TEMP: folder,
      GITHUB_ENV: join(folder, "env"),
      GITHUB_OUTPUT: join(folder, "output"),
    };
    this.#onLine = onLine;
  }

  async open(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
  }

  /** Runs one command of the script, unless it is too late for it. True if it succeeded. */
  call(words: readonly string[]): Promise<boolean> {
    return this.#call(words, {}, () => !this.#isStopped && !this.#isKilled);
  }

  /** Runs the last command, which a cancelled run runs too. */
  finish(status: string): Promise<boolean> {
    return this.#call(["finish"], { HEADROOM_RESULT: status }, () => !this.#isKilled);
  }

  async #call(
    words: readonly string[],
    more: Readonly<Record<string, string>>,
    isInTime: () => boolean,
  ): Promise<boolean> {
    await Promise.all([writeFile(this.#env["GITHUB_ENV"] ?? "", ""), writeFile(this.#env["GITHUB_OUTPUT"] ?? "", "")]);
    // Checked at the last moment: a process that starts after the signals were sent would never get one.
    if (!isInTime()) return false;
    const child = spawn(process.execPath, [this.#script, ...words], {
      cwd: this.#folder,
      env: { ...this.#env, ...more },
      // Its own process group, so that the processes it starts can be ended with it.
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#current = child;
    child.stdin.on("error", () => undefined);
    for (const stream of [child.stdout, child.stderr]) createInterface(stream).on("line", this.#onLine);
    try {
      await once(child, "close");
    } catch {
      return false;
    } finally {
      this.#current = undefined;
    }
    Object.assign(this.#env, await this.#written());
    return child.exitCode === 0;
  }

  /** Runs the stand-in for the user's own work. */
  work(ms: number, ending: Ending): Promise<boolean> {
    return this.call(["exec", "--", process.execPath, "-e", work, String(ms), ending]);
  }

  /** Signals the running command and the processes it started. After this only `finish` can be started. */
  signal(signal: "SIGTERM" | "SIGKILL"): void {
    this.#isStopped = true;
    signalGroup(this.#current?.pid, signal);
    signalGroup(this.#pidIn("exec"), signal);
  }

  killHeartbeats(): void {
    signalGroup(this.#pidIn("heartbeats"), "SIGKILL");
  }

  /** As if the machine died. No command can be run any more. */
  kill(): void {
    this.#isKilled = true;
    this.signal("SIGKILL");
    this.killHeartbeats();
  }

  /** Ends the processes that the run left behind. Heartbeats that we cannot find by their file exit once the folder is gone. */
  async close(): Promise<void> {
    this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** The processes that the script started in a separate group. */
  #pidIn(file: "exec" | "heartbeats"): number | undefined {
    try {
      return Number(readFileSync(join(this.#folder, "headroom", file), "utf8"));
    } catch {
      return undefined;
    }
  }

  /** `NAME<<delimiter`, the value, and the delimiter again: the form in which the script writes. */
  async #written(): Promise<Record<string, string>> {
    const text = await readFile(this.#env["GITHUB_ENV"] ?? "", "utf8").catch(() => "");
    const found = [...text.matchAll(/^(\w+)<<(\S+)\n([^]*?)\n\2$/gm)];
    return Object.fromEntries(found.map(([, name = "", , value = ""]) => [name, value]));
  }
}

function signalGroup(leader: number | undefined, signal: "SIGTERM" | "SIGKILL"): void {
  // Without this, zero or a value that is not a number would mean our own group.
  if (leader === undefined || !(leader > 1)) return;
  try {
    process.kill(-leader, signal);
  } catch {
    // It has ended.
  }
}
