/**
 * The interface of a contender, so that one drain, one order check and one wake test serve all three.
 */
import type { DrainReading } from "../measure.ts";
import type { ContenderName, Profile } from "../model.ts";
import type { Body, Layout } from "../workload.ts";

/** Which of a contender's settings: the ones its documentation starts with, or the best found for a task. */
export type Mode = "default" | "best" | "ordered" | "backlog";

export interface FillOptions {
  readonly rows: number;
  /** First index; later fills continue where an earlier one ended. */
  readonly from?: number;
  readonly layout: Layout;
  readonly due?: "now" | "tomorrow";
  /**
   * Enqueue as an ordinary producer would, without giving each row of a transaction its own time.
   * Only graphile-worker makes a difference here: the others always work this way.
   */
  readonly plain?: boolean;
  /** Do not vacuum or analyse the tables: for rows that arrive while a worker runs. */
  readonly skipVacuum?: boolean;
}

export interface DrainOptions {
  /** Stop the clock at this many rows. */
  readonly target: number;
  /** Whether the clock runs until the queue is seen empty, or only until the handler of the target starts. */
  readonly until: "empty" | "target";
  /** The drain is cut short after this long; the rate is then that of the finished rows. */
  readonly boxMs: number;
  readonly onRow?: (body: Body) => void;
}

export interface Contender {
  readonly name: ContenderName;
  describe(mode: Mode): string;
  /** Empties the queue between drains of one process. */
  reset(): Promise<void>;
  fillQueue(options: FillOptions): Promise<void>;
  drain(mode: Mode, options: DrainOptions): Promise<DrainReading>;
  /** Starts an idle worker for the wake test; `stop` ends it. */
  listen(onRow: (body: Body) => void): Promise<{ describe: string; stop(): Promise<void> }>;
  /** Enqueues one row in its own transaction; resolves when the commit is acknowledged. */
  enqueueOne(body: Body): Promise<void>;
  /** Enqueues many rows in one call and one transaction. */
  enqueueMany(bodies: readonly Body[]): Promise<void>;
  /**
   * Fills an ordered queue so that a tenth of its keys is blocked by a dead row, with `blockedRows` waiting behind
   * those; returns the next free index.
   */
  fillWithBlockedKeys?(options: { readyRows: number; blockedRows: number }): Promise<number>;
  close(): Promise<void>;
}

export interface ContenderOptions {
  readonly url: string;
  readonly keys: Profile["keys"];
}
