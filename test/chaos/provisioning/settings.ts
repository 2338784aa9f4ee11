/**
 * The numbers of a seeded run: how many, how often, how likely.
 */
import type { FaultInput } from "../../../src/sandbox/core/faults.ts";
import type { PlanInput } from "../../../src/sandbox/github/run-plan.ts";
import type { Range } from "../kit/random.ts";
import type { RunSettings } from "../kit/run.ts";
import type { Flags } from "../kit/subject.ts";

export interface ProvisioningSettings extends RunSettings {
  readonly customers: number;
  readonly requests: number;
  readonly killEveryMs: Range;
  readonly personEveryMs: Range;
  readonly clockEveryMs: Range;
}

export function provisioningSettings({ seed, minutes }: Pick<Flags, "seed" | "minutes">): ProvisioningSettings {
  return {
    seed,
    faultsMs: minutes * 60_000,
    restMs: 180_000,
    customers: 8,
    requests: Math.min(60, Math.max(12, Math.round(minutes * 12))),
    killEveryMs: [1_500, 5_000],
    personEveryMs: [300, 1_500],
    clockEveryMs: [300, 900],
  };
}

const html = "<!doctype html><title>Please wait</title>";
const spoiled = [
  ...[408, 425, 429, 502, 503, 504].map((status) => ({ kind: "answer", status, text: html }) as const),
  ...[500, 502, 504].map((status) => ({ kind: "answer", status, text: html, accepts: true }) as const),
  { kind: "answer", status: 307, location: "http://127.0.0.1:9/taken" },
  { kind: "answer", text: "" },
  { kind: "answer", text: html, accepts: true },
  { kind: "cutAnswer" },
] as const;

/** The faults of GitHub and of callbacks on their way. Those of one method are drawn in this order. */
export const weather: readonly FaultInput[] = [
  { provider: "github", method: "dispatch", kind: "error500AfterAccept", probability: 0.25 },
  { provider: "github", method: "dispatch", kind: "dropAfterAccept", probability: 0.08 },
  { provider: "github", method: "dispatch", kind: "late", ms: 3_000, probability: 0.05 },
  { provider: "github", method: "dispatch", kind: "error500", probability: 0.1 },
  { provider: "github", method: "dispatch", kind: "refuse", probability: 0.2 },
  { provider: "github", method: "listRuns", kind: "error500", probability: 0.15 },
  { provider: "github", method: "getRun", kind: "error500", probability: 0.15 },
  { provider: "github", method: "cancelRun", kind: "error500AfterAccept", probability: 0.2 },
  // The answers that a proxy may give to any call, in every direction.
  ...[
    "dispatch",
    "listRuns",
    "getRun",
    "cancelRun",
    ...["claim", "heartbeat", "succeeded", "failed"].map((each) => `callback.${each}`),
  ].flatMap((method) => spoiled.map((fault) => ({ ...fault, provider: "github", method, probability: 0.03 }) as const)),
  { provider: "github", method: "callback.claim", kind: "dropAfterAccept", probability: 0.15 },
  { provider: "github", method: "callback.claim", kind: "error500", probability: 0.15 },
  { provider: "github", method: "callback.heartbeat", kind: "error500", probability: 0.3 },
  { provider: "github", method: "callback.succeeded", kind: "error500AfterAccept", probability: 0.3 },
  { provider: "github", method: "callback.failed", kind: "error500AfterAccept", probability: 0.3 },
];

/** How runs go, with weights. */
export const plans: readonly (readonly [PlanInput, number])[] = [
  [{ speed: "instant", outcome: "succeeds", loses: "nothing" }, 6],
  [{ speed: "quick", outcome: "succeeds", loses: "nothing" }, 3],
  [{ speed: "instant", outcome: "fails", loses: "nothing" }, 3],
  [{ speed: "instant", outcome: "crashes", loses: "nothing" }, 2],
  [{ speed: "instant", outcome: "hangs", loses: "nothing" }, 2],
  [{ speed: "instant", outcome: "succeeds", loses: "claims" }, 1],
  [{ speed: "instant", outcome: "succeeds", loses: "results" }, 1],
  [{ speed: "instant", outcome: "succeeds", loses: "everything" }, 1],
];

export const calm: PlanInput = {
  speed: "instant",
  outcome: "succeeds",
  step: 1,
  loses: "nothing",
  slowToStop: false,
  affects: "both",
};
