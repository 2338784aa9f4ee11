/**
 * Divides a few connections among many callers: no workspace gets all of them, no member gets all of their workspace's share, and the
 * caller with the fewest comes first.
 *
 * Owns: counting and waiting. Does not own: the connections, nor who calls (caller.ts).
 */
import { deferred } from "../../db/wait/deferred.ts";
import { keyOf, type Caller } from "./caller.ts";

export type Taken =
  /** Call it once, when the connection is no longer used. */
  | { readonly kind: "taken"; readonly leave: () => void }
  /** No connection came free in time; `ownFault` when another caller would have got one. */
  | { readonly kind: "late"; readonly ownFault: boolean };

/** A waiting request is held in memory, so one caller may have only this many waiting. */
const maxWaitingOfOne = 64;

interface Queue {
  readonly caller: Caller;
  readonly grants: Set<() => void>;
}

export class Shares {
  readonly #maxOfGroup: number;
  readonly #maxOfOne: number;
  /** By group, and by caller. */
  readonly #held = new Map<string, number>();
  readonly #waiting = new Map<string, Queue>();
  #free: number;

  /** No group may hold the last fifth (at least one connection, unless there is only one), and no caller more than half of the rest. */
  constructor(total: number) {
    this.#free = total;
    this.#maxOfGroup = Math.max(1, total - Math.ceil(total / 5));
    this.#maxOfOne = Math.ceil(this.#maxOfGroup / 2);
  }

  async take(caller: Caller, waitMs: number): Promise<Taken> {
    if (this.#mayTake(caller)) return this.#give(caller);
    const key = keyOf(caller);
    const queue = this.#waiting.get(key) ?? { caller, grants: new Set() };
    if (queue.grants.size >= maxWaitingOfOne) return { kind: "late", ownFault: true };
    const { promise, resolve } = deferred<Taken>();
    const grant = (): void => resolve(this.#give(caller));
    queue.grants.add(grant);
    this.#waiting.set(key, queue);
    const late = setTimeout(() => {
      this.#forget(queue, grant);
      resolve({ kind: "late", ownFault: this.#free > 0 });
    }, waitMs);
    const taken = await promise;
    clearTimeout(late);
    return taken;
  }

  #mayTake(caller: Caller): boolean {
    if (this.#free === 0 || this.#heldBy(caller.group) >= this.#maxOfGroup) return false;
    return caller.one === undefined || this.#heldBy(keyOf(caller)) < this.#maxOfOne;
  }

  #give(caller: Caller): Taken {
    this.#count(caller, 1);
    return { kind: "taken", leave: () => this.#leave(caller) };
  }

  #leave(caller: Caller): void {
    this.#count(caller, -1);
    let next: Queue | undefined;
    for (const queue of this.#waiting.values()) {
      if (this.#mayTake(queue.caller) && (next === undefined || this.#hasLess(queue.caller, next.caller))) next = queue;
    }
    const [grant] = next?.grants ?? [];
    if (next === undefined || grant === undefined) return;
    this.#forget(next, grant);
    grant();
  }

  #hasLess(left: Caller, right: Caller): boolean {
    const byGroup = this.#heldBy(left.group) - this.#heldBy(right.group);
    return byGroup === 0 ? this.#heldBy(keyOf(left)) < this.#heldBy(keyOf(right)) : byGroup < 0;
  }

  #heldBy(key: string): number {
    return this.#held.get(key) ?? 0;
  }

  #count(caller: Caller, change: 1 | -1): void {
    this.#free -= change;
    for (const key of new Set([caller.group, keyOf(caller)])) {
      const held = this.#heldBy(key) + change;
      if (held === 0) this.#held.delete(key);
      else this.#held.set(key, held);
    }
  }

  #forget({ caller, grants }: Queue, grant: () => void): void {
    grants.delete(grant);
    if (grants.size === 0) this.#waiting.delete(keyOf(caller));
  }
}
