// oxlint-disable unicorn/require-post-message-target-origin -- this is a thread's method, not a window's
/**
 * A thread that runs one command after the other. Like a process it has its own environment, streams, exit code and a folder that paths are
 * resolved in (not those that are passed to the file system as they are); only the signals belong to the process.
 */
import { enableCompileCache } from "node:module";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { parentPort } from "node:worker_threads";
import type { ThreadAnswer, ThreadCommand } from "./threads.ts";

enableCompileCache();
const { run } = await import("../../../src/cli/main.ts");
const parent = parentPort;
if (parent === null) throw new Error("This file is run as a thread.");

/** The output of the running command. */
const written = { out: "", err: "" };

function collect(stream: NodeJS.WriteStream, name: keyof typeof written): void {
  stream.write = (chunk: Uint8Array | string, ...others: unknown[]): boolean => {
    written[name] += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
    const done = others.find((other) => typeof other === "function");
    if (done !== undefined) queueMicrotask(() => done());
    return true;
  };
}

collect(process.stdout, "out");
collect(process.stderr, "err");

const ownFolder = process.cwd();

async function answer({ parameters, env, cwd, stdin }: ThreadCommand): Promise<ThreadAnswer> {
  [written.out, written.err] = ["", ""];
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.cwd = () => cwd ?? ownFolder;
  Object.defineProperty(process, "stdin", { value: Readable.from([stdin]), configurable: true });
  const status = await run(parameters);
  await untilNothingIsOpen();
  return { status, ...written, ended: false };
}

/** A process would not end earlier: if a command forgets to close something, its test waits here until it fails. */
async function untilNothingIsOpen(): Promise<void> {
  while (process.getActiveResourcesInfo().some((kind) => kind !== "MessagePort")) await delay(2);
}

const reply = async (command: ThreadCommand): Promise<void> => {
  parent.postMessage(await answer(command));
};
parent.on("message", (command: ThreadCommand) => void reply(command));
// A command that ends the process ends the thread: its output is returned anyway.
process.on("exit", (status) => parent.postMessage({ status, ...written, ended: true } satisfies ThreadAnswer));
