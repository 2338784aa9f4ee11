/**
 * Strict order per key, checked where it matters: in the handler.
 *
 * A row may be sent again until it is delivered, but no other row of its key may be sent before that; so every
 * call must carry the number after the last delivered one.
 */
import type { Body } from "./workload.ts";

export class OrderCheck {
  violations = 0;
  readonly #lastDelivered = new Map<string, number>();

  saw(body: Pick<Body, "key" | "seq">, delivered = true): void {
    const last = this.#lastDelivered.get(body.key) ?? -1;
    if (body.seq !== last + 1) this.violations += 1;
    if (delivered && body.seq > last) this.#lastDelivered.set(body.key, body.seq);
  }
}
