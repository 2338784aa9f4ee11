/**
 * Scenarios that reveal planted bugs: small ordinary runs, each with one kind of fault in which some bugs show. Each
 * is also run on the unchanged code, and must then find nothing.
 */
import {
  ordinarySettings,
  type ChanceOf,
  type Faults,
  type Load,
  type Settings,
  type TransactionKind,
} from "./settings.ts";

export type ScenarioName = "stopped" | "killed" | "weather" | "producers" | "redrive" | "slow answers";

interface Scenario {
  readonly faultsMs: number;
  readonly faults: Partial<Faults>;
  readonly load?: Partial<Load>;
  readonly leaseSeconds?: number;
  readonly timeoutMs?: number;
}

const quiet: Partial<Faults> = {
  killAt: [],
  stopAt: [],
  trapEveryMs: [50, 150],
  trapHits: [1, 3],
  stoppedMs: [2_500, 2_700],
  accidentEveryMs: null,
  crashEveryMs: null,
  openSnapshotEveryMs: null,
  operatorEveryMs: null,
  stormEveryMs: null,
  auditEveryMs: null,
  clockOff: 0,
  deaf: 0,
};

/** Some answers take long, so that much is in flight at any time and claims are settled piece by piece. */
const slowly: readonly ChanceOf[] = [{ fault: { kind: "late", afterMs: 200 }, probability: 0.6 }];

const noMix: Readonly<Record<TransactionKind, number>> = {
  single: 0,
  many: 0,
  burst: 0,
  "one by one": 0,
  held: 0,
  "held for long": 0,
  "rolled back": 0,
  repeat: 0,
  twins: 0,
  "other payload": 0,
};

const scenarios: Readonly<Record<ScenarioName, Scenario>> = {
  stopped: { faultsMs: 8_000, faults: { stopAt: ["send.after", "settle.before"], weather: slowly } },
  killed: { faultsMs: 6_000, faults: { killAt: ["send.after", "settle.after"], weather: slowly } },
  weather: {
    faultsMs: 5_000,
    faults: {
      weather: [
        { fault: { kind: "late", afterMs: 40 }, probability: 0.4 },
        { fault: { kind: "status", status: 500 }, probability: 0.15 },
        { fault: { kind: "drop" }, probability: 0.1 },
      ],
    },
    load: { runLength: 4 },
  },
  producers: {
    faultsMs: 7_000,
    faults: { weather: slowly },
    load: {
      producers: 10,
      keys: 40,
      heldMs: [1_200, 2_200],
      forgottenMs: [1_200, 2_200],
      mix: { ...noMix, single: 40, many: 10, burst: 5, held: 20, repeat: 15, twins: 10 },
    },
  },
  // Many dead letters in few lanes, redriven a few at a time, so that some return into the middle of a run in flight.
  redrive: {
    faultsMs: 8_000,
    faults: {
      operatorEveryMs: [20, 80],
      operatorShare: 0.25,
      maxFaultsPerRow: 3,
      weather: [
        { fault: { kind: "status", status: 400 }, probability: 0.35 },
        { fault: { kind: "late", afterMs: 60 }, probability: 0.6 },
      ],
    },
    load: { keys: 3, rowsPerSecond: 80, mix: { ...noMix, burst: 60, single: 40 } },
  },
  "slow answers": {
    faultsMs: 5_000,
    leaseSeconds: 5,
    timeoutMs: 2_500,
    faults: { weather: [{ fault: { kind: "late", afterMs: 1_500 }, probability: 0.15 }] },
  },
};

export function scenarioSettings(name: ScenarioName, seed: number, codeDir: string): Settings {
  const scenario = scenarios[name];
  const ordinary = ordinarySettings({ seed, minutes: scenario.faultsMs / 60_000, relays: 3 });
  return {
    ...ordinary,
    codeDir,
    restMs: 8_000,
    leaseSeconds: scenario.leaseSeconds ?? 2,
    relay: {
      ...ordinary.relay,
      timeoutMs: scenario.timeoutMs ?? 600,
      leaseMarginMs: 500,
      reapMs: 200,
      pollMs: 250,
      stopMs: 1_000,
    },
    load: { ...ordinary.load, rowsPerSecond: 150, keys: 60, ...scenario.load },
    faults: { ...ordinary.faults, ...quiet, ...scenario.faults },
    coverage: "none",
  };
}
