/**
 * Verification of jobs: asks the database, batch by batch, whether the log of each job, its runs, their callbacks and its request agree.
 *
 * Owns: the order of the batches. Does not own: the checks, which are in SQL.
 */
import { findingsSchema, type Finding } from "../capacity/verify.ts";
import { call, type Queryable } from "../db/call.ts";

/** One batch. */
export interface VerifiedJobs {
  readonly phase: "jobs";
  /** Findings of this batch. */
  readonly counts: { readonly jobs: number };
  /** How many were checked so far. */
  readonly done: number;
  readonly findings: readonly Finding[];
}

export interface VerifyJobsOptions {
  /** Only this workspace's jobs. */
  readonly workspaceId?: string | undefined;
  /** Default: 2,000. */
  readonly jobsPerBatch?: number | undefined;
}

const defaults = { jobsPerBatch: 2_000 } as const satisfies VerifyJobsOptions;

/** Checks all jobs (I7). A finding does not stop it. */
export async function* verifyJobs(db: Queryable, options: VerifyJobsOptions = {}): AsyncGenerator<VerifiedJobs> {
  let done = 0;
  for (let after: string | null = ""; after !== null;) {
    const batch: Awaited<ReturnType<typeof jobsBatch>> = await jobsBatch(db, after, options);
    done += batch.jobs;
    yield { phase: "jobs", counts: { jobs: batch.jobs }, done, findings: findingsSchema.parse(batch.findings) };
    after = batch.last_id;
  }
}

function jobsBatch(db: Queryable, after: string, options: VerifyJobsOptions) {
  return call(db, "provisioning.verify_jobs", {
    p_after: after,
    p_limit: options.jobsPerBatch ?? defaults.jobsPerBatch,
    p_workspace_id: options.workspaceId,
  });
}
