/**
 * The benchmark's types: what a suite is given, what it reports, and what a part derives from it.
 *
 * A *suite* is one process with one fresh database. A *part* names the suites it needs and turns their
 * measurements into rows of the table. Nothing here measures anything.
 */

export const CONTENDERS = ["headroom", "graphile-worker", "pg-boss"] as const;
export type ContenderName = (typeof CONTENDERS)[number];

export type Params = Readonly<Record<string, string | number | boolean>>;

/** One process to run, possibly several times. */
export interface SuiteSpec {
  /** Unique within a run; two parts that name the same id share its measurements. */
  readonly id: string;
  /** Which function of `suites/registry.ts` runs. */
  readonly suite: string;
  readonly params: Params;
  /** The process is ended if it takes longer. */
  readonly timeoutMs: number;
  /** Overrides the profile's number of rounds. */
  readonly rounds?: number;
}

/** One number that a suite found. */
export interface Measurement {
  /** The name of the measurement, e.g. `drain/best`; a part looks it up by this name. */
  readonly measure: string;
  /** Who was measured: a contender, or plain SQL as a reference. */
  readonly who: string;
  /** The settings in words, for the reader. */
  readonly variant: string;
  readonly value: number;
  readonly unit: string;
  readonly details?: Readonly<Record<string, number | string | boolean>>;
}

/** All rounds of one measurement together. */
export interface Result extends Measurement {
  /** The median of `runs`. */
  readonly value: number;
  readonly runs: readonly number[];
}

export type Comparison = ">=" | "<=";

/** One line of the table; with a target it is also one line of `targets`. */
export interface ReportRow {
  readonly part: string;
  readonly label: string;
  readonly unit: string;
  /** Values by column: the contenders, and `reference` for anything else that ours is compared with. */
  readonly values: Readonly<Partial<Record<ContenderName | "reference", number | null>>>;
  readonly referenceLabel?: string;
  readonly ratio: number | null;
  readonly target?: { readonly value: number; readonly comparison: Comparison };
}

export interface Target {
  readonly name: string;
  readonly ratio: number | null;
  readonly target: number;
  readonly comparison: Comparison;
  readonly met: boolean;
}

export interface Part {
  readonly name: string;
  /** One line for `--help`. */
  readonly about: string;
  /** Parts with big tables run only with `--full`, or when asked for by name. */
  readonly fullOnly?: boolean;
  /** The share of the run's time that this part may use, relative to the other parts. */
  readonly weight: number;
  suites(profile: Profile): readonly SuiteSpec[];
  rows(results: ResultSet, profile: Profile): readonly ReportRow[];
}

/** Sizes and limits of a run. */
export interface Profile {
  readonly name: "quick" | "default" | "full";
  /** The whole run, peers included, ends within this. */
  readonly budgetSeconds: number;
  readonly minRounds: number;
  readonly maxRounds: number;
  readonly drainRows: number;
  readonly warmUpRows: number;
  readonly keys: number;
  readonly sliceRows: number;
  readonly slices: number;
  readonly backlogRows: number;
  readonly baselineRows: number;
  readonly wakes: number;
  readonly loadSeconds: number;
  readonly pgBossDefaultBoxMs: number;
  readonly graphileBurstsBoxMs: number;
  readonly archiveRows: number;
  readonly heldOpenSeconds: number;
  readonly memoryRows: number;
}

/** Read access to the measurements. */
export interface ResultSet {
  value(measure: string, who: string): number | null;
  /** Every round's number; empty if nothing was measured. */
  runs(measure: string, who: string): readonly number[];
  detail(measure: string, who: string, name: string): number | null;
  all(): readonly Result[];
}
