/**
 * Which statements one connection keeps prepared, of those whose texts callers choose: a bounded number, and nobody takes the others' room.
 *
 * Owns: which come and which go, and their names. Does not own: sending them (src/db/batch.ts), nor which may be kept (the REST surface).
 *
 * A text is kept once it has come again after it was answered well. When there is no room, what goes is the one that was not used for longest, of
 * the caller who has most: whoever sends ever new texts takes the room from themselves, and what others keep stays.
 */
import { sha256 } from "../../db/hash.ts";

/** A read of a view is kept with its plan, about a megabyte of the server's memory; a call of a function needs some kilobytes. */
const maxKept = { read: 8, call: 64 } as const;
/** What came once is remembered by its name alone. */
const maxSeen = 128;

export type Keeping = keyof typeof maxKept;

export interface Kept {
  readonly name: string;
  /** Whether it was kept already, so that what it was prepared for may have changed since. */
  readonly isOld: boolean;
}

export class KeptStatements {
  readonly #kept = { read: new SharedRecent(maxKept.read), call: new SharedRecent(maxKept.call) };
  readonly #seen = { read: new SharedRecent(maxSeen), call: new SharedRecent(maxSeen) };

  #givenUp: string[] = [];

  /** Nothing while it should go without a name. */
  use(keeping: Keeping, name: string, who: string): Kept | undefined {
    if (this.#kept[keeping].touch(name)) return { name, isOld: true };
    if (!this.#seen[keeping].touch(name)) return undefined;
    this.#seen[keeping].delete(name);
    this.#givenUp.push(...this.#kept[keeping].add(name, who));
    return { name, isOld: false };
  }

  /** It was answered well. */
  answered(keeping: Keeping, name: string, who: string): void {
    if (!this.#kept[keeping].touch(name)) this.#seen[keeping].add(name, who);
  }

  forget(keeping: Keeping, name: string): void {
    this.#kept[keeping].delete(name);
    this.#givenUp.push(name);
  }

  /** What is no longer kept, once: to be closed before anything else is sent. */
  takeGivenUp(): string[] {
    const givenUp = this.#givenUp;
    this.#givenUp = [];
    return givenUp;
  }
}

/** A name has one text for ever, and one role: a plan depends on whose rights it was made for, and is made anew for each other one. */
export function nameOf(text: string, role: string): string {
  return `headroom_kept_${sha256(`${role} ${text}`).slice(0, 32)}`;
}

/** The most recent of what several callers use. */
class SharedRecent {
  readonly #most: number;
  /** Each with whoever brought it; the most recent is the last. */
  readonly #entries = new Map<string, string>();

  constructor(most: number) {
    this.#most = most;
  }

  touch(key: string): boolean {
    const who = this.#entries.get(key);
    if (who === undefined) return false;
    this.#entries.delete(key);
    this.#entries.set(key, who);
    return true;
  }

  /** Answers with what had to go. */
  add(key: string, who: string): string[] {
    if (this.touch(key)) return [];
    this.#entries.set(key, who);
    if (this.#entries.size <= this.#most) return [];
    const greediest = this.#greediest();
    const [oldest] = [...this.#entries].find(([, owner]) => owner === greediest) ?? [key];
    this.#entries.delete(oldest);
    return [oldest];
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  #greediest(): string | undefined {
    const counts = new Map<string, number>();
    for (const who of this.#entries.values()) counts.set(who, (counts.get(who) ?? 0) + 1);
    return [...counts].toSorted(([, left], [, right]) => right - left)[0]?.[0];
  }
}
