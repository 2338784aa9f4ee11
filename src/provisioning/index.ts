/**
 * Provisioning jobs: the workflow runs that provide what a confirmed request asks for, as a table of contents. Every function here is a
 * thin wrapper over one in the database; a refusal comes back as a value (`outcome: "refused"`), a failure is thrown.
 *
 *     import { getJob, retryJob } from "headroom/provisioning";
 *
 *     const retried = await retryJob(client, "CR-2026-000042", { as: "ada", reason: "The quota was raised." });
 *     if (retried.outcome === "refused") console.log(retried.message, retried.hint);
 */
export {
  getJob,
  jobCounts,
  listJobs,
  type FoundJob,
  type JobCount,
  type ListedJob,
  type ListedJobs,
  type ListJobsOptions,
} from "./jobs.ts";
export { cleanJob, completeJob, failJob, retryJob, type JobAction, type JobMoved } from "./act-on-job.ts";

/** What a job is. */
export { jobStates, openJobStates, type Job, type JobEvent, type JobRun, type JobState } from "../capacity/job.ts";

/** Which workflows provide a workspace's capacity, and the secret that their runs sign with. */
export {
  dropPreviousSecret,
  listSettings,
  putCallbackSecret,
  putSettings,
  type ConnectedWorkflows,
  type JobSettings,
  type JobSettingsChanges,
} from "./settings.ts";

/** For your own relay: `createRelay({ …, gauges: [jobGauges] })`. */
export { jobGauges } from "./metrics.ts";

/** The proof that jobs, their runs and their requests agree. */
export { verifyJobs, type VerifiedJobs, type VerifyJobsOptions } from "./verify.ts";
