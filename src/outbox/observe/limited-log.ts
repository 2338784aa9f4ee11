/**
 * A log for events that may happen thousands of times a minute: it writes a limited number of lines of each kind a minute, and then one
 * line that says how many more there were.
 */
import type { Log, RelayLogEntry } from "./log.ts";

const windowMs = 60_000;
const linesPerWindow = 20;
/** Rails define their codes; a rail that makes a new code for each row must not fill the memory. */
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

  /** Ends a minute that has passed, and logs what was left out of it. */
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
