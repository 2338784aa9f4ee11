/**
 * The faults and their times, so that the report can count them and the oracle can check whether a lost lease has an
 * explanation.
 */

export interface FaultEvent {
  readonly kind: string;
  /** The relay process that was hit; null if all were. */
  readonly relay: string | null;
  /** Milliseconds since the epoch. */
  readonly fromMs: number;
  toMs: number;
}

/** The tolerance between clock readings of different processes on one machine. */
const slackMs = 250;

export class FaultLog {
  readonly events: FaultEvent[] = [];
  readonly #counts = new Map<string, number>();

  /** Records a fault. The caller ends a fault that lasts. */
  add(kind: string, relay: string | null = null, lastsMs = 0): FaultEvent {
    const nowMs = Date.now();
    const event: FaultEvent = { kind, relay, fromMs: nowMs, toMs: nowMs + lastsMs };
    this.events.push(event);
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
    return event;
  }

  /** Records an event of which only the count matters. */
  count(kind: string, times = 1): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + times);
  }

  /** Records a pause that was observed only after it had ended. It is not our fault injection, but it is an explanation. */
  stalled(relay: string | null, forMs: number): void {
    const nowMs = Date.now();
    this.events.push({ kind: "stall", relay, fromMs: nowMs - forMs, toMs: nowMs });
    this.count("stalls of the machine");
  }

  /** Whether a fault hit this relay, or all of them, in that time. */
  explains(relay: string | undefined, fromMs: number, toMs: number): boolean {
    return this.events.some(
      (event) =>
        (event.relay === null || event.relay === relay) &&
        event.fromMs <= toMs + slackMs &&
        event.toMs >= fromMs - slackMs,
    );
  }

  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#counts].toSorted(([a], [b]) => a.localeCompare(b)));
  }
}
