/**
 * Waits for work until it is done, a time limit is reached or a signal aborts.
 *
 * Owns: the race, and that neither a timer nor a listener outlives it. Does not own: ending the work. Late work continues; a
 * caller that needs it to stop gives it a signal.
 */
import { deferred } from "./deferred.ts";

export type InTime<T> = { readonly kind: "done"; readonly value: T } | { readonly kind: "late" };

/** The work's result if it comes in time. A failure in time is thrown; a later one is ignored. */
export async function withTimeout<T>(work: T | PromiseLike<T>, limit: number | AbortSignal): Promise<InTime<T>> {
  const { promise: late, resolve } = deferred<InTime<T>>();
  const end = (): void => resolve({ kind: "late" });
  const stopWatching = watch(limit, end);
  try {
    return await Promise.race([Promise.resolve(work).then((value) => ({ kind: "done" as const, value })), late]);
  } finally {
    stopWatching();
  }
}

function watch(limit: number | AbortSignal, end: () => void): () => void {
  if (typeof limit === "number") {
    const timer = setTimeout(end, limit);
    return () => clearTimeout(timer);
  }
  if (limit.aborted) end();
  else limit.addEventListener("abort", end, { once: true });
  return () => limit.removeEventListener("abort", end);
}
