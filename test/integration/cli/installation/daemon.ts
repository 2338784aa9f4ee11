/** A command that runs for longer than one test: a server or a relay of an installation that several tests share. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { program, runEnvironment } from "../harness.ts";

export interface Daemon {
  stop(): Promise<void>;
}

/** Resolves at the line that says that it is ready. The caller stops it. */
export async function startDaemon(
  parameters: readonly string[],
  ready: string,
  environment: Readonly<Record<string, string>>,
): Promise<Daemon> {
  const child: ChildProcess = spawn(process.execPath, [program, ...parameters], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...runEnvironment, NO_COLOR: "1", ...environment },
  });
  const closed = once(child, "close");
  if (child.stdout === null) throw new Error("no output");
  const lines = createInterface({ input: child.stdout });
  // The listener stays, so that later output is read and never fills the pipe.
  await new Promise<void>((resolve, reject) => {
    lines.on("line", (line) => {
      if (line.includes(ready)) resolve();
    });
    lines.on("close", () => reject(new Error(`headroom ${parameters.join(" ")} ended before it was ready`)));
  });
  return {
    async stop() {
      child.kill("SIGTERM");
      await closed;
    },
  };
}
