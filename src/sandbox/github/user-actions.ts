/**
 * What happens to a workflow's run. Runs of our own workflows are executed, and you choose how they go. For other runs you decide by hand
 * when they start and how they end. The page and the tests use this.
 */
import { HeadroomError } from "../../db/errors.ts";
import type { World } from "../core/world.ts";
import { tell } from "./outgoing.ts";
import { begin, finish } from "./run-changes.ts";
import { planInput, type PlanInput, type RunPlan } from "./run-plan.ts";
import type { GithubRunner } from "./runner.ts";
import type { Conclusion, GithubState, WorkflowRun } from "./state.ts";

export class GithubUserActions {
  readonly #world: World;
  readonly #state: GithubState;
  readonly #runner: GithubRunner;

  constructor(world: World, state: GithubState, runner: GithubRunner) {
    this.#world = world;
    this.#state = state;
    this.#runner = runner;
  }

  /** Oldest first. */
  runs(): readonly WorkflowRun[] {
    return [...this.#state.runs];
  }

  run(runId: number): WorkflowRun {
    const run = this.#state.find(runId);
    if (run === undefined) throw refused("not_found", `There is no run ${runId}.`, 404);
    return run;
  }

  /** How the next runs of our workflows go. */
  nextPlan(): RunPlan {
    return this.#runner.plan;
  }

  /** Chooses how the next runs go. Fields that are not given stay unchanged. */
  planNext(choice: PlanInput): void {
    this.#runner.plan = changed(this.#runner.plan, choice);
    this.#world.changed();
  }

  /** Chooses how one run continues; what has already happened in it stays. */
  plan(runId: number, choice: PlanInput): void {
    const { script } = this.#open(runId);
    if (script === undefined) throw refused("conflict", `Run ${runId} is not executed: end it by hand.`, 409);
    script.plan = changed(script.plan, choice);
    this.#world.changed();
  }

  /** Cancels a run, as on GitHub. `force` does not wait for the run to end on its own. */
  cancel(runId: number, { force = false }: { readonly force?: boolean } = {}): void {
    const run = this.#open(runId);
    if (!this.#runner.cancel(run, force)) finish(this.#world, this.#state, run, "cancelled");
  }

  /** Re-runs it, as on GitHub: the run keeps its id and inputs, and gets the next attempt number. */
  rerun(runId: number): void {
    const run = this.run(runId);
    if (run.status !== "completed") throw refused("conflict", `Run ${runId} has not ended.`, 409);
    Object.assign(run, { status: "queued", conclusion: null, runAttempt: run.runAttempt + 1 });
    this.#state.changed(run);
    tell(this.#world, "requested", run);
    this.#runner.add(run);
  }

  /** Resolves when the run has ended. */
  ended(runId: number): Promise<WorkflowRun> {
    return this.#state.untilEnded(this.run(runId));
  }

  begin(runId: number): void {
    begin(this.#world, this.#state, this.#byHand(runId));
  }

  finish(runId: number, conclusion: Conclusion): void {
    finish(this.#world, this.#state, this.#byHand(runId), conclusion);
  }

  #byHand(runId: number): WorkflowRun {
    const run = this.#open(runId);
    if (run.script === undefined) return run;
    throw refused("conflict", `Run ${runId} is executed: choose how it goes, or cancel it.`, 409);
  }

  /** Sets whether cancelled runs continue until they are finished here or cancelled by force. */
  slowToStop(isSlow: boolean): void {
    this.#state.slowToStop = isSlow;
  }

  #open(runId: number): WorkflowRun {
    const run = this.run(runId);
    if (run.status === "completed") throw refused("conflict", `Run ${runId} has ended: ${run.conclusion}.`, 409);
    return run;
  }
}

function changed(plan: RunPlan, choice: PlanInput): RunPlan {
  const { affects, speed, outcome, step, loses, slowToStop } = planInput.parse(choice);
  return {
    affects: affects ?? plan.affects,
    speed: speed ?? plan.speed,
    outcome: outcome ?? plan.outcome,
    step: step ?? plan.step,
    loses: loses ?? plan.loses,
    slowToStop: slowToStop ?? plan.slowToStop,
  };
}

function refused(code: string, message: string, httpStatus: number): HeadroomError {
  return new HeadroomError(code, message, { hint: "Reload to see the state of the runs.", httpStatus });
}
