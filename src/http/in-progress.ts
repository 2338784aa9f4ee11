/**
 * Bounds how many requests of one caller are worked on at once, so that a burst of a thousand does not delay the requests of others.
 *
 * Owns: counting and waiting. Does not own: who a caller is (database/caller.ts), the database's connections
 * (database/connection-shares.ts), nor requests of one connection, which wait for each other anyway (src/web/listener.ts).
 */
import { HeadroomError } from "../db/errors.ts";

export interface InProgressOptions {
  /** For a member or a key. Default: 16; the database runs fewer of one caller at a time. */
  readonly maxOfNamed?: number | undefined;
  /** For anonymous callers on one network address, who must not be able to block one another. Default: 256. */
  readonly maxOfNetwork?: number | undefined;
  /** Default: 2,048. */
  readonly maxWaiting?: number | undefined;
}

interface Line {
  busy: number;
  readonly waiting: (() => void)[];
}

export class InProgress {
  readonly #maxOfNamed: number;
  readonly #maxOfNetwork: number;
  readonly #maxWaiting: number;
  readonly #lines = new Map<string, Line>();

  constructor({ maxOfNamed = 16, maxOfNetwork = 256, maxWaiting = 2_048 }: InProgressOptions = {}) {
    this.#maxOfNamed = maxOfNamed;
    this.#maxOfNetwork = maxOfNetwork;
    this.#maxWaiting = maxWaiting;
  }

  /** Resolves when few enough of the caller's requests are in progress. The returned function leaves; calling it again does nothing. */
  async enter(caller: string, isNamed: boolean): Promise<() => void> {
    const line = this.#lines.get(caller) ?? { busy: 0, waiting: [] };
    this.#lines.set(caller, line);
    if (line.busy < (isNamed ? this.#maxOfNamed : this.#maxOfNetwork)) line.busy += 1;
    else if (line.waiting.length < this.#maxWaiting) await new Promise<void>((begin) => line.waiting.push(begin));
    else {
      throw new HeadroomError("rate_limited", "Too many of your requests are waiting.", {
        hint: "Read the answers to your other requests, then try again.",
      });
    }
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#leave(caller, line);
    };
  }

  /** The request that has waited longest takes the place. */
  #leave(caller: string, line: Line): void {
    const next = line.waiting.shift();
    if (next !== undefined) next();
    else if (--line.busy === 0) this.#lines.delete(caller);
  }
}
