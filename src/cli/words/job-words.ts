/** A provisioning job in words, and what to do about it next: for `headroom jobs` and for the request that it belongs to. */
import type { Job, JobRun, JobState } from "../../capacity/index.ts";

export const stateWords: Readonly<Record<JobState, string>> = {
  waiting: "waiting for its turn",
  queued: "waiting for its run to begin",
  provisioning: "being provisioned",
  failed: "waiting for somebody to try again",
  running: "running",
  given_up: "failed for good",
  cancelled: "cancelled",
};

const heldWords: Readonly<Record<NonNullable<Job["heldBy"]>, string>> = {
  person: "It was confirmed before there were jobs, and somebody may be providing it by hand.",
  not_connected: "No workflow is connected.",
  no_address: "Runs could not report back: the workspace has no public address.",
  cleanup: "The next attempt begins when the cleanup after the last one is done.",
  cleanup_failed: "The cleanup after the last attempt failed: no attempt begins while something may be left running.",
  run: "The next attempt begins when the run of the last one is known to have ended.",
  dispatch: "GitHub could not be asked for the run yet.",
  customer: "Another request of this customer is being provisioned; this one begins when that one has ended.",
};

/** Why a waiting job has not begun. */
export function whyHeld({ state, heldBy }: Pick<Job, "state" | "heldBy">): string | null {
  if (heldBy !== null) return heldWords[heldBy];
  return state === "waiting" ? "It begins within a minute." : null;
}

/** The progress of its last attempt, such as `Apply, 40 %`. */
export function stepOf({ step, progress }: Pick<JobRun, "step" | "progress">): string | null {
  const parts = [step, progress === null ? null : `${progress} %`].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join(", ");
}

/** `attempt 2 of 3`, or that there was none yet. */
export function attemptOf({ attempts, mostAttempts }: Pick<Job, "attempts" | "mostAttempts">): string {
  return attempts === 0 ? "no attempt yet" : `attempt ${attempts} of ${mostAttempts}`;
}

const over: readonly string[] = ["running", "given_up", "cancelled"] satisfies JobState[];

/** Whether nothing more happens to it automatically, and it waits for nothing. */
export function isOver({ state, cleanup }: { readonly state: string; readonly cleanup: string }): boolean {
  return over.includes(state) && cleanup !== "under_way";
}

/** Whether it continues only when a person acts. */
export function needsPerson({ state, heldBy }: { readonly state: string; readonly heldBy: string | null }): boolean {
  return (
    state === "failed" || ["person", "not_connected", "no_address", "cleanup_failed", "dispatch"].includes(heldBy ?? "")
  );
}

/** The command for the next step; null if there is nothing to do. */
export function nextCommand(job: {
  readonly requestId: string;
  readonly workspaceId: string;
  readonly state: string;
  readonly cleanup: string;
  readonly heldBy: string | null;
}): string | null {
  const { requestId: id, workspaceId } = job;
  if (job.heldBy === "not_connected") return `headroom jobs connect --workspace ${workspaceId} --repo <owner/name>`;
  if (job.heldBy === "no_address") return `headroom jobs connect --workspace ${workspaceId} --callback-url <address>`;
  if (job.heldBy === "person") return `headroom jobs retry ${id} --as <member> --reason "…"   (or fail, complete)`;
  if (job.heldBy === "dispatch") return "headroom doctor   (and headroom outbox status)";
  if (job.heldBy === "customer") return `headroom jobs list --open --workspace ${workspaceId}`;
  // Nobody tries again before that.
  if (job.cleanup === "failed")
    return `headroom jobs cleaned ${id} --as <member> --reason "…"   (once nothing is left)`;
  if (job.state === "failed") return `headroom jobs retry ${id} --as <member> --reason "…"   (or fail, complete)`;
  return isOver(job) ? null : `headroom jobs logs --follow ${id}`;
}
