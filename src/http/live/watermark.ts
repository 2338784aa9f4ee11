/**
 * Up to which moment everything that happened is known to have been seen.
 *
 * An event gets its time while its transaction runs, and is seen when that commits: a reader that asked only for what is newer than
 * the newest would miss the ones that commit late. Every poll notes the moment and the next transaction number. Transactions
 * that were under way then have lower numbers; once all of these are over (xmin has reached that number), nothing from before that
 * moment can still come. No writer takes part in this.
 */

/** What recent_capacity_events returns besides the events. Times are microseconds since 1970. */
export interface Horizon {
  readonly at: number;
  readonly xmin: bigint;
  readonly next: bigint;
}

/** A transaction that is open for longer is not waited for; its events are seen when the request is read, not live. */
const longestWait = 60_000_000;
/** For a clock that is set back a little. */
const margin = 1_000_000;

export class Watermark {
  #polls: Pick<Horizon, "at" | "next">[] = [];
  #safe = 0;

  /** Takes a poll in, and returns the moment before which nothing more will appear. It never goes back. */
  advance({ at, xmin, next }: Horizon): number {
    this.#polls.push({ at, next });
    const over = this.#polls.filter((poll) => poll.next <= xmin);
    this.#polls = this.#polls.filter((poll) => poll.next > xmin && poll.at > at - longestWait);
    const known = Math.max(at - longestWait, ...over.map((poll) => poll.at));
    this.#safe = Math.max(this.#safe, known - margin);
    return this.#safe;
  }
}
