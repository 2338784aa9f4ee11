/**
 * Ids that are the same in every run: a counter for each kind of thing.
 */
import { z } from "zod";
import type { Saveable } from "./state-file.ts";

export class Ids implements Saveable {
  #counters = new Map<string, number>();

  /** `V00000001`, `V00000002`, … */
  next(prefix: string, digits = 8): string {
    return `${prefix}${String(this.number(prefix)).padStart(digits, "0")}`;
  }

  /** 1, 2, 3, … for each kind. */
  number(kind: string): number {
    const number = (this.#counters.get(kind) ?? 0) + 1;
    this.#counters.set(kind, number);
    return number;
  }

  /** It looks like a UUID of version 4; its value is the counter's. */
  uuid(kind: string): string {
    const hex = this.number(`uuid:${kind}`).toString(16).padStart(12, "0");
    const place = Buffer.from(kind).reduce((sum, byte) => (sum * 31 + byte) >>> 0, 7);
    return `${place.toString(16).padStart(8, "0")}-0000-4000-8000-${hex}`;
  }

  save(): unknown {
    return Object.fromEntries(this.#counters);
  }

  load(saved: unknown): void {
    this.#counters = new Map(Object.entries(z.record(z.string(), z.number()).parse(saved)));
  }

  reset(): void {
    this.#counters.clear();
  }
}
