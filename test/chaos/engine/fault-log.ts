/**
 * What was done to the system and when, so that the report can count it and the oracle can ask whether a lost lease has an
 * explanation.
 */

export interface FaultEvent {
  readonly kind: string;
  /** The relay process that was hit; null when everybody was. */
  readonly relay: string | null;
  /** Milliseconds since the epoch. */
  readonly fromMs: number;
  toMs: number;
}

/** Clocks of one machine, read by different processes, differ by little. */
const slackMs = 250;

export class FaultLog {
  readonly events: FaultEvent[] = [];
  readonly #counts = new Map<string, number>();

  /** Notes a fault. An event that lasts is ended by its maker. */
  add(kind: string, relay: string | null = null, lastsMs = 0): FaultEvent {
    const nowMs = Date.now();
    const event: FaultEvent = { kind, relay, fromMs: nowMs, toMs: nowMs + lastsMs };
    this.events.push(event);
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
    return event;
  }

  /** Notes something of which only the count matters. */
  count(kind: string, times = 1): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + times);
  }

  /** Notes a pause that somebody observed only when it was over. Not a fault of ours, and yet an explanation. */
  stalled(relay: string | null, forMs: number): void {
    const nowMs = Date.now();
    this.events.push({ kind: "stall", relay, fromMs: nowMs - forMs, toMs: nowMs });
    this.count("stalls of the machine");
  }

  /** Whether something happened to this relay, or to everybody, in that time. */
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
