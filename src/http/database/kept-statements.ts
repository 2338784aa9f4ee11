/**
 * Which statements one connection keeps prepared, of those whose text callers choose: a bounded number, and no caller evicts another's.
 *
 * Owns: which are kept and which are evicted, and their names. Does not own: sending them (src/db/batch.ts), nor which may be kept (the
 * REST surface).
 *
 * A text is kept when it is sent again after it succeeded. If there is no room, the least recently used statement of the caller with the
 * most is evicted: a caller that keeps sending new texts evicts only their own.
 */
import { sha256 } from "../../db/hash.ts";

/** A read of a view is kept with its plan, about a megabyte of the server's memory; a call of a function needs some kilobytes. */
const maxKept = { read: 8, call: 64 } as const;
/** A text that was sent once is remembered only by its name. */
const maxSeen = 128;

export type Keeping = keyof typeof maxKept;

export interface Kept {
  readonly name: string;
  /** Whether it was already kept, so the tables that it was prepared for may have changed since. */
  readonly isOld: boolean;
}

export class KeptStatements {
  readonly #kept = { read: new SharedRecent(maxKept.read), call: new SharedRecent(maxKept.call) };
  readonly #seen = { read: new SharedRecent(maxSeen), call: new SharedRecent(maxSeen) };

  #givenUp: string[] = [];

  /** Undefined while it should be sent without a name. */
  use(keeping: Keeping, name: string, who: string): Kept | undefined {
    if (this.#kept[keeping].touch(name)) return { name, isOld: true };
    if (!this.#seen[keeping].touch(name)) return undefined;
    this.#seen[keeping].delete(name);
    this.#givenUp.push(...this.#kept[keeping].add(name, who));
    return { name, isOld: false };
  }

  /** Records that it succeeded. */
  answered(keeping: Keeping, name: string, who: string): void {
    if (!this.#kept[keeping].touch(name)) this.#seen[keeping].add(name, who);
  }

  forget(keeping: Keeping, name: string): void {
    this.#kept[keeping].delete(name);
    this.#givenUp.push(name);
  }

  /** Returns, once, the names that were evicted: close them before sending anything else. */
  takeGivenUp(): string[] {
    const givenUp = this.#givenUp;
    this.#givenUp = [];
    return givenUp;
  }
}

/** A name means one text and one role, permanently: a plan depends on whose rights it was made for, so each other role gets its own. */
export function nameOf(text: string, role: string): string {
  return `headroom_kept_${sha256(`${role} ${text}`).slice(0, 32)}`;
}

/** The caller that last used a text which several callers send. */
class SharedRecent {
  readonly #most: number;
  /** Each with the caller that sent it; the most recent is last. */
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

  /** Returns what was evicted. */
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
