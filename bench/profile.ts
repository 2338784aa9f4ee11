/**
 * The three sizes of a run. Rows, keys and slices are the same as in the peers' own measurements, so that the
 * numbers can be put side by side; only repetitions and backlogs shrink in the shorter runs.
 */
import type { Profile } from "./model.ts";

const common = {
  drainRows: 20_000,
  warmUpRows: 4_000,
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
    budgetSeconds: 84,
    minRounds: 1,
    maxRounds: 3,
    slices: 3,
    backlogRows: 60_000,
    wakes: 60,
    loadSeconds: 1,
    pgBossDefaultBoxMs: 1_500,
  },
  default: {
    ...common,
    name: "default",
    budgetSeconds: 455,
    minRounds: 3,
    maxRounds: 5,
    slices: 5,
    backlogRows: 200_000,
    wakes: 200,
    loadSeconds: 3,
    pgBossDefaultBoxMs: 4_000,
  },
  full: {
    ...common,
    name: "full",
    budgetSeconds: 3_600,
    minRounds: 3,
    maxRounds: 5,
    slices: 7,
    backlogRows: 1_000_000,
    wakes: 300,
    loadSeconds: 5,
    pgBossDefaultBoxMs: 4_000,
  },
} as const satisfies Record<string, Profile>;
