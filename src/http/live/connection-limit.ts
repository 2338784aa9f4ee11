/**
 * How many live connections there may be at once: per member, per workspace (so that one leaves room for the others), and in total.
 *
 * Owns: counting, from the moment that a client asks until the connection ends. Does not own: the connections.
 */
import { HeadroomError } from "../../db/errors.ts";
import type { NamedMember } from "../auth/session.ts";

export interface Bounds {
  readonly maxPerMember: number;
  readonly maxPerWorkspace: number;
  readonly maxConnections: number;
}

export class ConnectionLimit {
  readonly #bounds: Bounds;
  readonly #taken = new Map<string, number>();

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** Counts a connection immediately, or refuses it. The returned function ends it; calling it again does nothing. */
  take({ workspaceId, memberId }: NamedMember): () => void {
    const { maxPerMember, maxPerWorkspace, maxConnections } = this.#bounds;
    const counted = [
      [JSON.stringify([workspaceId, memberId]), maxPerMember],
      [JSON.stringify([workspaceId]), maxPerWorkspace],
      ["[]", maxConnections],
    ] as const;
    if (counted.some(([key, most]) => (this.#taken.get(key) ?? 0) >= most)) {
      throw new HeadroomError("rate_limited", "Too many connections for live updates.", {
        hint: "Close some of them, or poll for changes instead.",
      });
    }
    for (const [key] of counted) this.#count(key, 1);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      for (const [key] of counted) this.#count(key, -1);
    };
  }

  #count(key: string, change: number): void {
    const taken = (this.#taken.get(key) ?? 0) + change;
    if (taken === 0) this.#taken.delete(key);
    else this.#taken.set(key, taken);
  }
}
