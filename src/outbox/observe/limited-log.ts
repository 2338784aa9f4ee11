/**
 * A log for what may happen thousands of times a minute: of each kind it writes so many lines a minute, and then one that says how many more
 * there were.
 */
import type { Log, RelayLogEntry } from "./log.ts";

const windowMs = 60_000;
const linesPerWindow = 20;
/** Codes are the rails' own; one that makes a new code for each row must not fill the memory. */
const maxKinds = 1_000;

export class LimitedLog {
  readonly #log: Log;
  #beganAtMs = -Infinity;
  readonly #kinds = new Map<string, { readonly example: RelayLogEntry; count: number }>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Entries of one event, stream, rail and code are of one kind. */
  tell(entry: RelayLogEntry): void {
    this.flush();
    const { event, stream, rail, code } = entry;
    const own = [event, stream, rail, code].join(" ");
    const name = this.#kinds.has(own) || this.#kinds.size < maxKinds ? own : event;
    const kind = this.#kinds.get(name) ?? { example: entry, count: 0 };
    this.#kinds.set(name, kind);
    kind.count += 1;
    if (kind.count <= linesPerWindow) this.#log(entry);
  }

  /** Ends the minute when it is over, and says what was left out of it. */
  flush(isOver = false): void {
    const nowMs = performance.now();
    if (!isOver && nowMs - this.#beganAtMs < windowMs) return;
    for (const { example, count } of this.#kinds.values()) {
      const { level, event, stream, rail, code } = example;
      const rows = count - linesPerWindow;
      if (rows > 0) this.#log({ level, event: `more_${event}`, stream, rail, code, rows });
    }
    this.#kinds.clear();
    this.#beganAtMs = nowMs;
  }
}
