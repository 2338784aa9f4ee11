/**
 * The plan for a run of one of our workflows: how fast it is, and what goes wrong in it.
 *
 * Owns: what can be chosen, the pace of each speed, and the steps, which are those of deploy/github/. Does not own: running them.
 */
import { z } from "zod";

export const speeds = ["instant", "quick", "normal", "slow"] as const;
export const outcomes = [
  "succeeds",
  "fails",
  /** No heartbeats and no end until it is cancelled. */
  "hangs",
  /** Its machine dies: all processes are killed, and GitHub notices a while later. */
  "crashes",
] as const;
/** Callbacks that never reach Headroom. */
export const losses = ["nothing", "everything", "results", "claims"] as const;

/** Which runs go as planned; the others just succeed. */
export const affected = ["both", "provision", "cleanup"] as const;

export const planInput = z.strictObject({
  affects: z.enum(affected).optional(),
  speed: z.enum(speeds).optional(),
  outcome: z.enum(outcomes).optional(),
  /** Which step of the work fails, hangs or crashes; the last one if there are fewer. */
  step: z.int().min(1).max(9).optional(),
  loses: z.enum(losses).optional(),
  /** A cancelled run continues for a while; a forced cancellation ends it immediately. */
  slowToStop: z.boolean().optional(),
});
export type PlanInput = z.infer<typeof planInput>;
export type RunPlan = { readonly [Name in keyof PlanInput]-?: NonNullable<PlanInput[Name]> };

export const defaultPlan: RunPlan = {
  affects: "both",
  speed: "quick",
  outcome: "succeeds",
  step: 2,
  loses: "nothing",
  slowToStop: false,
};

/** The plan as it applies to a run of this workflow. */
export function planFor(plan: RunPlan, { workflow, inputs }: Dispatched): RunPlan {
  const task = inputs["task"] ?? (workflow === "cleanup.yml" ? "cleanup" : "provision");
  return plan.affects === "both" || plan.affects === task ? plan : { ...defaultPlan, speed: plan.speed };
}

export interface Pace {
  /** Until a machine is found. */
  readonly queuedMs: number;
  readonly stepMs: number;
  /** Between asking a process to end and killing it. */
  readonly graceMs: number;
  readonly slowStopMs: number;
  /** Until GitHub notices that a machine has died. */
  readonly noticeMs: number;
  /** How long the script waits before it retries a call. */
  readonly retryMs: number;
}

export const paces: Readonly<Record<RunPlan["speed"], Pace>> = {
  instant: { queuedMs: 0, stepMs: 0, graceMs: 200, slowStopMs: 1_000, noticeMs: 0, retryMs: 20 },
  quick: { queuedMs: 700, stepMs: 2_500, graceMs: 500, slowStopMs: 10_000, noticeMs: 3_000, retryMs: 200 },
  normal: { queuedMs: 3_000, stepMs: 10_000, graceMs: 2_000, slowStopMs: 30_000, noticeMs: 15_000, retryMs: 1_000 },
  slow: { queuedMs: 10_000, stepMs: 60_000, graceMs: 7_500, slowStopMs: 120_000, noticeMs: 60_000, retryMs: 1_000 },
};

export interface WorkStep {
  readonly name: string;
  readonly percent: number;
}

/** What was dispatched: a file's name below .github/workflows, and its inputs. */
export interface Dispatched {
  readonly workflow: string;
  readonly inputs: Readonly<Record<string, string>>;
}

export interface OurWorkflow {
  /** The name that its `run-name` builds from the inputs. */
  readonly title: (inputs: Dispatched["inputs"]) => string;
  readonly work: readonly WorkStep[];
}

/** The files of deploy/github, by name. A test compares them. */
export const ourWorkflows: ReadonlyMap<string, OurWorkflow> = new Map([
  [
    "provision.yml",
    {
      title: ({ job_id: id, attempt }) => `Provision ${id}/${attempt}`,
      work: [
        { name: "Reserve the capacity", percent: 10 },
        { name: "Create the machines", percent: 40 },
        { name: "Check that they answer", percent: 80 },
      ],
    },
  ],
  [
    "cleanup.yml",
    {
      title: ({ job_id: id, attempt }) => `Clean up ${id}/cleanup-${attempt}`,
      work: [
        { name: "Remove the machines", percent: 10 },
        { name: "Release the capacity", percent: 70 },
      ],
    },
  ],
]);

const inputNames = ["job_id", "attempt", "task", "workspace", "callback_url"] as const;

/** A file of the same name with other inputs is not ours. */
export function ourWorkflow({ workflow, inputs }: Dispatched): OurWorkflow | undefined {
  return inputNames.every((name) => inputs[name] !== undefined) ? ourWorkflows.get(workflow) : undefined;
}

/** The steps that are run. An instant run does only what should go wrong. */
export function workOf(workflow: OurWorkflow, plan: RunPlan): readonly WorkStep[] {
  if (plan.speed !== "instant") return workflow.work;
  return workflow.work.filter((step) => goesWrong(workflow, plan, step));
}

export function goesWrong(workflow: OurWorkflow, plan: RunPlan, step: WorkStep): boolean {
  return plan.outcome !== "succeeds" && workflow.work.indexOf(step) === Math.min(plan.step, workflow.work.length) - 1;
}
