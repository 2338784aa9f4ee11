/**
 * Repeatable randomness: the same seed gives the same choices.
 *
 * Owns: which fault, which key, which pause. Does not own: the operating system's scheduling, so two runs of one seed are
 * similar, not identical.
 */

export type Range = readonly [min: number, max: number];

/** Mulberry32: small, fast, and uniform enough for choosing. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to, but not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let bits = this.#state;
    bits = Math.imul(bits ^ (bits >>> 15), bits | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** A whole number, both ends included. */
  between(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  pick<T>(choices: readonly T[]): T {
    const chosen = choices[this.between(0, choices.length - 1)];
    if (chosen === undefined) throw new Error("there is nothing to choose from");
    return chosen;
  }

  /** Undefined when there is nothing to choose from. */
  pickAny<T>(choices: readonly T[]): T | undefined {
    return choices.length === 0 ? undefined : this.pick(choices);
  }

  /** Of pairs of choice and weight. */
  weighted<T>(choices: readonly (readonly [T, number])[]): T {
    const total = choices.reduce((sum, [, weight]) => sum + weight, 0);
    let point = this.next() * total;
    for (const [choice, weight] of choices) {
      if (point < weight) return choice;
      point -= weight;
    }
    return this.pick(choices)[0];
  }

  shuffled<T>(list: readonly T[]): T[] {
    const rest = [...list];
    const drawn: T[] = [];
    while (rest.length > 0) drawn.push(...rest.splice(this.between(0, rest.length - 1), 1));
    return drawn;
  }

  /** A separate source for one part, so that parallel parts do not share one sequence of numbers. */
  fork(): Random {
    return new Random(Math.floor(this.next() * 2 ** 32));
  }
}
