/** Folds the rounds of each measurement into its median, and provides them to the parts. */
import { median, round } from "./measure.ts";
import type { Measurement, Result, ResultSet } from "./model.ts";

type Details = Record<string, number | string | boolean>;

/** Faults add up over the rounds; everything else is reported as last seen. */
const SUMMED_DETAILS = new Set(["violations"]);

function foldDetails(rounds: readonly Measurement[]): Details | undefined {
  const folded: Details = {};
  for (const { details } of rounds) {
    for (const [name, value] of Object.entries(details ?? {})) {
      const before = folded[name];
      const sums = SUMMED_DETAILS.has(name) && typeof value === "number" && typeof before === "number";
      folded[name] = sums ? before + value : value;
    }
  }
  return Object.keys(folded).length > 0 ? folded : undefined;
}

function fold(rounds: readonly Measurement[]): Result | null {
  const last = rounds.at(-1);
  if (!last) return null;
  const runs = rounds.map((measurement) => measurement.value);
  const details = foldDetails(rounds);
  return { ...last, value: round(median(runs), 3), runs, ...(details ? { details } : {}) };
}

export function foldResults(measurements: ReadonlyMap<string, readonly Measurement[]>): ResultSet {
  const results = [...measurements.values()].map(fold).filter((result) => result !== null);
  const find = (measure: string, who: string) => results.find((r) => r.measure === measure && r.who === who);
  return {
    value: (measure, who) => find(measure, who)?.value ?? null,
    runs: (measure, who) => find(measure, who)?.runs ?? [],
    detail(measure, who, name) {
      const value = find(measure, who)?.details?.[name];
      return typeof value === "number" ? value : null;
    },
    all: () => results,
  };
}
