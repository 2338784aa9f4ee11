/**
 * Starts the receiver in a separate process and talks to it, for runs in which the test process is busy or is the one that gets killed.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import type { Fault, FaultPlan } from "./receiver-faults.ts";
import type { ReceiverRecord, ReceiverStats } from "./receiver-record.ts";
import type { ReceiverOptions } from "./receiver.ts";

export interface SpawnReceiverOptions extends Omit<ReceiverOptions, "tls"> {
  /** Default: a free one. */
  readonly controlPort?: number;
}

export interface ReceiverClient {
  readonly url: string;
  readonly controlUrl: string;
  readonly pid: number;
  setFaults(plan: FaultPlan): Promise<void>;
  pushFaults(...faults: Fault[]): Promise<void>;
  setSecrets(secrets: readonly string[]): Promise<void>;
  /** From a sequence number on. Default: everything. */
  record(from?: number): Promise<ReceiverRecord>;
  stats(): Promise<ReceiverStats>;
  /** Resolves when the stats satisfy the condition; fails after the time limit. Default: 10,000. */
  waitUntil(condition: (stats: ReceiverStats) => boolean, boundMs?: number): Promise<ReceiverStats>;
  release(): Promise<void>;
  refuse(): Promise<void>;
  listen(): Promise<void>;
  clear(): Promise<void>;
  /** Ends the process and waits until it is gone. */
  stop(): Promise<void>;
}

const readySchema = z.object({ url: z.string(), controlUrl: z.string(), pid: z.int() });
const startBoundMs = 15_000;
const stopBoundMs = 5_000;
const pollMs = 20;

export async function spawnReceiver(options: SpawnReceiverOptions = {}): Promise<ReceiverClient> {
  const program = fileURLToPath(new URL("receiver-process.ts", import.meta.url));
  const child = spawn(process.execPath, [program, JSON.stringify(options)], { stdio: ["pipe", "pipe", "inherit"] });
  const { url, controlUrl, pid } = readySchema.parse(JSON.parse(await firstLine(child)));
  const call = async <T>(method: "GET" | "POST", path: string, body?: unknown): Promise<T> => {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    const response = await fetch(`${controlUrl}${path}`, init);
    if (!response.ok) throw new Error(`the receiver refused ${method} ${path}: ${await response.text()}`);
    const answer: T = JSON.parse(await response.text());
    return answer;
  };
  const tell = async (path: string, body?: unknown): Promise<void> => void (await call("POST", path, body));
  const stats = async (): Promise<ReceiverStats> => await call<ReceiverStats>("GET", "/stats");
  return {
    url,
    controlUrl,
    pid,
    setFaults: (plan) => tell("/faults", plan),
    pushFaults: (...faults) => tell("/queue", faults),
    setSecrets: (secrets) => tell("/secrets", secrets),
    record: (from = 1) => call<ReceiverRecord>("GET", `/record?from=${from}`),
    stats,
    waitUntil: (condition, boundMs = 10_000) => waitUntil(stats, condition, boundMs),
    release: () => tell("/release"),
    refuse: () => tell("/refuse"),
    listen: () => tell("/listen"),
    clear: () => tell("/clear"),
    stop: () => stop(child),
  };
}

/** The child's first line, or an error that says how it ended without one. */
async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("the receiver has no output");
  const lines = createInterface({ input: child.stdout });
  try {
    const signal = AbortSignal.timeout(startBoundMs);
    const line = once(lines, "line", { signal }).then(([first]) => String(first));
    const failed = once(child, "exit", { signal }).then(([code]) => {
      throw new Error(`the receiver ended immediately, with code ${String(code)}`);
    });
    return await Promise.race([line, failed]);
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
}

async function waitUntil(
  read: () => Promise<ReceiverStats>,
  condition: (stats: ReceiverStats) => boolean,
  boundMs: number,
): Promise<ReceiverStats> {
  const deadline = performance.now() + boundMs;
  for (;;) {
    const stats = await read();
    if (condition(stats)) return stats;
    if (performance.now() > deadline) throw new Error(`gave up waiting; the receiver saw ${JSON.stringify(stats)}`);
    await sleep(pollMs);
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), stopBoundMs);
  await gone;
  clearTimeout(timer);
}
