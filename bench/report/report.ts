/** The outcome of a run as one document: the measurements, and the result of each target. */
import type { Calibration } from "../calibration.ts";
import type { Part, Profile, ReportRow, Result, ResultSet, Target } from "../model.ts";

export interface Meta {
  readonly startedAt: string;
  readonly seconds: number;
  readonly secondsByPart: Readonly<Record<string, number>>;
  readonly profile: Profile["name"];
  readonly parts: readonly string[];
  readonly node: string;
  readonly peers: Readonly<Record<string, string>>;
  readonly server: Readonly<Record<string, string>>;
  readonly machine: {
    readonly cpus: number;
    readonly cpu: string;
    readonly memoryGb: number;
    readonly loadBefore: number;
    readonly stealMs: number;
    readonly calibrationBefore: Calibration;
    readonly calibrationAfter: Calibration;
  };
  readonly failures: readonly { readonly suite: string; readonly reason: string }[];
  readonly cutShort: readonly string[];
}

export interface ReportDocument {
  readonly meta: Meta;
  readonly results: readonly Result[];
  readonly targets: readonly Target[];
}

export interface Report {
  /** What `--json` prints. */
  readonly document: ReportDocument;
  /** The source of the table and the plot. */
  readonly rows: readonly ReportRow[];
}

interface ReportInput {
  readonly parts: readonly Part[];
  readonly profile: Profile;
  readonly results: ResultSet;
  readonly meta: Meta;
}

export function makeReport({ parts, profile, results, meta }: ReportInput): Report {
  const rows = parts.flatMap((part) => part.rows(results, profile));
  const targets = rows.flatMap((row): Target[] => {
    if (!row.target) return [];
    const { value, comparison } = row.target;
    return [{ name: row.label, ratio: row.ratio, target: value, comparison, met: isMet(row) ?? false }];
  });
  return { document: { meta, results: results.all(), targets }, rows };
}

/** Null without a target; a target that could not be measured is missed. */
export function isMet(row: ReportRow): boolean | null {
  if (!row.target) return null;
  if (row.ratio === null) return false;
  return row.target.comparison === ">=" ? row.ratio >= row.target.value : row.ratio <= row.target.value;
}
