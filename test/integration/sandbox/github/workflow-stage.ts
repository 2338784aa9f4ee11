/**
 * A job as GitHub runs it: the script's commands as processes, with the variables that GitHub sets, and a receiver of their callbacks.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import { startReceiver, type CallbackReceiver, type Heard } from "./callback-receiver.ts";

export const script = fileURLToPath(new URL("../../../../deploy/github/headroom.mjs", import.meta.url));

export interface Ran {
  readonly code: number | null;
  readonly said: string;
}

export interface Workflow {
  readonly receiver: CallbackReceiver;
  readonly folder: string;
  readonly env: Record<string, string>;
  /** Calls the script, with what earlier steps wrote for later ones. */
  readonly run: (words: readonly string[], env?: Record<string, string>) => Promise<Ran>;
  /** What was written for later steps. */
  readonly written: (file: "env" | "output") => Promise<Record<string, string>>;
  readonly heartbeatsPid: () => Promise<number>;
}

/** As GitHub starts the steps of a job: with no other variables. */
export async function begin(more: Record<string, string> = {}): Promise<Workflow> {
  const receiver = await startReceiver();
  const folder = await mkdtemp(join(tmpdir(), "headroom-workflow-"));
  onTestFinished(async () => {
    // Whatever the test left running ends with its folder.
    await rm(folder, { recursive: true, force: true });
    await receiver.close();
  });
  const env: Record<string, string> = {
    RUNNER_TEMP: folder,
    GITHUB_ENV: join(folder, "env"),
    GITHUB_OUTPUT: join(folder, "output"),
    GITHUB_RUN_ID: "9000000001",
    GITHUB_RUN_ATTEMPT: "1",
    HEADROOM_JOB_ID: randomUUID(),
    HEADROOM_ATTEMPT: "1",
    HEADROOM_TASK: "provision",
    HEADROOM_WORKSPACE: "default",
    HEADROOM_CALLBACK_URL: receiver.url,
    HEADROOM_CALLBACK_SECRET: receiver.secret,
    HEADROOM_RETRY_MS: "5",
    ...more,
  };
  const written = async (file: "env" | "output"): Promise<Record<string, string>> => {
    const lines = existsSync(join(folder, file)) ? await readFile(join(folder, file), "utf8") : "";
    return Object.fromEntries([...lines.matchAll(/^(\w+)<<(\S+)\n([^]*?)\n\2$/gm)].map((each) => [each[1], each[3]]));
  };
  return {
    receiver,
    folder,
    env,
    written,
    async run(words, own = {}) {
      const child = spawn(process.execPath, [script, ...words], {
        env: { ...env, ...(await written("env")), ...own },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
      const said = `${out}${err}`;
      expect(said).not.toContain(receiver.secret);
      return { code: child.exitCode, said };
    },
    heartbeatsPid: async () => JSON.parse(await readFile(join(folder, "headroom", "heartbeats"), "utf8")) as number,
  };
}

export const signals = (receiver: CallbackReceiver): string[] => receiver.heard.map(({ signal }) => signal);

export function facts({ headers: _headers, bytes: _bytes, id: _id, ...callback }: Heard): object {
  return callback;
}

/** Without ended processes that were not reaped, such as orphans where process 1 is slow. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** A process that is not our child can only be polled. */
export async function ended(pid: number): Promise<void> {
  await expect.poll(() => isAlive(pid), { timeout: 15_000 }).toBe(false);
}
