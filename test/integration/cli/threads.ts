// oxlint-disable unicorn/require-post-message-target-origin -- this is a thread's method, not a window's
/** The threads that commands run in: one, and more only while several commands run at the same time. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";

export interface ThreadCommand {
  readonly parameters: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string | undefined;
  readonly stdin: string;
}

export interface ThreadAnswer {
  readonly status: number;
  readonly out: string;
  readonly err: string;
  /** Whether the thread ends with the command. */
  readonly ended: boolean;
}

const idle: Worker[] = [];

/** It ends with the test process: until then there may be another command for it. */
function start(): Worker {
  const thread = new Worker(new URL("./thread.ts", import.meta.url), { execArgv: [] });
  thread.unref();
  return thread;
}

/** Runs the command in an idle thread. */
export async function runInThread(command: ThreadCommand): Promise<Omit<ThreadAnswer, "ended">> {
  const thread = idle.pop() ?? start();
  thread.postMessage(command);
  // An uncaught error rejects here, with its own stack.
  const [{ ended, ...outcome }] = (await once(thread, "message")) as [ThreadAnswer];
  if (!ended) idle.push(thread);
  return outcome;
}
