/**
 * Provisioning jobs, as a request shows its own. Here and not in the higher layer of jobs: reading a request includes its
 * jobs. The database gives JSON under its own names; here it is checked once and gets ours.
 */
import { z } from "zod";
import type { CapacityRequestActorType, ProvisioningJobStatus } from "../db/generated.gen.ts";

export const jobStates = ["waiting", "queued", "provisioning", "failed", "running", "given_up", "cancelled"] as const;
/** `failed` may be tried again; `running`, `given_up` and `cancelled` are final. */
export type JobState = (typeof jobStates)[number];

/** The states of a job that has not ended. */
export const openJobStates = ["waiting", "queued", "provisioning", "failed"] as const satisfies readonly JobState[];

const jobState = z.enum(jobStates);
const moment = z.coerce.date();
const maybeMoment = moment.nullable();
const maybeText = z.string().nullable();
const maybeNumber = z.number().nullable();

const runSchema = z
  .object({
    task: z.enum(["provision", "cleanup"]),
    attempt: z.number(),
    status: z.enum(["dispatched", "claimed", "succeeded", "failed", "stopped"]),
    cleans: maybeNumber,
    run_id: maybeNumber,
    run_attempt: maybeNumber,
    run_url: maybeText,
    step: maybeText,
    progress: maybeNumber,
    ended_because: maybeText,
    error: maybeText,
    failed_step: maybeText,
    callbacks: z.number(),
    dispatched_at: moment,
    claimed_at: maybeMoment,
    last_heartbeat_at: maybeMoment,
    ended_at: maybeMoment,
    over_at: maybeMoment,
    over_because: maybeText,
    steps: z.array(z.object({ at: moment, step: maybeText, progress: maybeNumber })),
  })
  .transform((row) => ({
    task: row.task,
    /** Attempts of each task are numbered separately. */
    attempt: row.attempt,
    status: row.status,
    /** The number of the attempt to provision that it cleans up after. */
    cleans: row.cleans,
    /** The run that claimed it; a re-run at GitHub keeps the id and has another runAttempt. */
    runId: row.run_id,
    runAttempt: row.run_attempt,
    runUrl: row.run_url,
    step: row.step,
    /** Percent. */
    progress: row.progress,
    endedBecause: row.ended_because,
    error: row.error,
    failedStep: row.failed_step,
    /** How many have come. */
    callbacks: row.callbacks,
    dispatchedAt: row.dispatched_at,
    claimedAt: row.claimed_at,
    lastHeartbeatAt: row.last_heartbeat_at,
    endedAt: row.ended_at,
    /** When its run was known to have ended, which is later than endedAt if it had to be stopped. */
    overAt: row.over_at,
    overBecause: row.over_because,
    steps: row.steps,
  }));
/** One run of a workflow: to provision, or to clean up after an attempt to provision. */
export type JobRun = z.infer<typeof runSchema>;

const jobEventSchema = z
  .object({
    seq: z.number(),
    event: z.string(),
    state_before: z.enum(["new", ...jobStates]),
    state_after: jobState,
    attempt: maybeNumber,
    actor_type: z.custom<CapacityRequestActorType>((value) => typeof value === "string"),
    actor_id: z.string(),
    via: z.string(),
    reason: maybeText,
    created_at: moment,
  })
  .transform((row) => ({
    seq: row.seq,
    event: row.event,
    stateBefore: row.state_before,
    stateAfter: row.state_after,
    attempt: row.attempt,
    actorType: row.actor_type,
    actorId: row.actor_id,
    via: row.via,
    reason: row.reason,
    at: row.created_at,
  }));
/** A line of a job's log. */
export type JobEvent = z.infer<typeof jobEventSchema>;

export const jobSchema = z
  .object({
    id: z.string(),
    request_id: z.string(),
    workspace_id: z.string(),
    status: z.custom<ProvisioningJobStatus>((value) => typeof value === "string"),
    state: jobState,
    version: z.number(),
    region: z.string(),
    attempts: z.number(),
    most_attempts: z.number(),
    cleanup: z.enum(["none", "under_way", "done", "failed"]),
    held_by: z
      .enum(["person", "not_connected", "no_address", "cleanup", "cleanup_failed", "run", "customer", "dispatch"])
      .nullable(),
    has_turn: z.boolean(),
    waits_for: z.array(z.string()),
    gives_up_at: maybeMoment,
    failed_at: maybeMoment,
    completed_at: maybeMoment,
    created_at: moment,
    updated_at: moment,
    runs: z.array(runSchema),
    history: z.array(jobEventSchema),
  })
  .transform((row) => ({
    id: row.id,
    requestId: row.request_id,
    workspaceId: row.workspace_id,
    /** The state as the API reports it, in four words. */
    status: row.status,
    state: row.state,
    version: row.version,
    region: row.region,
    attempts: row.attempts,
    mostAttempts: row.most_attempts,
    /** The state of cleaning up after the last failed attempt. */
    cleanup: row.cleanup,
    /** Why a waiting job has not begun. */
    heldBy: row.held_by,
    /** Whether it has its customer's turn: its run is requested, in progress, or not known to have ended. */
    hasTurn: row.has_turn,
    /** Everything that it waits for, in the words of docs/job-state-machine.md. */
    waitsFor: row.waits_for,
    /** When it fails permanently unless somebody helps. */
    givesUpAt: row.gives_up_at,
    failedAt: row.failed_at,
    completedAt: row.completed_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    /** In the order in which they were requested. */
    runs: row.runs,
    history: row.history,
  }));
/** The job that provides what a confirmed request asks for. */
export type Job = z.infer<typeof jobSchema>;
