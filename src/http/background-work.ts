/**
 * Work that continues after its request was answered. The server waits for it when it stops, so that no promised answer is lost.
 *
 * Owns: which work is in progress. Does not own: how long the server waits (server.ts), nor what the work is.
 */

export interface BackgroundWork {
  /** Must not reject: its request is already answered, so nobody would see the error. */
  add(work: Promise<void>): void;
  /** Resolves when nothing is in progress any more. */
  done(): Promise<void>;
}

/** More than a healthy server ever has in progress. Work beyond this number runs too, but the server does not wait for it. */
const maxWaitedFor = 1_000;

export function createBackgroundWork(): BackgroundWork {
  const inProgress = new Set<Promise<void>>();
  return {
    add(work) {
      if (inProgress.size >= maxWaitedFor) return;
      const known = work.finally(() => inProgress.delete(known));
      inProgress.add(known);
    },
    async done() {
      while (inProgress.size > 0) await Promise.allSettled(inProgress);
    },
  };
}
