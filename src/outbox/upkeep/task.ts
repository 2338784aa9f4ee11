/**
 * A task other than sending: repeated work that a layer has relays and servers do, such as raising alerts.
 *
 * Owns: the interface. Does not own: when a task runs, on which connection, and what happens when it fails (ticker.ts).
 */
import type { Queryable } from "../../db/call.ts";
import type { Part } from "../../db/layers.ts";
import type { Log } from "../observe/log.ts";

/** The result of one step. */
export interface Progress {
  /** What it did, counted by name. The steps of a run are summed, and logged unless all are zero. */
  readonly counts?: Readonly<Record<string, number>> | undefined;
  /** There is more to do, so another step should follow immediately. Other tasks get their turn in between. */
  readonly more?: boolean | undefined;
  /** When the next run is due, if that is known. It runs within `everyMs` and `maxEveryMs`. */
  readonly nextInMs?: number | undefined;
}

export interface TaskRun {
  /** Whether this is for a turn of a relay on demand, which has little time. */
  readonly onDemand: boolean;
}

/** Before which turns of a relay on demand a task runs, so that the turn sends the rows that it makes. */
export interface BeforeTurns {
  /** The shortest interval, however often turns come. */
  readonly everyMs: number;
  /** The part of the turn's time that it may take; and in milliseconds. */
  readonly share: number;
  readonly maxMs: number;
}

export interface Task {
  /** Named in metrics and, when it fails, in the log. */
  readonly name: string;
  /**
   * One step: does what is due, or some of it. It is its own transaction, which the server ends after `timeoutMs`. Several processes may
   * do it at the same moment.
   */
  readonly run: (db: Queryable, log: Log, run: TaskRun) => Promise<Progress | void>;
  /** Its interval. Default: that of the check for expired leases. */
  readonly everyMs?: number | undefined;
  /** The longest interval, where `nextInMs` gives the next run. Default: `everyMs`. */
  readonly maxEveryMs?: number | undefined;
  /** The part of the time that it may take: it pauses accordingly, but at most five minutes. Default: 0.5. */
  readonly share?: number | undefined;
  /** How long a statement of it may take. Default: 60,000. */
  readonly timeoutMs?: number | undefined;
  /** The entry that is logged when a run did anything. Default: none. */
  readonly event?: { readonly level: "info" | "warn" | "error"; readonly event: string } | undefined;
  /** The event that is logged when it begins to fail, or fails in a different way. Default: upkeep_failed. */
  readonly failedEvent?: string | undefined;
  /** The part that must be installed; otherwise the task has nothing to do. Default: engine. */
  readonly part?: Part | undefined;
  /** Called after each step that was committed. */
  readonly done?: ((counts: Readonly<Record<string, number>>) => void) | undefined;
  /** Records in the database that a run failed. */
  readonly noteFailure?: ((db: Queryable, code: string, run: TaskRun) => Promise<void>) | undefined;
  /** Default: a relay on demand runs it after a turn that has time left, every ten minutes at most. */
  readonly beforeTurns?: BeforeTurns | undefined;
}
