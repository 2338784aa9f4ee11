/**
 * One run of one of our workflows, from the queue to its end: the steps of deploy/github/provision.yml or cleanup.yml, in order, with the
 * chosen faults.
 *
 * Owns: the order of commands, what a cancellation does, and how the run ends. Does not own: the queue, or the processes.
 */
import { pause } from "../../db/wait/pause.ts";
import type { World } from "../core/world.ts";
import { callbackUrl } from "./callbacks.ts";
import { JobProcesses } from "./job-processes.ts";
import { begin, finish } from "./run-changes.ts";
import { goesWrong, paces, workOf, type OurWorkflow, type Pace, type WorkStep } from "./run-plan.ts";
import type { Conclusion, GithubState, Script, WorkflowRun } from "./state.ts";

export const claimStep = "Claim the job";
export const reportStep = "Report the result";
/** Longer than any run is allowed to last. */
const longMs = 3_600_000;
const maxLogLines = 200;
const maxLineChars = 500;

export interface JobOptions {
  readonly world: World;
  readonly state: GithubState;
  readonly run: WorkflowRun;
  readonly script: Script;
  readonly workflow: OurWorkflow;
  readonly folder: string;
  readonly options: RunOptions;
}

/** The same for all runs. */
export interface RunOptions {
  /** A factor on all durations. */
  readonly timeScale: number;
  /** The shortest wait of the script before it retries a call. */
  readonly minRetryMs: number;
  readonly script: string;
  readonly variables: Readonly<Record<string, string>>;
}

export class Job {
  readonly run: WorkflowRun;
  readonly #world: World;
  readonly #state: GithubState;
  readonly #script: Script;
  readonly #workflow: OurWorkflow;
  readonly #options: RunOptions;
  readonly #processes: JobProcesses;
  readonly #cancelled = new AbortController();
  /** Aborts every wait, and ends all processes. */
  readonly #forced = new AbortController();
  #stopping: Promise<void> = Promise.resolve();
  #isReporting = false;
  #isDead = false;
  #isAbandoned = false;

  constructor({ world, state, run, script, workflow, folder, options }: JobOptions) {
    this.run = run;
    this.#world = world;
    this.#state = state;
    this.#script = script;
    this.#workflow = workflow;
    this.#options = options;
    this.#processes = new JobProcesses({
      script: options.script,
      folder,
      env: this.#variables(),
      onLine: (line) => this.#log(line),
    });
  }

  /** Resolves when the run has ended and has left nothing behind. */
  async work(): Promise<void> {
    await pause(this.#usual("queuedMs"), this.#cancelled.signal);
    if (this.#cancelled.signal.aborted) return this.#end("cancelled");
    begin(this.#world, this.#state, this.run);
    const conclusion = await this.#steps().catch((error: unknown): Conclusion => {
      this.#log(`The runner failed: ${error instanceof Error ? error.message : "for no known reason"}`);
      return "failure";
    });
    await this.#processes.close();
    this.#end(conclusion);
  }

  /** Like GitHub: the running process is asked to end, then killed; the last step still reports. */
  cancel(): void {
    if (this.#cancelled.signal.aborted) return;
    this.#cancelled.abort();
    this.#stopping = this.#stop();
  }

  /** Ends it immediately, in any state. */
  force(): void {
    this.#cancelled.abort();
    this.#forced.abort();
    this.#processes.kill();
  }

  /** Ends it immediately without a webhook: the sandbox forgets it, or closes. */
  abandon(): void {
    this.#isAbandoned = true;
    this.force();
  }

  async #steps(): Promise<Conclusion> {
    await this.#processes.open();
    const work = workOf(this.#workflow, this.#script.plan);
    this.#script.steps = [claimStep, ...work.map(({ name }) => name), reportStep].map((name) => ({
      name,
      state: "waits",
    }));
    let isWell = await this.#step(claimStep, () => this.#processes.call(["start"]));
    for (const step of work) isWell = isWell && (await this.#step(step.name, () => this.#workStep(step)));
    if (this.#isDead) await pause(this.#usual("noticeMs"), this.#forced.signal);
    await this.#stopping;
    if (this.#forced.signal.aborted) return "cancelled";
    if (this.#isDead) return "failure";
    const status = this.#cancelled.signal.aborted ? "cancelled" : isWell ? "success" : "failure";
    this.#isReporting = true;
    const isReported = await this.#step(reportStep, () => this.#processes.finish(status));
    // If somebody cancels while the result is being reported, they see a cancelled run, although it reported success.
    if (this.#cancelled.signal.aborted) return "cancelled";
    return status === "success" && !isReported ? "failure" : status;
  }

  async #step(name: string, action: () => Promise<boolean>): Promise<boolean> {
    const step = this.#script.steps.find((each) => each.name === name);
    if (step === undefined || (this.#cancelled.signal.aborted && name !== reportStep)) return false;
    step.state = "runs";
    this.#world.changed();
    const isWell = await action();
    step.state = isWell ? "done" : "failed";
    this.#world.changed();
    return isWell;
  }

  async #workStep(step: WorkStep): Promise<boolean> {
    if (!(await this.#processes.call(["step", step.name, String(step.percent)]))) return false;
    const { plan } = this.#script;
    const trouble = goesWrong(this.#workflow, plan, step) ? plan.outcome : "succeeds";
    if (trouble === "crashes") return this.#crash();
    if (trouble === "hangs") {
      this.#processes.killHeartbeats();
      return this.#processes.work(0, "never");
    }
    return this.#processes.work(this.#usual("stepMs"), trouble === "fails" ? "badly" : "well");
  }

  /** Kills everything in the middle of the step. */
  async #crash(): Promise<boolean> {
    const working = this.#processes.work(longMs, "well");
    await pause(this.#usual("stepMs") / 2, this.#cancelled.signal);
    if (!this.#cancelled.signal.aborted) {
      this.#isDead = true;
      this.#processes.kill();
    }
    return working;
  }

  async #stop(): Promise<void> {
    const { slowToStop } = this.#script.plan;
    if (slowToStop) await pause(this.#usual("slowStopMs"), this.#forced.signal);
    // GitHub does not interrupt a step with `if: always()`.
    if (this.#isReporting) return;
    this.#processes.signal("SIGTERM");
    await pause(this.#usual("graceMs"), this.#forced.signal);
    if (!this.#isReporting) this.#processes.signal("SIGKILL");
  }

  #end(conclusion: Conclusion): void {
    for (const step of this.#script.steps) if (step.state === "waits") step.state = "skipped";
    if (!this.#isAbandoned) finish(this.#world, this.#state, this.run, conclusion);
  }

  #usual(wait: keyof Pace): number {
    return paces[this.#script.plan.speed][wait] * this.#options.timeScale;
  }

  #log(line: string): void {
    if (this.#script.log.length < maxLogLines) this.#script.log.push(line.slice(0, maxLineChars));
    this.#world.changed();
  }

  /** The variables that GitHub sets, and those that the workflow file derives from inputs and secrets. */
  #variables(): Record<string, string> {
    const { run } = this;
    return {
      CI: "true",
      GITHUB_ACTIONS: "true",
      GITHUB_REPOSITORY: `${run.owner}/${run.repo}`,
      GITHUB_WORKFLOW: run.workflow,
      GITHUB_REF: run.ref,
      GITHUB_RUN_ID: String(run.id),
      GITHUB_RUN_ATTEMPT: String(run.runAttempt),
      GITHUB_RUN_NUMBER: String(run.runNumber),
      HEADROOM_JOB_ID: run.inputs["job_id"] ?? "",
      HEADROOM_ATTEMPT: run.inputs["attempt"] ?? "",
      HEADROOM_TASK: run.inputs["task"] ?? "",
      HEADROOM_WORKSPACE: run.inputs["workspace"] ?? "",
      HEADROOM_CALLBACK_URL: callbackUrl(this.#world, run),
      HEADROOM_CALLBACK_SECRET: this.#world.secrets.provisioningCallbackSecret ?? "",
      HEADROOM_RETRY_MS: String(Math.max(this.#usual("retryMs"), this.#options.minRetryMs)),
      ...this.#options.variables,
    };
  }
}
