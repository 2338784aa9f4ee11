/**
 * SIGINT and SIGTERM: the first asks for an orderly end, the second ends the process immediately.
 *
 * npm passes a signal on to the shell that it started us with, and that shell dies of it without passing it on. So under npm
 * the loss of our parent is treated as the first signal; anywhere else a program may well outlive its parent.
 */
import { deferred } from "../db/wait/deferred.ts";

const parentEveryMs = 250;

/** Read as soon as this file is loaded, which bin/headroom.js does first: npm may be ended while the commands still load. */
const parent = process.ppid;

export interface Signals {
  /** Aborted by the first signal. */
  readonly stop: AbortSignal;
  /** Resolves with the first signal. */
  readonly stopped: Promise<void>;
  dispose(): void;
}

export function watchSignals(onFirst: (signal: string) => void): Signals {
  const controller = new AbortController();
  const { promise, resolve } = deferred<void>();
  const begin = (why: string): void => {
    onFirst(why);
    controller.abort();
    resolve();
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    // The shell's convention: 128 plus the number of the signal.
    if (controller.signal.aborted) process.exit(signal === "SIGINT" ? 130 : 143);
    begin(signal);
  };
  const watch = setInterval(() => {
    if (process.ppid !== parent && !controller.signal.aborted) begin("npm has ended");
  }, parentEveryMs).unref();
  if (process.env["npm_command"] === undefined) clearInterval(watch);
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  return {
    stop: controller.signal,
    stopped: promise,
    dispose() {
      clearInterval(watch);
      process.off("SIGINT", onSignal);
      process.off("SIGTERM", onSignal);
    },
  };
}
