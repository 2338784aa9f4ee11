/**
 * A sandbox whose GitHub runs the workflow script, and a receiver of its callbacks.
 */
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { SandboxOptions } from "../../../../src/sandbox/sandbox.ts";
import type { PlanInput } from "../../../../src/sandbox/github/run-plan.ts";
import { secrets, setStage, type Stage } from "../harness.ts";
import { startReceiver, type CallbackReceiver } from "./callback-receiver.ts";

export interface RunStage extends Stage {
  readonly receiver: CallbackReceiver;
  /** Dispatches a workflow over the API, and returns the run's id. */
  dispatch(choice?: {
    readonly job?: string;
    readonly task?: "provision" | "cleanup";
    readonly attempt?: number;
  }): Promise<number>;
}

/** Where the caller says that a run reports, which must be ignored. */
export const saidAddress = "https://mallory.example/";

export async function setRunStage(
  plan: PlanInput = {},
  options: Partial<SandboxOptions> = {},
  callbackPath = "",
): Promise<RunStage> {
  const receiver = await startReceiver();
  const stage = await setStage({
    secrets: {
      ...secrets,
      provisioningCallbackSecret: receiver.secret,
      provisioningCallbackUrl: new URL(callbackPath, receiver.url).href,
    },
    // Seconds are for people to watch.
    runTimeScale: 0.01,
    ...options,
  });
  const { sandbox } = stage;
  sandbox.github.planNext(plan);
  return {
    ...stage,
    receiver,
    async dispatch({ job = randomUUID(), task = "provision", attempt = 1 } = {}) {
      const path = `/github/repos/acme/infra/actions/workflows/${task}.yml/dispatches`;
      const inputs = { job_id: job, attempt, task, workspace: "default", callback_url: saidAddress };
      const response = await fetch(`${sandbox.url}${path}`, {
        method: "POST",
        headers: { authorization: "Bearer ghp_sandbox", "content-type": "application/json" },
        body: JSON.stringify({ ref: "main", inputs, return_run_details: true }),
      });
      return ((await response.json()) as { workflow_run_id: number }).workflow_run_id;
    },
    async [Symbol.asyncDispose]() {
      await stage[Symbol.asyncDispose]();
      await receiver.close();
    },
  };
}

export function cancelOverApi(
  stage: RunStage,
  runId: number,
  how: "cancel" | "force-cancel" = "cancel",
): Promise<Response> {
  return fetch(`${stage.sandbox.url}/github/repos/acme/infra/actions/runs/${runId}/${how}`, {
    method: "POST",
    headers: { authorization: "Bearer ghp_sandbox" },
  });
}

export interface RunProcess {
  readonly pid: number;
  /** RUNNER_TEMP, which belongs to the run. */
  readonly folder: string;
}

/** The processes with the job in their environment. */
export function processesOf(job: string): RunProcess[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const variables = environmentOf(pid);
      const folder = variables.find((each) => each.startsWith("RUNNER_TEMP="))?.slice("RUNNER_TEMP=".length) ?? "";
      return variables.includes(`HEADROOM_JOB_ID=${job}`) ? [{ pid: Number(pid), folder }] : [];
    });
}

function environmentOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    // It has ended since.
    return [];
  }
}
