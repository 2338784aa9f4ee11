/**
 * GitHub's runners: they take the runs of our workflows in turn, a few at a time, and those of one job one after the other.
 *
 * Owns: the queue, and that nothing is left when the sandbox ends, even by kill -9. Does not own: what happens in a run (job.ts).
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCleanupProcess, type CleanupProcess } from "../../db/embedded/cleanup-process.ts";
import type { World } from "../core/world.ts";
import { Job, type RunOptions } from "./job.ts";
import { finish } from "./run-changes.ts";
import { defaultPlan, ourWorkflow, planFor, type RunPlan } from "./run-plan.ts";
import type { GithubState, WorkflowRun } from "./state.ts";

export type { RunOptions };

/** Each has up to four processes. */
const maxJobs = 8;

export class GithubRunner {
  readonly #world: World;
  readonly #state: GithubState;
  readonly #options: RunOptions;
  /** How the next runs go. */
  plan: RunPlan = defaultPlan;
  #waiting: WorkflowRun[] = [];
  #jobs = new Set<Job>();
  #underWay = new Set<Promise<void>>();
  #place: { readonly folder: string; readonly cleanup: CleanupProcess } | undefined;
  #folders = 0;
  #isClosed = false;

  constructor(world: World, state: GithubState, options: RunOptions) {
    this.#world = world;
    this.#state = state;
    this.#options = options;
  }

  /** Takes a run that was dispatched or re-run, if it is one of ours. */
  add(run: WorkflowRun): void {
    if (ourWorkflow(run) === undefined) return;
    run.script = { plan: run.script?.plan ?? planFor(this.plan, run), steps: [], log: [] };
    this.#makeRoom(run);
    this.#waiting.push(run);
    this.#advance();
  }

  /** Resumes the runs that were still queued when the sandbox was closed. */
  resume(): void {
    for (const run of this.#state.runs)
      if (run.script !== undefined && run.status === "queued") this.#waiting.push(run);
    this.#advance();
  }

  /** False if it is not one of our runs. */
  cancel(run: WorkflowRun, force: boolean): boolean {
    if (run.script === undefined) return false;
    const job = [...this.#jobs].find((each) => each.run === run);
    if (job !== undefined) {
      if (force) job.force();
      else job.cancel();
    } else {
      this.#waiting = this.#waiting.filter((each) => each !== run);
      finish(this.#world, this.#state, run, "cancelled");
    }
    return true;
  }

  reset(): void {
    this.plan = defaultPlan;
    this.#waiting = [];
    for (const job of this.#jobs) job.abandon();
    this.#jobs.clear();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.reset();
    await Promise.all(this.#underWay);
    await this.#place?.cleanup.finish();
  }

  /** In GitHub's groups one run may wait for another. The waiting run is cancelled when a third one comes. */
  #makeRoom(run: WorkflowRun): void {
    const waiting = this.#waiting.filter((each) => groupOf(each) === groupOf(run));
    const replaced = waiting.at(-1);
    if (replaced !== undefined && (this.#isBusy(run) || waiting.length > 1)) this.cancel(replaced, false);
  }

  #isBusy(run: WorkflowRun): boolean {
    return [...this.#jobs].some((job) => groupOf(job.run) === groupOf(run));
  }

  #advance(): void {
    for (const run of this.#waiting) {
      if (this.#isClosed || this.#jobs.size >= maxJobs) return;
      if (this.#isBusy(run)) continue;
      this.#waiting = this.#waiting.filter((each) => each !== run);
      this.#start(run);
    }
  }

  #start(run: WorkflowRun): void {
    const workflow = ourWorkflow(run);
    const { script } = run;
    if (workflow === undefined || script === undefined) return;
    const { folder } = (this.#place ??= openPlace());
    this.#folders += 1;
    const job = new Job({
      world: this.#world,
      state: this.#state,
      run,
      script,
      workflow,
      folder: join(folder, String(this.#folders)),
      options: this.#options,
    });
    this.#jobs.add(job);
    const done = job.work().finally(() => {
      this.#underWay.delete(done);
      this.#jobs.delete(job);
      this.#advance();
    });
    this.#underWay.add(done);
  }
}

/** `concurrency.group` of the workflow files. */
function groupOf(run: WorkflowRun): string {
  return `${run.owner}/${run.repo}/${run.inputs["job_id"]}`;
}

/** The folder is removed however the sandbox ends; the processes that check for it exit then. */
function openPlace(): { readonly folder: string; readonly cleanup: CleanupProcess } {
  const folder = mkdtempSync(join(tmpdir(), "headroom-runs-"));
  return { folder, cleanup: startCleanupProcess(folder, folder) };
}
