/**
 * The three sizes of a run. Rows, keys and slices are the same as in the peers' own measurements, so that the
 * numbers can be compared directly; only repetitions and backlogs shrink in the shorter runs.
 */
import type { Profile } from "./model.ts";

const common = {
  drainRows: 20_000,
  keys: 1_000,
  sliceRows: 5_000,
  baselineRows: 20_000,
  archiveRows: 10_000_000,
  heldOpenSeconds: 90,
  memoryRows: 1_000_000,
} as const;

export const PROFILES = {
  quick: {
    ...common,
    name: "quick",
    warmUpRows: 2_000,
    budgetSeconds: 86,
    minRounds: 1,
    maxRounds: 3,
    slices: 3,
    backlogRows: 40_000,
    wakes: 50,
    loadSeconds: 1,
    pgBossDefaultBoxMs: 1_500,
    graphileBurstsBoxMs: 1_000,
  },
  default: {
    ...common,
    name: "default",
    warmUpRows: 4_000,
    budgetSeconds: 468,
    minRounds: 3,
    maxRounds: 3,
    slices: 7,
    backlogRows: 200_000,
    wakes: 150,
    loadSeconds: 2,
    pgBossDefaultBoxMs: 4_000,
    graphileBurstsBoxMs: 3_000,
  },
  full: {
    ...common,
    name: "full",
    warmUpRows: 4_000,
    budgetSeconds: 3_600,
    minRounds: 3,
    maxRounds: 5,
    slices: 15,
    backlogRows: 1_000_000,
    wakes: 300,
    loadSeconds: 4,
    pgBossDefaultBoxMs: 4_000,
    graphileBurstsBoxMs: 4_000,
  },
} as const satisfies Record<string, Profile>;
