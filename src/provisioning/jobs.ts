/** Reading jobs: one with all its details, a list of them, and how many are open. */
import { jobSchema, type Job, type JobState } from "../capacity/job.ts";
import { call, type FunctionResult, type Queryable } from "../db/call.ts";
import type { ProvisioningJobStatus } from "../db/generated.gen.ts";
import { refusable, type Refused } from "../db/refusal.ts";

export type FoundJob = { readonly outcome: "found"; readonly job: Job };

/** By its own id, or by its request's. */
export async function getJob(db: Queryable, id: string): Promise<FoundJob | Refused> {
  return refusable(get(db, id));
}

async function get(db: Queryable, id: string): Promise<FoundJob> {
  return { outcome: "found", job: jobSchema.parse(await call(db, "public.get_provisioning_job", { p_job_id: id })) };
}

export interface ListJobsOptions {
  /** Default: all. */
  readonly workspaceId?: string | undefined;
  /** Default: all. */
  readonly states?: readonly JobState[] | undefined;
  /** Default: 50. At most 10,000. */
  readonly limit?: number | undefined;
}

/** A job with the status of its last attempt. */
export interface ListedJob {
  readonly id: string;
  readonly requestId: string;
  readonly workspaceId: string;
  readonly status: ProvisioningJobStatus;
  readonly state: string;
  readonly attempts: number;
  readonly mostAttempts: number;
  readonly cleanup: string;
  readonly heldBy: string | null;
  readonly runId: number | null;
  readonly step: string | null;
  readonly progress: number | null;
  readonly error: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type ListedJobs = { readonly outcome: "listed"; readonly jobs: readonly ListedJob[] };

/** Newest first. */
export async function listJobs(db: Queryable, options: ListJobsOptions = {}): Promise<ListedJobs | Refused> {
  return refusable(list(db, options));
}

async function list(db: Queryable, { workspaceId, states, limit }: ListJobsOptions): Promise<ListedJobs> {
  const rows = await call(db, "provisioning.list_jobs", {
    p_workspace_id: workspaceId,
    p_states: states,
    p_limit: limit,
  });
  return { outcome: "listed", jobs: rows.map(toListed) };
}

function toListed(row: FunctionResult<"provisioning.list_jobs">[number]): ListedJob {
  return {
    id: row.id,
    requestId: row.request_id,
    workspaceId: row.workspace_id,
    status: row.status,
    state: row.state,
    attempts: row.attempts,
    mostAttempts: row.most_attempts,
    cleanup: row.cleanup,
    heldBy: row.held_by,
    runId: row.run_id,
    step: row.step,
    progress: row.progress,
    error: row.error,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/**
 * How many jobs there are in an open state, with a cleanup that failed (`cleanup_failed`), or with a run that GitHub could not be asked for yet
 * (`not_dispatched`), and how long the oldest has been.
 */
export interface JobCount {
  readonly state: string;
  readonly jobs: number;
  readonly oldestSeconds: number;
}

export async function jobCounts(db: Queryable): Promise<readonly JobCount[]> {
  const rows = await call(db, "provisioning.job_counts", {});
  return rows.map((row) => ({ state: row.state, jobs: row.jobs, oldestSeconds: row.oldest_seconds }));
}
