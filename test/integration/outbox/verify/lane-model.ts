/**
 * A lane as it would be without coalescing: which of its rows are sent when, by their dates and expiries alone. Coalescing is compared with
 * it.
 *
 * Does not own: the database, nor what is asserted. Times are minutes of the model's own clock.
 */
export interface ModelRow {
  readonly seq: number;
  readonly coalesceKey: string | null;
  readonly dueAt: number;
  readonly expiresAt: number | null;
  readonly priority: number;
  /** Whether the engine checks it before it is sent; a plain row is sent without a check. */
  readonly special: boolean;
}

export class LaneModel {
  #rows: ModelRow[] = [];
  #now = 0;
  /** When the lane is checked next: a dated head holds it. */
  #lookAt = 0;
  #sent: ModelRow[] = [];

  get now(): number {
    return this.#now;
  }

  enqueue(row: ModelRow): void {
    if (this.#rows.length === 0) this.#lookAt = row.dueAt;
    this.#rows.push(row);
  }

  advance(minutes: number): void {
    this.#now += minutes;
  }

  /** Sends what is due, one row after the other. */
  drain(): void {
    while (this.#rows.length > 0 && this.#lookAt <= this.#now) {
      if (this.#rows[0]?.special === true) {
        this.#rows = this.#rows.filter(({ expiresAt }) => expiresAt === null || expiresAt > this.#now);
      }
      const [first] = this.#rows;
      if (first !== undefined && first.dueAt <= this.#now) {
        this.#sent.push(first);
        this.#rows.shift();
      }
      this.#lookAt = this.#rows[0]?.dueAt ?? 0;
    }
  }

  /** The last row of each coalesce key that was sent. */
  lastSent(): Map<string, number> {
    return lastOf(this.#sent);
  }
}

export function lastOf(rows: Iterable<Pick<ModelRow, "seq" | "coalesceKey">>): Map<string, number> {
  const last = new Map<string, number>();
  for (const { seq, coalesceKey } of rows) {
    if (coalesceKey !== null) last.set(coalesceKey, Math.max(seq, last.get(coalesceKey) ?? 0));
  }
  return last;
}
