/**
 * The command line as a user runs it: its output, its exit code.
 *
 * A command that runs to its end runs in a thread that is kept for the next one (thread.ts), because starting a process takes longer than
 * most commands. Commands that run until they are stopped are processes.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { dataFolder } from "../../helpers/data-folder.ts";
import { runInThread } from "./threads.ts";

export const program = fileURLToPath(new URL("../../../bin/headroom.js", import.meta.url));

export interface Outcome {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

export interface ProgramOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The bin/headroom.js to run. Default: that of this checkout. */
  readonly program?: string;
  /** Is given what kills a program that is still running. Default: at the end of the test. */
  readonly atEnd?: (kill: () => Promise<void>) => void;
}

const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
/** Of our environment only what a program needs to run, and to find what was compiled for an earlier one. */
export const runEnvironment: NodeJS.ProcessEnv = { PATH, HOME, NODE_COMPILE_CACHE };

/** And where to keep throw-away data. */
function environment(options: ProgramOptions): NodeJS.ProcessEnv {
  return { ...runEnvironment, TMPDIR: dataFolder, NO_COLOR: "1", ...options.env };
}

/** Runs a command to its end, in a thread. One that reads or writes a file by a path of `cwd` has to be a process. */
export async function headroom(
  parameters: readonly string[],
  options: Omit<ProgramOptions, "program" | "atEnd"> & { readonly stdin?: string } = {},
): Promise<Outcome> {
  const { stdin = "", cwd } = options;
  return runInThread({ parameters: [...parameters], env: environment(options), cwd, stdin });
}

/** Runs a command to its end in a separate process. */
export async function headroomProcess(parameters: readonly string[], options: ProgramOptions = {}): Promise<Outcome> {
  const child = spawn(process.execPath, [options.program ?? program, ...parameters], {
    stdio: ["ignore", "pipe", "pipe"],
    env: environment(options),
    cwd: options.cwd,
  });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { status: child.exitCode, out, err };
}

export interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly lines: string[];
  readonly errors: string[];
  /** The first line, past or future, that passes; fails when the program ends first, or within the bound. */
  line(test: (line: string) => boolean, boundMs?: number): Promise<string>;
  /** Sends the signal and waits for the end. */
  end(signal?: NodeJS.Signals): Promise<Outcome>;
}

const lineBoundMs = 45_000;

/** Starts a long-running command. */
export function startHeadroom(parameters: readonly string[], options: ProgramOptions = {}): Running {
  const child = spawn(process.execPath, [options.program ?? program, ...parameters], {
    stdio: ["ignore", "pipe", "pipe"],
    env: environment(options),
    cwd: options.cwd,
  });
  const lines: string[] = [];
  const errors: string[] = [];
  const wake = new EventTarget();
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    wake.dispatchEvent(new Event("line"));
  });
  createInterface({ input: child.stderr }).on("line", (line) => void errors.push(line));
  const closed = once(child, "close").then(() => wake.dispatchEvent(new Event("line")));
  (options.atEnd ?? onTestFinished)(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await closed;
  });
  return {
    child,
    pid: child.pid ?? 0,
    lines,
    errors,
    async line(test, boundMs = lineBoundMs) {
      const patience = AbortSignal.timeout(boundMs);
      for (;;) {
        const found = lines.find(test);
        if (found !== undefined) return found;
        if (patience.aborted || child.exitCode !== null || child.signalCode !== null) {
          throw new Error(`The line never came. stdout:\n${lines.join("\n")}\nstderr:\n${errors.join("\n")}`);
        }
        await Promise.race([once(wake, "line"), once(patience, "abort")]);
      }
    },
    async end(signal = "SIGTERM") {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await closed;
      return { status: child.exitCode, out: lines.join("\n"), err: errors.join("\n") };
    },
  };
}
