/**
 * The time up to which every event is known to have been seen.
 *
 * An event gets its time while its transaction runs, and becomes visible when that commits. A reader that asked only for events newer than
 * the newest would miss those that commit late. Every poll records the time and the next transaction number. Transactions that were open
 * then have lower numbers. Once all of these have ended (xmin has reached that number), no more events from before that
 * time can appear. Writers do nothing for this.
 */

/** What recent_capacity_events returns besides the events. Times are microseconds since 1970. */
export interface Horizon {
  readonly at: number;
  readonly xmin: bigint;
  readonly next: bigint;
}

/** We do not wait for a transaction that is open for longer. Its events are seen when the request is read, not live. */
const longestWait = 60_000_000;
/** A margin for a clock that is set back a little. */
const margin = 1_000_000;

export class Watermark {
  #polls: Pick<Horizon, "at" | "next">[] = [];
  #safe = 0;

  /** Records a poll, and returns the time before which nothing more will appear. It never goes back. */
  advance({ at, xmin, next }: Horizon): number {
    this.#polls.push({ at, next });
    const over = this.#polls.filter((poll) => poll.next <= xmin);
    this.#polls = this.#polls.filter((poll) => poll.next > xmin && poll.at > at - longestWait);
    const known = Math.max(at - longestWait, ...over.map((poll) => poll.at));
    this.#safe = Math.max(this.#safe, known - margin);
    return this.#safe;
  }
}
