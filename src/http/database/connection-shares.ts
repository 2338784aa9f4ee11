/**
 * Shares a few connections out among many callers: nobody gets all of them, and whoever has the fewest comes first.
 *
 * Owns: counting and waiting. Does not own: the connections.
 */
import { deferred } from "../../db/wait/deferred.ts";

export type Taken =
  /** To be called once, when it is no longer used. */
  | { readonly kind: "taken"; readonly leave: () => void }
  /** No connection came free in time; `ownFault` when another caller would have got one. */
  | { readonly kind: "late"; readonly ownFault: boolean };

export class Shares {
  readonly #mostOfOne: number;
  readonly #held = new Map<string, number>();
  readonly #waiting = new Map<string, Set<() => void>>();
  #free: number;

  /** Nobody may hold the last fifth (at least one connection), unless there is only one in all. */
  constructor(total: number) {
    this.#free = total;
    this.#mostOfOne = Math.max(1, total - Math.ceil(total / 5));
  }

  async take(who: string, waitMs: number): Promise<Taken> {
    if (this.#mayTake(who)) return this.#give(who);
    const { promise, resolve } = deferred<Taken>();
    const queue = this.#waiting.get(who) ?? new Set();
    const grant = (): void => resolve(this.#give(who));
    this.#waiting.set(who, queue.add(grant));
    const late = setTimeout(() => {
      this.#forget(who, grant);
      resolve({ kind: "late", ownFault: this.#free > 0 });
    }, waitMs);
    const taken = await promise;
    clearTimeout(late);
    return taken;
  }

  #mayTake(who: string): boolean {
    return this.#free > 0 && (this.#held.get(who) ?? 0) < this.#mostOfOne;
  }

  #give(who: string): Taken {
    this.#free -= 1;
    this.#held.set(who, (this.#held.get(who) ?? 0) + 1);
    return { kind: "taken", leave: () => this.#leave(who) };
  }

  #leave(who: string): void {
    this.#free += 1;
    const held = (this.#held.get(who) ?? 1) - 1;
    if (held === 0) this.#held.delete(who);
    else this.#held.set(who, held);
    const [next] = [...this.#waiting.keys()]
      .filter((waiting) => this.#mayTake(waiting))
      .toSorted((left, right) => (this.#held.get(left) ?? 0) - (this.#held.get(right) ?? 0));
    const [grant] = next === undefined ? [] : (this.#waiting.get(next) ?? []);
    if (next === undefined || grant === undefined) return;
    this.#forget(next, grant);
    grant();
  }

  #forget(who: string, grant: () => void): void {
    const queue = this.#waiting.get(who);
    queue?.delete(grant);
    if (queue?.size === 0) this.#waiting.delete(who);
  }
}
