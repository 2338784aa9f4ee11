/**
 * Keeps a search from trusting its first "not there". No provider promises that what it just accepted can be read
 * immediately, and a call that was given up may still be on its way: a resend on the first miss could be a second effect.
 *
 * Owns: how long ago this process last had a send of a row under way, or first missed it; a miss is trusted once that is long
 * enough ago. Does not own: the search. Each process remembers this for itself, which is enough: another relay's rail starts
 * with its own first miss.
 */
import type { RailOutcome } from "../contract/rail.ts";

export interface Visibility {
  /**
   * Sends the row. If the outcome is unknown, the time starts at the end of the send: a call that was given up at its
   * time-out may be carried out just then.
   */
  during(outboxId: string, send: () => Promise<RailOutcome>): Promise<RailOutcome>;
  /** The row was not found: returns for how many milliseconds more a miss proves nothing; 0 if it can be trusted. */
  missed(outboxId: string): number;
}

/** Beyond this the oldest rows are forgotten: their next miss is treated as the first. */
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
