/**
 * The state of the stand-in's GitHub: the workflow runs that were dispatched.
 *
 * Owns: the runs and their bounds. Does not own: the API (routes.ts) or what happens to a run (user-actions.ts).
 */
import { listOf, type Saveable } from "../core/state-file.ts";
import type { World } from "../core/world.ts";
import { ourWorkflow, type RunPlan } from "./run-plan.ts";
import { type Deferred, deferred } from "../../db/wait/deferred.ts";

export type RunStatus = "queued" | "in_progress" | "completed";
export type Conclusion = "success" | "failure" | "cancelled" | "timed_out";

export interface StepView {
  readonly name: string;
  state: "waits" | "runs" | "done" | "failed" | "skipped";
}

/** What is known about a run that is executed. */
export interface Script {
  plan: RunPlan;
  steps: StepView[];
  /** The output of its processes. Not kept across restarts. */
  log: string[];
}

export interface WorkflowRun {
  readonly id: number;
  readonly runNumber: number;
  readonly owner: string;
  readonly repo: string;
  /** The file's name, e.g. provision.yml. */
  readonly workflow: string;
  readonly ref: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly createdAt: string;
  /** The name that `run-name` built from the inputs. */
  readonly title: string;
  /** A re-run keeps the id and increments this. */
  runAttempt: number;
  updatedAt: string;
  status: RunStatus;
  conclusion: Conclusion | null;
  /** Only for our own workflows. Others are not executed; a person decides how they end. */
  script?: Script;
}

const maxRuns = 5_000;

export class GithubState implements Saveable {
  readonly #world: World;
  runs: WorkflowRun[] = [];
  /** Whether a cancelled run continues until somebody ends it, or cancels it by force. */
  slowToStop = false;
  #ended = new Map<WorkflowRun, Deferred<WorkflowRun>>();

  constructor(world: World) {
    this.#world = world;
  }

  save(): unknown {
    return this.runs.map((run) => (run.script === undefined ? run : { ...run, script: { ...run.script, log: [] } }));
  }

  /** Runs that were executing died with the sandbox; queued runs are still queued. */
  load(saved: unknown): void {
    this.runs = listOf<WorkflowRun>().parse(saved);
    for (const run of this.runs) {
      run.runAttempt ??= 1;
      if (run.script === undefined || run.status !== "in_progress") continue;
      for (const step of run.script.steps) if (step.state !== "done") step.state = "failed";
      run.script.log.push("The runner died with the sandbox.");
      Object.assign(run, { status: "completed", conclusion: "failure", updatedAt: this.now() });
    }
  }

  reset(): void {
    this.runs = [];
    this.slowToStop = false;
    this.#ended.clear();
  }

  /** Resolves when the run has ended. */
  untilEnded(run: WorkflowRun): Promise<WorkflowRun> {
    if (run.status === "completed") return Promise.resolve(run);
    const waiting = this.#ended.get(run) ?? deferred<WorkflowRun>();
    this.#ended.set(run, waiting);
    return waiting.promise;
  }

  /** Call this after each change to a run. */
  changed(run: WorkflowRun): void {
    run.updatedAt = this.now();
    this.#world.changed();
    if (run.status !== "completed") return;
    this.#ended.get(run)?.resolve(run);
    this.#ended.delete(run);
  }

  now(): string {
    // GitHub's times have no fractions.
    return `${new Date(this.#world.now()).toISOString().slice(0, 19)}Z`;
  }

  find(id: number): WorkflowRun | undefined {
    return this.runs.find((run) => run.id === id);
  }

  add(given: Pick<WorkflowRun, "owner" | "repo" | "workflow" | "ref" | "inputs">): WorkflowRun {
    const number = this.#world.ids.number("github-run");
    const at = this.now();
    const name = given.workflow.replace(/\.ya?ml$/, "");
    const run: WorkflowRun = {
      ...given,
      id: 9_000_000_000 + number,
      runNumber: this.#world.ids.number(`github-run:${given.owner}/${given.repo}/${given.workflow}`),
      title: ourWorkflow(given)?.title(given.inputs) ?? [name, ...markOf(given.inputs)].join(" "),
      runAttempt: 1,
      createdAt: at,
      updatedAt: at,
      status: "queued",
      conclusion: null,
    };
    this.runs.push(run);
    if (this.runs.length > maxRuns) this.runs.shift();
    this.#world.changed();
    return run;
  }
}

/** The workflow files that we ship name their runs after the job and the attempt, and mark cleanup runs. */
function markOf({ job_id: id, attempt, task }: Readonly<Record<string, string>>): string[] {
  if (id === undefined) return [];
  return [attempt === undefined ? id : `${id}/${task === "cleanup" ? "cleanup-" : ""}${attempt}`];
}
