/**
 * How many may listen at once: so many per member, and so many in all.
 *
 * Owns: counting, from the moment that somebody asks until the connection is over. Does not own: the connections.
 */
import { HeadroomError } from "../../db/errors.ts";
import type { Session } from "../session.ts";

export interface Listener {
  readonly workspaceId: string;
  readonly memberId: string;
}

export class Places {
  readonly #bounds: { readonly mostPerMember: number; readonly mostConnections: number };
  readonly #taken = new Map<string, number>();
  #all = 0;

  constructor(bounds: { readonly mostPerMember: number; readonly mostConnections: number }) {
    this.#bounds = bounds;
  }

  /** Takes a place at once, or refuses. What it gives back leaves the place, once however often it is called. */
  take({ workspaceId, memberId }: Listener): () => void {
    const key = JSON.stringify([workspaceId, memberId]);
    const own = this.#taken.get(key) ?? 0;
    if (own >= this.#bounds.mostPerMember || this.#all >= this.#bounds.mostConnections) {
      throw new HeadroomError("rate_limited", "Too many connections listen for live updates.", {
        hint: "Close some, or ask for changes now and then instead.",
      });
    }
    this.#taken.set(key, own + 1);
    this.#all += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#all -= 1;
      const rest = (this.#taken.get(key) ?? 1) - 1;
      if (rest === 0) this.#taken.delete(key);
      else this.#taken.set(key, rest);
    };
  }
}

export function whoIs({ claims }: Session): Listener {
  const metadata = claims["app_metadata"];
  const read = (name: string): string => {
    if (typeof metadata !== "object" || metadata === null) return "";
    const value: unknown = Object.getOwnPropertyDescriptor(metadata, name)?.value;
    return typeof value === "string" ? value : "";
  };
  return { workspaceId: read("workspace_id"), memberId: read("member_id") };
}
