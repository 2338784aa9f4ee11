/**
 * How much memory each caller holds here: bodies that are being read and worked on, and answers that were made and not yet taken.
 *
 * Owns: counting, and who holds too much. Does not own: what is held, nor disconnecting a client that reads too slowly
 * (src/web/listener.ts, live/).
 */
import { HeadroomError } from "../db/errors.ts";

export interface HeldBytesOptions {
  /** Default: 16 MiB. */
  readonly maxOfOne?: number | undefined;
  /** Default: 256 MiB. */
  readonly maxInAll?: number | undefined;
}

export class HeldBytes {
  readonly #maxOfOne: number;
  readonly #maxInAll: number;
  readonly #heldBy = new Map<string, number>();
  #inAll = 0;

  constructor({ maxOfOne = 16 * 1_048_576, maxInAll = 256 * 1_048_576 }: HeldBytesOptions = {}) {
    this.#maxOfOne = maxOfOne;
    this.#maxInAll = maxInAll;
  }

  /** Counts bytes that are already held. The returned function releases them; calling it again does nothing. */
  hold(caller: string, bytes: number): () => void {
    this.#count(caller, bytes);
    let held = bytes;
    return () => {
      this.#count(caller, -held);
      held = 0;
    };
  }

  hasRoom(caller: string, bytes: number): boolean {
    return (this.#heldBy.get(caller) ?? 0) + bytes <= this.#maxOfOne && this.#inAll + bytes <= this.#maxInAll;
  }

  /** Refuses a caller that would hold too much. */
  requireRoom(caller: string, bytes: number): void {
    if (this.hasRoom(caller, bytes)) return;
    throw new HeadroomError("rate_limited", "You send too much at once, or have not read what was answered.", {
      hint: "Read the answers to your other requests, then try again.",
    });
  }

  #count(caller: string, bytes: number): void {
    this.#inAll += bytes;
    const held = (this.#heldBy.get(caller) ?? 0) + bytes;
    if (held === 0) this.#heldBy.delete(caller);
    else this.#heldBy.set(caller, held);
  }
}
