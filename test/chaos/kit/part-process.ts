/**
 * A program of chaos as a separate process: a part of the product that can be killed, or an outside part. It reports when it is ready.
 *
 * Owns: starting, killing, and that it does not outlive its starter.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { z } from "zod";

export interface StartedProcess<Ready> {
  readonly child: ChildProcess;
  /** Its ready message. */
  readonly ready: Ready;
  /** Resolves when it has ended, for any reason. */
  readonly gone: Promise<void>;
  isGone(): boolean;
  /** Kills it with -9, and resolves when it has ended. */
  kill(): Promise<void>;
}

/** A relay reports its number when it is ready, a server its port. */
export type PartProcess = StartedProcess<number>;

export function startPart(codeDir: string, program: string, config: object): Promise<PartProcess> {
  return startProcess(codeDir, program, config, z.number());
}

/** `program` is below test/chaos of the folder whose code is tested. */
export async function startProcess<Ready>(
  codeDir: string,
  program: string,
  config: object,
  schema: z.ZodType<Ready>,
): Promise<StartedProcess<Ready>> {
  const child = fork(join(codeDir, "test", "chaos", program), [JSON.stringify(config)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    // A separate session, like a service: the scheduler shares the processor among sessions, so outside parts are not slow because ours are
    // busy.
    detached: true,
  });
  const gone = once(child, "exit").then(() => undefined);
  const first = await Promise.race([once(child, "message"), gone]);
  if (first === undefined) throw new PartFailed(`${program} ended before it was ready`);
  const { ready } = z.object({ ready: schema }).parse(first[0]);
  const isGone = (): boolean => child.exitCode !== null || child.signalCode !== null;
  return {
    child,
    ready,
    gone,
    isGone,
    async kill() {
      if (!isGone()) child.kill("SIGKILL");
      await gone;
    },
  };
}

/** Thrown if it could not be started, which happens while the database is down. */
export class PartFailed extends Error {}

/** For the program itself: ends it with its starter. */
export function endWithStarter(): void {
  process.once("disconnect", () => process.exit(0));
}

/** For the program itself. */
export function sayReady(ready: number | string): void {
  process.send?.({ ready });
}
