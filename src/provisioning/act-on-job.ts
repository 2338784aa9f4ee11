/** What people do to a job: ask for another attempt, or record by hand how it ended. The database decides who may do what. */
import { jobSchema, type Job } from "../capacity/job.ts";
import { call, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";

export interface JobAction {
  /** The member who acts, by id or Slack id. */
  readonly as: string;
  /** 1 to 2,000 characters; kept in the log. */
  readonly reason: string;
  /** Refuse with `stale_version` when the job has moved on since it was read. */
  readonly expectedVersion?: number | undefined;
}

/** The job as it is now. */
export type JobMoved = { readonly outcome: "recorded"; readonly job: Job };

/** Asks for another attempt; asking twice asks once. For the requester, operators and admins. */
export function retryJob(db: Queryable, id: string, action: JobAction): Promise<JobMoved | Refused> {
  return refusable(act(db, "public.retry_provisioning_job", id, action));
}

/** Records that the job failed permanently, and its request with it. For operators and admins. */
export function failJob(db: Queryable, id: string, action: JobAction): Promise<JobMoved | Refused> {
  return refusable(act(db, "public.fail_provisioning_job", id, action));
}

/** Records that the capacity is there, for instance because it was bought elsewhere. For operators and admins. */
export function completeJob(db: Queryable, id: string, action: JobAction): Promise<JobMoved | Refused> {
  return refusable(act(db, "public.complete_provisioning_job", id, action));
}

/** Records that a person cleaned up after a failed cleanup. For operators and admins. */
export function cleanJob(db: Queryable, id: string, action: JobAction): Promise<JobMoved | Refused> {
  return refusable(act(db, "public.clean_provisioning_job", id, action));
}

async function act(
  db: Queryable,
  name: `public.${"retry" | "fail" | "complete" | "clean"}_provisioning_job`,
  id: string,
  { as, reason, expectedVersion }: JobAction,
): Promise<JobMoved> {
  const answer = await call(db, name, {
    p_job_id: id,
    p_reason: reason,
    p_actor_id: as,
    p_expected_version: expectedVersion,
  });
  return { outcome: "recorded", job: jobSchema.parse(answer) };
}
