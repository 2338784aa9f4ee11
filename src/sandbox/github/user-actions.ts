/**
 * What becomes of a workflow's run: it begins, and it ends well or badly. The page and the tests decide it through here.
 */
import { HeadroomError } from "../../db/errors.ts";
import type { World } from "../core/world.ts";
import { finish } from "./routes.ts";
import type { Conclusion, GithubState, WorkflowRun } from "./state.ts";

export class GithubUserActions {
  readonly #world: World;
  readonly #state: GithubState;

  constructor(world: World, state: GithubState) {
    this.#world = world;
    this.#state = state;
  }

  /** Oldest first. */
  runs(): readonly WorkflowRun[] {
    return [...this.#state.runs];
  }

  begin(runId: number): void {
    finish(this.#world, this.#state, this.#open(runId), null);
  }

  finish(runId: number, conclusion: Conclusion): void {
    finish(this.#world, this.#state, this.#open(runId), conclusion);
  }

  /** From now on, whether a run that is cancelled goes on until it is finished here, or cancelled by force. */
  slowToStop(isSlow: boolean): void {
    this.#state.slowToStop = isSlow;
  }

  #open(runId: number): WorkflowRun {
    const run = this.#state.find(runId);
    if (run === undefined) throw refused("not_found", `There is no run ${runId}.`, 404);
    if (run.status === "completed") throw refused("conflict", `Run ${runId} has ended: ${run.conclusion}.`, 409);
    return run;
  }
}

function refused(code: string, message: string, httpStatus: number): HeadroomError {
  return new HeadroomError(code, message, { hint: "Reload to see how the runs stand.", httpStatus });
}
