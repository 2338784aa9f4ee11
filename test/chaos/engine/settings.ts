/**
 * The parameters of a run: how long, how many relays, which load, which faults how often.
 *
 * Owns: the numbers of the ordinary run. Runs with planted bugs use other numbers and the same machinery.
 */
import { relaySteps, type RelayStep } from "../../../src/outbox/observe/steps.ts";
import type { Fault } from "../../integration/rails/receiver/receiver-faults.ts";
import { ownCodeDir } from "../kit/patch.ts";
import type { Range } from "../kit/random.ts";
import type { RunSettings } from "../kit/run.ts";
import type { Flags } from "../kit/subject.ts";

export interface ChanceOf {
  readonly fault: Fault;
  readonly probability: number;
}

export interface Settings extends RunSettings {
  readonly relays: number;
  /** The folder whose src/ and sql/ are tested. */
  readonly codeDir: string;
  readonly leaseSeconds: number;
  readonly relay: RelayNumbers;
  readonly load: Load;
  readonly faults: Faults;
  /** Whether a relay must have been killed and stopped at every boundary for the run to count. */
  readonly coverage: "every trap" | "every hit" | "none";
}

export interface RelayNumbers {
  readonly timeoutMs: number;
  readonly leaseMarginMs: number;
  readonly reapMs: number;
  readonly pollMs: number;
  readonly stopMs: number;
  readonly concurrency: number;
  readonly maxClaimRows: number;
}

export interface Load {
  readonly rowsPerSecond: number;
  /** Concurrent producers. */
  readonly producers: number;
  /** Above this many undelivered rows producers wait. */
  readonly maxBacklog: number;
  readonly keys: number;
  readonly runLength: number;
  /** Weights of what a producer's transaction does. */
  readonly mix: Readonly<Record<TransactionKind, number>>;
  /** How long a held transaction stays open before its end. */
  readonly heldMs: Range;
  /** And one whose client was forgotten. */
  readonly forgottenMs: Range;
}

export type TransactionKind =
  | "single"
  | "many"
  | "burst"
  | "one by one"
  | "held"
  | "held for long"
  | "rolled back"
  | "repeat"
  | "twins"
  | "other payload";

/** A range is the pause between two of a kind; null switches the kind off. */
export interface Faults {
  /** Step boundaries at which relays are killed, and at which they are stopped: each in turn, in shuffled rounds. */
  readonly killAt: readonly RelayStep[];
  readonly stopAt: readonly RelayStep[];
  readonly trapEveryMs: Range;
  /** How many hits of its step a trap waits for. */
  readonly trapHits: Range;
  readonly stoppedMs: Range;
  readonly accidentEveryMs: Range | null;
  readonly crashEveryMs: Range | null;
  readonly openSnapshotEveryMs: Range | null;
  readonly operatorEveryMs: Range | null;
  /** Probability that the operator deals with a dead letter in one check. */
  readonly operatorShare: number;
  readonly stormEveryMs: Range | null;
  /** How often the invariants are checked while everything runs. */
  readonly auditEveryMs: Range | null;
  readonly weather: readonly ChanceOf[];
  /** After this many faults the receiver accepts a row. */
  readonly maxFaultsPerRow: number;
  /** Probability that a relay starts with a clock that is off by hours; that it starts deaf to NOTIFY. */
  readonly clockOff: number;
  readonly deaf: number;
}

/** The receiver's normal behaviour in a run: often slow, sometimes failing. */
export const ordinaryWeather: readonly ChanceOf[] = [
  { fault: { kind: "late", afterMs: 40 }, probability: 0.25 },
  { fault: { kind: "status", status: 500 }, probability: 0.03 },
  { fault: { kind: "throttle", retryAfter: 1 }, probability: 0.01 },
  { fault: { kind: "hang" }, probability: 0.005 },
  { fault: { kind: "close" }, probability: 0.01 },
  { fault: { kind: "drop" }, probability: 0.015 },
  { fault: { kind: "mid-body" }, probability: 0.01 },
  { fault: { kind: "garbage" }, probability: 0.005 },
  { fault: { kind: "late", afterMs: 1_300 }, probability: 0.005 },
  { fault: { kind: "status", status: 400 }, probability: 0.005 },
];

const ordinaryMix: Readonly<Record<TransactionKind, number>> = {
  single: 30,
  many: 25,
  burst: 12,
  "one by one": 10,
  held: 2,
  "held for long": 0.4,
  "rolled back": 8,
  repeat: 7,
  twins: 4,
  "other payload": 2,
};

export function ordinarySettings(choice: Pick<Flags, "seed" | "minutes" | "relays">): Settings {
  const faultsMs = Math.round(choice.minutes * 60_000);
  return {
    seed: choice.seed,
    faultsMs,
    relays: choice.relays,
    codeDir: ownCodeDir,
    restMs: 90_000,
    leaseSeconds: 3,
    relay: {
      timeoutMs: 1_000,
      leaseMarginMs: 700,
      reapMs: 500,
      pollMs: 300,
      stopMs: 2_000,
      concurrency: 40,
      maxClaimRows: 200,
    },
    load: {
      rowsPerSecond: 120,
      producers: 4,
      maxBacklog: 2_500,
      keys: 400,
      runLength: 10,
      mix: ordinaryMix,
      heldMs: [500, 2_500],
      forgottenMs: [6_000, 15_000],
    },
    faults: {
      killAt: relaySteps,
      stopAt: relaySteps,
      trapEveryMs: [100, 600],
      trapHits: [1, 10],
      stoppedMs: [3_700, 4_700],
      accidentEveryMs: [1_500, 4_000],
      // Half of a short run, so that one crash is sure to fall into it.
      crashEveryMs: faultsMs < 40_000 ? [faultsMs * 0.3, faultsMs * 0.4] : [15_000, 25_000],
      openSnapshotEveryMs: [8_000, 15_000],
      operatorEveryMs: [800, 2_500],
      operatorShare: 0.7,
      stormEveryMs: [6_000, 14_000],
      auditEveryMs: faultsMs < 40_000 ? [faultsMs * 0.6, faultsMs * 0.7] : [15_000, 30_000],
      weather: ordinaryWeather,
      maxFaultsPerRow: 3,
      clockOff: 0.35,
      deaf: 0.25,
    },
    // A full round of stops alone takes most of a minute, and needs another relay to do the work meanwhile.
    coverage: faultsMs >= 60_000 && choice.relays >= 3 ? "every trap" : "every hit",
  };
}
