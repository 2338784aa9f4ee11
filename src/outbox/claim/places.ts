/**
 * Bounded concurrency, shared out: how many calls run at the same time in this process, and how many each stream and rail may have.
 *
 * Owns: the places, and who waits for one. A stream, and a rail, may hold eight times as many as it leaves free, so the next one
 * always finds some; a rail that limits its calls gets no more than that. Waiting calls are served in turn, stream by stream and rail by
 * rail. The database decides in a similar way how many rows bound for destinations are claimed at all (outbox.open_queues), from
 * what this reports to be in flight.
 * Does not own: what is claimed, or in which order.
 */
import type { Rail } from "../../contract/rail.ts";
import type { Message } from "./message.ts";
import type { Stream } from "./streams.ts";

/** How many times as many places one may hold as it leaves free. */
const shareOfFree = 8;

/** What outbox.claim and outbox.next_due get, as well as the rails that the relay has. */
export interface InFlight {
  readonly free: number;
  readonly streams: Readonly<Record<string, number>>;
  readonly destinations: Readonly<Record<string, number>>;
  readonly tenants: Readonly<Record<string, number>>;
  /** Kinds of destinations (`email:`), or names without a kind, whose rail has more rows waiting than it may have calls. */
  readonly full: readonly string[];
}

/** For a claim that must not return rows bound for a destination. */
export const nothingFree: InFlight = { free: 0, streams: {}, destinations: {}, tenants: {}, full: [] };

class Holder {
  held = 0;
  /** Of a rail: rows bound for destinations that were claimed and have no outcome yet, and the kinds of those destinations. */
  bound = 0;
  readonly kinds = new Set<string>();
  readonly most: number;

  constructor(most = Infinity) {
    this.most = most;
  }
}

/** Calls of one stream on one rail, and those that wait for a place. */
export interface Line {
  readonly stream: Holder;
  readonly rail: Holder;
  readonly waiting: { readonly bound: boolean; readonly resolve: () => void }[];
}

/** Counts that drop entries at zero. */
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
  /** Rows bound for destinations, from their claim to their outcome. */
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

  /** Takes a place for one call. Null when one was free; otherwise a promise of it. */
  take(line: Line, bound: boolean): Promise<void> | null {
    if (line.waiting.length === 0 && this.#mayHold(line, bound)) {
      this.#hold(line, bound);
      return null;
    }
    return new Promise((resolve) => line.waiting.push({ bound, resolve }));
  }

  give(line: Line, bound: boolean): void {
    this.#free += 1;
    if (!bound) this.#plain -= 1;
    line.stream.held -= 1;
    line.rail.held -= 1;
    this.#serve();
  }

  /** Rows bound for a destination got their share when they were claimed. */
  #mayHold({ stream, rail }: Line, bound: boolean): boolean {
    if (this.#free === 0 || rail.held >= rail.most) return false;
    if (bound) return true;
    const most = shareOfFree * this.#free;
    return stream.held < most && rail.held < most;
  }

  #hold(line: Line, bound: boolean): void {
    this.#free -= 1;
    if (!bound) this.#plain += 1;
    line.stream.held += 1;
    line.rail.held += 1;
  }

  /** Lines take turns: the one that was served goes to the back. */
  #serve(): void {
    for (let index = 0; index < this.#lines.length && this.#free > 0;) {
      const line = this.#lines[index];
      const next = line?.waiting[0];
      if (line === undefined || next === undefined || !this.#mayHold(line, next.bound)) {
        index += 1;
        continue;
      }
      line.waiting.shift();
      this.#hold(line, next.bound);
      next.resolve();
      this.#lines.push(...this.#lines.splice(index, 1));
    }
  }

  claimed(stream: Stream, messages: readonly Message[]): void {
    for (const message of messages) this.#count(stream, message, 1);
  }

  finished(stream: Stream, message: Message): void {
    this.#count(stream, message, -1);
  }

  #count(stream: Stream, { row, rail }: Message, change: 1 | -1): void {
    const { destination, tenant_id: tenant } = row;
    if (destination === null) return;
    this.#bound += change;
    this.#boundStreams.add(stream.name, change);
    this.#destinations.add(destination, change);
    if (tenant !== null) this.#tenants.add(tenant, change);
    if (rail === undefined) return;
    const holder = this.line(stream, rail).rail;
    holder.bound += change;
    holder.kinds.add(kindOf(destination));
  }

  get inFlight(): InFlight {
    return {
      free: Math.max(0, this.#all - this.#plain - this.#bound),
      streams: this.#boundStreams.toRecord(),
      destinations: this.#destinations.toRecord(),
      tenants: this.#tenants.toRecord(),
      full: [...this.#rails.values()].flatMap(({ bound, most, kinds }) => (bound > 2 * most ? [...kinds] : [])),
    };
  }
}

/** Destinations of one kind go by one rail, as a rule: `email:acme` and `email:globex`. */
function kindOf(destination: string): string {
  const end = destination.indexOf(":");
  return end === -1 ? destination : destination.slice(0, end + 1);
}
