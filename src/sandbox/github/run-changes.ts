/**
 * All changes to a run's state, in one place, so that every change is sent as a webhook.
 */
import type { World } from "../core/world.ts";
import { tell } from "./outgoing.ts";
import type { Conclusion, GithubState, WorkflowRun } from "./state.ts";

export function begin(world: World, state: GithubState, run: WorkflowRun): void {
  change(world, state, run, null);
}

export function finish(world: World, state: GithubState, run: WorkflowRun, conclusion: Conclusion): void {
  change(world, state, run, conclusion);
}

function change(world: World, state: GithubState, run: WorkflowRun, conclusion: Conclusion | null): void {
  run.status = conclusion === null ? "in_progress" : "completed";
  run.conclusion = conclusion;
  state.changed(run);
  tell(world, conclusion === null ? "in_progress" : "completed", run);
}
