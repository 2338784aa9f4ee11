/**
 * Bounded concurrency, shared out: how many calls run at once in this process, and how many of them each may have.
 *
 * Owns: the places, and who waits for one. A stream, and a rail, may hold eight times as many as it leaves free, so the next one
 * always finds some; a rail that says how many calls it bears gets no more. Those who wait are served in turn, stream by stream and rail by
 * rail. How many rows bound for destinations are claimed at all is decided by the database in the same spirit (outbox.open_queues), by
 * what is told here to be in flight.
 * Does not own: what is claimed, or in which order.
 */
import type { Rail } from "../rails/rail.ts";
import type { ClaimedRow } from "./message.ts";
import type { Stream } from "./streams.ts";

/** How many times as many places one may hold as are left free. */
const shareOfFree = 8;

/** What outbox.claim and outbox.next_due are told. */
export interface InFlight {
  readonly free: number;
  readonly streams: Readonly<Record<string, number>>;
  readonly destinations: Readonly<Record<string, number>>;
  readonly tenants: Readonly<Record<string, number>>;
}

/** For a claim that is to bring nothing bound for a destination. */
export const nothingFree: InFlight = { free: 0, streams: {}, destinations: {}, tenants: {} };

class Holder {
  held = 0;
  readonly most: number;

  constructor(most = Infinity) {
    this.most = most;
  }
}

/** Calls of one stream on one rail, and those that wait for a place. */
export interface Line {
  readonly stream: Holder;
  readonly rail: Holder;
  readonly waiting: (() => void)[];
}

/** Counts that forget those who have nothing. */
class Counts {
  readonly #counts = new Map<string, number>();

  add(name: string, change: 1 | -1): void {
    const count = (this.#counts.get(name) ?? 0) + change;
    if (count === 0) this.#counts.delete(name);
    else this.#counts.set(name, count);
  }

  toRecord(): Record<string, number> {
    return Object.fromEntries(this.#counts);
  }
}

export class Places {
  #free: number;
  readonly #all: number;
  /** Calls under way that go to no destination. */
  #plain = 0;
  /** Rows bound for destinations, from their claim to their result. */
  #bound = 0;
  readonly #streams = new Map<Stream, Map<Rail, Line>>();
  readonly #rails = new Map<Rail, Holder>();
  readonly #lines: Line[] = [];
  readonly #boundStreams = new Counts();
  readonly #destinations = new Counts();
  readonly #tenants = new Counts();

  constructor(concurrency: number) {
    this.#all = concurrency;
    this.#free = concurrency;
  }

  line(stream: Stream, rail: Rail): Line {
    return this.#streams.get(stream)?.get(rail) ?? this.#newLine(stream, rail);
  }

  #newLine(stream: Stream, rail: Rail): Line {
    const rails = this.#streams.get(stream) ?? new Map<Rail, Line>();
    this.#streams.set(stream, rails);
    const [sibling] = rails.values();
    const ofRail = this.#rails.get(rail) ?? new Holder(rail.concurrency);
    this.#rails.set(rail, ofRail);
    const line = { stream: sibling?.stream ?? new Holder(), rail: ofRail, waiting: [] };
    rails.set(rail, line);
    this.#lines.push(line);
    return line;
  }

  /** Takes a place for one call. Null when there was one at once; otherwise a promise of it. */
  take(line: Line, bound: boolean): Promise<void> | null {
    if (line.waiting.length === 0 && this.#mayHold(line)) {
      this.#hold(line, bound);
      return null;
    }
    return new Promise((resolve) =>
      line.waiting.push(() => {
        this.#hold(line, bound);
        resolve();
      }),
    );
  }

  give(line: Line, bound: boolean): void {
    this.#free += 1;
    if (!bound) this.#plain -= 1;
    line.stream.held -= 1;
    line.rail.held -= 1;
    this.#serve();
  }

  #mayHold({ stream, rail }: Line): boolean {
    if (this.#free === 0 || rail.held >= rail.most) return false;
    const most = shareOfFree * this.#free;
    return stream.held < most && rail.held < most;
  }

  #hold(line: Line, bound: boolean): void {
    this.#free -= 1;
    if (!bound) this.#plain += 1;
    line.stream.held += 1;
    line.rail.held += 1;
  }

  /** Lines take turns: whoever was served goes to the back. */
  #serve(): void {
    for (let index = 0; index < this.#lines.length && this.#free > 0;) {
      const line = this.#lines[index];
      const next =
        line !== undefined && line.waiting.length > 0 && this.#mayHold(line) ? line.waiting.shift() : undefined;
      if (line === undefined || next === undefined) {
        index += 1;
        continue;
      }
      next();
      this.#lines.push(...this.#lines.splice(index, 1));
    }
  }

  claimed(stream: Stream, rows: readonly ClaimedRow[]): void {
    for (const row of rows) this.#count(stream, row, 1);
  }

  finished(stream: Stream, row: ClaimedRow): void {
    this.#count(stream, row, -1);
  }

  #count(stream: Stream, { destination, tenant_id: tenant }: ClaimedRow, change: 1 | -1): void {
    if (destination === null) return;
    this.#bound += change;
    this.#boundStreams.add(stream.name, change);
    this.#destinations.add(destination, change);
    if (tenant !== null) this.#tenants.add(tenant, change);
  }

  get inFlight(): InFlight {
    return {
      free: Math.max(0, this.#all - this.#plain - this.#bound),
      streams: this.#boundStreams.toRecord(),
      destinations: this.#destinations.toRecord(),
      tenants: this.#tenants.toRecord(),
    };
  }
}
