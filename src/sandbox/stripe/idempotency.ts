/**
 * Idempotency keys: the answer under a key is repeated, including a failure. Different parameters under the same key are an error, and so
 * is a key whose first call has not ended.
 */
import type { World } from "../core/world.ts";
import { StripeRefusal } from "./refusal.ts";
import type { StripeState } from "./state.ts";
import type { Remembered } from "./things.ts";

/** Stripe forgets keys after a day. */
const keyLifeMs = 24 * 60 * 60 * 1000;
const maxKeyChars = 255;

export interface Replay {
  readonly status: number;
  readonly body: string;
}

export class KeyMemory {
  readonly #world: World;
  readonly #state: StripeState;
  readonly #key: string;
  readonly #fingerprint: string;
  /** Whether this call is the one that does the work of the key. */
  readonly #isFirst: boolean;
  /** The answer to an earlier call. */
  readonly #before: Remembered | undefined;

  /** Create it when the call arrives. */
  constructor(world: World, state: StripeState, key: string, fingerprint: string) {
    this.#world = world;
    this.#state = state;
    this.#key = key;
    this.#fingerprint = fingerprint;
    this.#isFirst = !state.keysInUse.has(key);
    if (this.#isFirst) state.keysInUse.add(key);
    const before = state.remembered.get(key);
    this.#before = before === undefined || world.now() - before.at > keyLifeMs ? undefined : before;
  }

  /** The work is finished or abandoned. */
  end(): void {
    if (this.#isFirst) this.#state.keysInUse.delete(this.#key);
  }

  replay(): Replay | undefined {
    if (this.#key.length > maxKeyChars) {
      throw new StripeRefusal(400, `Idempotency keys must be at most ${maxKeyChars} characters long.`, {
        type: "idempotency_error",
      });
    }
    if (!this.#isFirst) {
      throw new StripeRefusal(
        409,
        `There is currently another in-progress request using this Idempotent Key (that probably means you submitted twice, and the other request is still going through): ${this.#key}. Please try again later.`,
        { type: "idempotency_error", code: "idempotency_key_in_use" },
      );
    }
    const before = this.#before;
    if (before === undefined) return undefined;
    if (before.fingerprint !== this.#fingerprint) {
      throw new StripeRefusal(
        400,
        `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${this.#key}' if you meant to execute a different request.`,
        { type: "idempotency_error" },
      );
    }
    return { status: before.status, body: before.body };
  }

  /** The first result stays, whatever happens to later calls; a failure is kept as long as a success. */
  keep(status: number, body: string): void {
    if (!this.#isFirst || this.#before !== undefined) return;
    this.#state.remember(this.#key, { fingerprint: this.#fingerprint, status, body, at: this.#world.now() });
  }
}
