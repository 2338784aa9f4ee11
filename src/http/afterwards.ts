/**
 * Work that goes on after its request was answered. The server waits for it when it stops, so that nothing owed is lost.
 *
 * Owns: which work is under way. Does not own: how long the server waits (server.ts), nor what the work is.
 */

export interface Afterwards {
  /** Must not reject: nobody is left to tell. */
  add(work: Promise<void>): void;
  /** Resolves when nothing is under way any more. */
  settled(): Promise<void>;
}

/** More than a server has under way in earnest; what is beyond goes on too, but is not waited for. */
const mostWaitedFor = 1_000;

export function createAfterwards(): Afterwards {
  const underWay = new Set<Promise<void>>();
  return {
    add(work) {
      if (underWay.size >= mostWaitedFor) return;
      const known = work.finally(() => underWay.delete(known));
      underWay.add(known);
    },
    async settled() {
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
  };
}
