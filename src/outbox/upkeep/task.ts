/**
 * What a task beside sending is: something that a layer has relays and servers do again and again, such as raising alerts.
 *
 * Owns: the interface. Does not own: when a task runs, on which connection, and what happens when it fails (ticker.ts).
 */
import type { Queryable } from "../../db/call.ts";
import type { Part } from "../../db/layers.ts";
import type { Log } from "../observe/log.ts";

/** What one step did. */
export interface Progress {
  /** How many of what. The steps of a run are summed, and logged when there was anything. */
  readonly counts?: Readonly<Record<string, number>> | undefined;
  /** There is more to do, so that another step at once is worth it. Other tasks get their turn in between. */
  readonly more?: boolean | undefined;
  /** When the next run is due, as far as it is known. It comes within `everyMs` and `maxEveryMs`. */
  readonly nextInMs?: number | undefined;
}

export interface TaskRun {
  /** Whether this is for a turn of a relay on demand, which has little time. */
  readonly onDemand: boolean;
}

/** Before which turns of a relay on demand a task runs, so that the turn sends what comes of it. */
export interface BeforeTurns {
  /** How often at most, however often turns come. */
  readonly everyMs: number;
  /** The part of the turn's time that it may take; and in milliseconds. */
  readonly share: number;
  readonly maxMs: number;
}

export interface Task {
  /** Named in metrics and, when it fails, in the log. */
  readonly name: string;
  /**
   * One step: does what is due, or some of it. It is a transaction of its own, which the server ends after `timeoutMs`. Several processes may
   * do it at the same moment.
   */
  readonly run: (db: Queryable, log: Log, run: TaskRun) => Promise<Progress | void>;
  /** How often. Default: as often as expired leases are looked for. */
  readonly everyMs?: number | undefined;
  /** How often at least, where `nextInMs` says when. Default: `everyMs`. */
  readonly maxEveryMs?: number | undefined;
  /** The part of the time that it may take: it rests accordingly, but for no more than five minutes. Default: 0.5. */
  readonly share?: number | undefined;
  /** How long a statement of it may take. Default: 60,000. */
  readonly timeoutMs?: number | undefined;
  /** The entry that is logged when a run did anything. Default: none. */
  readonly event?: { readonly level: "info" | "warn" | "error"; readonly event: string } | undefined;
  /** The event that is logged when it begins to fail, and when it fails in another way. Default: upkeep_failed. */
  readonly failedEvent?: string | undefined;
  /** Where this part is not installed the task has nothing to do. Default: engine. */
  readonly part?: Part | undefined;
  /** Called after each step that was committed. */
  readonly done?: ((counts: Readonly<Record<string, number>>) => void) | undefined;
  /** Writes down in the database that a run failed. */
  readonly noteFailure?: ((db: Queryable, code: string, run: TaskRun) => Promise<void>) | undefined;
  /** Default: a relay on demand runs it after a turn that has time left, every ten minutes at most. */
  readonly beforeTurns?: BeforeTurns | undefined;
}
