/** The few forms of a row of the table. */
import { round } from "../measure.ts";
import { CONTENDERS, type Comparison, type ContenderName, type ReportRow, type ResultSet } from "../model.ts";

const PEERS: readonly ContenderName[] = CONTENDERS.filter((name) => name !== "headroom");

const ratioOf = (ours: number | null, theirs: number | null): number | null =>
  ours === null || theirs === null || theirs === 0 ? null : round(ours / theirs, 3);

const best = (values: readonly (number | null)[], comparison: Comparison): number | null => {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return null;
  return comparison === ">=" ? Math.max(...known) : Math.min(...known);
};

interface AgainstPeers {
  readonly part: string;
  readonly label: string;
  readonly unit: string;
  /** Our measurements; the worst of them counts. */
  readonly ours: readonly string[];
  /** The peers' measurements; each peer's best counts. */
  readonly peers: readonly string[];
  /** Whether a peer's median round counts, or its best, for peers whose waits depend on luck. Default: median. */
  readonly peerRounds?: "median" | "best";
  readonly comparison: Comparison;
  /** Without a target the row is only informative. */
  readonly target?: number;
  /** Compare ours only with this peer instead of with the best one. */
  readonly only?: ContenderName;
}

export function againstPeers(results: ResultSet, row: AgainstPeers): ReportRow {
  const { comparison } = row;
  const opposite: Comparison = comparison === ">=" ? "<=" : ">=";
  const ours = best(
    row.ours.map((measure) => results.value(measure, "headroom")),
    opposite,
  );
  const values: Partial<Record<ContenderName, number | null>> = { headroom: ours };
  for (const peer of PEERS) {
    const candidates = row.peers.flatMap((measure): readonly (number | null)[] =>
      row.peerRounds === "best" ? results.runs(measure, peer) : [results.value(measure, peer)],
    );
    values[peer] = best(candidates, comparison);
  }
  const yardstick = row.only
    ? (values[row.only] ?? null)
    : best(
        PEERS.map((peer) => values[peer] ?? null),
        comparison,
      );
  return {
    part: row.part,
    label: row.label,
    unit: row.unit,
    values,
    ratio: ratioOf(ours, yardstick),
    ...(row.target === undefined ? {} : { target: { value: row.target, comparison } }),
  };
}

interface AgainstReference {
  readonly part: string;
  readonly label: string;
  readonly unit: string;
  readonly ours: number | null;
  readonly reference: number | null;
  readonly referenceLabel: string;
  readonly comparison: Comparison;
  readonly target?: number;
}

/** Ours against its own speed elsewhere, or against plain SQL. */
export function againstReference(row: AgainstReference): ReportRow {
  return {
    part: row.part,
    label: row.label,
    unit: row.unit,
    values: { headroom: row.ours, reference: row.reference },
    referenceLabel: row.referenceLabel,
    ratio: ratioOf(row.ours, row.reference),
    ...(row.target === undefined ? {} : { target: { value: row.target, comparison: row.comparison } }),
  };
}

interface Plain {
  readonly part: string;
  readonly label: string;
  readonly unit: string;
  readonly values: ReportRow["values"];
  /** The number itself is compared with the target. */
  readonly ratio: number | null;
  readonly comparison: Comparison;
  readonly target?: number;
}

/** A number with a fixed target, independent of the peers: zero violations. */
export function plainRow(row: Plain): ReportRow {
  return {
    part: row.part,
    label: row.label,
    unit: row.unit,
    values: row.values,
    ratio: row.ratio,
    ...(row.target === undefined ? {} : { target: { value: row.target, comparison: row.comparison } }),
  };
}
