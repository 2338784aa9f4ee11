/**
 * Keeps a search from trusting its first "not there". No provider promises that what it has just accepted can be read at
 * once, and a call that was given up may still be on its way; a resend on the first miss would be a second effect.
 *
 * Owns: how long ago this process last had a send of a row under way, or first missed it; a miss counts once that is long
 * enough. Does not own: the search. The memory is this process's alone, which is enough: another relay's rail begins with a
 * miss of its own.
 */
import type { RailOutcome } from "../contract/rail.ts";

export interface Visibility {
  /**
   * Sends the row. Where the send does not end in a proof, the time counts from its end: a call that was given up after its
   * whole time may be carried out just then.
   */
  during(outboxId: string, send: () => Promise<RailOutcome>): Promise<RailOutcome>;
  /** The row was not found: how much longer a miss proves nothing; 0 when it counts. */
  missed(outboxId: string): number;
}

/** Beyond this the oldest are forgotten, which only makes their next miss a first one again. */
const maxRows = 10_000;

export function createVisibility(visibleAfterMs: number, now: () => number = () => performance.now()): Visibility {
  const since = new Map<string, number>();
  const note = (outboxId: string): void => {
    since.delete(outboxId);
    const oldest = since.size >= maxRows ? since.keys().next().value : undefined;
    if (oldest !== undefined) since.delete(oldest);
    since.set(outboxId, now());
  };
  return {
    async during(outboxId, send) {
      let outcome: RailOutcome | undefined;
      note(outboxId);
      try {
        return (outcome = await send());
      } finally {
        if (outcome === undefined || outcome.kind === "unknown") note(outboxId);
      }
    },
    missed(outboxId) {
      if (visibleAfterMs <= 0) return 0;
      if (!since.has(outboxId)) note(outboxId);
      const remainingMs = visibleAfterMs - (now() - (since.get(outboxId) ?? now()));
      if (remainingMs > 0) return Math.ceil(remainingMs);
      since.delete(outboxId);
      return 0;
    },
  };
}
