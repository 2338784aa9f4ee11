/**
 * A part of the product as a process of its own that can be killed: the relay, the server. It says that it is ready in one line of JSON.
 *
 * Owns: starting, killing, and that it does not outlive its starter, whose end it sees at its standard input.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";

export interface PartProcess {
  /** What it said when it was ready: a relay its number, a server its port. */
  readonly number: number;
  /** Resolves when it is gone, however that came. */
  readonly gone: Promise<void>;
  isGone(): boolean;
  /** Kills it with -9, and resolves when it is gone. */
  kill(): Promise<void>;
}

const readySchema = z.object({ ready: z.number() });

export async function startPart(codeDir: string, program: string, config: object): Promise<PartProcess> {
  const child = spawn(
    process.execPath,
    [join(codeDir, "test", "chaos", "provisioning", program), JSON.stringify(config)],
    // A session of its own, as a service has; it ends with its starter all the same.
    { stdio: ["pipe", "pipe", "inherit"], detached: true },
  );
  child.stdin.on("error", () => undefined);
  const gone = once(child, "exit").then(() => undefined);
  const lines = createInterface({ input: child.stdout });
  const ready = once(lines, "line").then(([line]) => readySchema.parse(JSON.parse(String(line))));
  const first = await Promise.race([ready, gone]);
  if (first === undefined) throw new PartFailed(`${program} ended before it was ready`);
  return {
    number: first.ready,
    gone,
    isGone: () => child.exitCode !== null || child.signalCode !== null,
    async kill() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}

/** It could not be started, which happens while the database is down. */
export class PartFailed extends Error {}

/** For the program itself: ends it when nobody holds its input any more. */
export function endWithStarter(): void {
  process.stdin.resume().once("end", () => process.exit(0));
}
