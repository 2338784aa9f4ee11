/**
 * Bounded concurrency: how many calls run at once, in the process and on each rail.
 */
import type { Rail } from "../rails/rail.ts";

/** A counting semaphore that lets its first users through without a promise. */
class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  tryTake(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  wait(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}

export class CallSlots {
  readonly #all: Slots;
  readonly #byRail = new Map<Rail, Slots>();

  constructor(concurrency: number, rails: Iterable<Rail>) {
    this.#all = new Slots(concurrency);
    for (const rail of rails) if (rail.concurrency !== undefined) this.#byRail.set(rail, new Slots(rail.concurrency));
  }

  /** Takes a place for one call. Null when it was free at once; otherwise a promise of it. */
  take(rail: Rail): Promise<void> | null {
    const own = this.#byRail.get(rail);
    // The rail's place first: waiting for it must not hold one that another rail could use.
    if (own !== undefined && !own.tryTake()) return own.wait().then(() => this.#takeShared());
    return this.#all.tryTake() ? null : this.#all.wait();
  }

  async #takeShared(): Promise<void> {
    if (!this.#all.tryTake()) await this.#all.wait();
  }

  give(rail: Rail): void {
    this.#all.give();
    this.#byRail.get(rail)?.give();
  }
}
