/**
 * A process that starts an embedded server, reports it in one JSON line, and stops it on SIGTERM: something that a
 * test can kill. Run as a program it is that process; imported, it starts one.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { startEmbedded } from "../../src/db/embedded.ts";

const factsSchema = z.object({
  url: z.string(),
  port: z.number(),
  pid: z.number(),
  home: z.string(),
  adopted: z.boolean(),
});
export type EmbeddedFacts = z.infer<typeof factsSchema>;

const optionsSchema = z.object({ dataDir: z.string().optional(), ephemeral: z.boolean().optional() });

export interface EmbeddedProcess {
  readonly child: ChildProcess;
  readonly facts: EmbeddedFacts;
  /** Sends the signal and resolves when the process is gone. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
}

export async function spawnEmbedded(options: z.infer<typeof optionsSchema>): Promise<EmbeddedProcess> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), JSON.stringify(options)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout });
  const line = await new Promise<string>((fulfil, reject) => {
    lines.once("line", fulfil);
    child.once("exit", () => reject(new Error("The process ended before its server was ready.")));
  });
  return {
    child,
    facts: factsSchema.parse(JSON.parse(line)),
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill(signal);
      await ended;
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = await startEmbedded(optionsSchema.parse(JSON.parse(process.argv[2] ?? "{}")));
  process.once("SIGTERM", () => void server.stop());
  const { url, port, pid, home, adopted } = server;
  console.log(JSON.stringify({ url, port, pid, home, adopted } satisfies EmbeddedFacts));
}
