/**
 * Drives provisioning in tests: a connected workspace, jobs, and callbacks signed as the workflow script signs them.
 *
 * Does not own: what is asserted, nor the requests behind the jobs (capacity/harness.ts).
 */
import { createHmac, randomUUID } from "node:crypto";
import { beforeAll } from "vitest";
import type { EmbeddedVersion } from "../../../src/db/embedded.ts";
import { startSurfaces, type Surfaces } from "../capacity/surfaces.ts";
import { oneOf, rowsOf } from "../capacity/harness.ts";

export const callbackSecret = "a secret that runs of Acme sign their callbacks with";
export const secretKey = "a key of thirty-two bytes or more for tests";

export interface Job {
  readonly id: string;
  readonly request_id: string;
  readonly state: string;
  readonly status: string;
  readonly version: number;
  readonly attempts: number;
  readonly cleanup: string;
}

/** What a run reports; the rest of the callback is filled in. */
export interface Said {
  readonly signal: "claim" | "heartbeat" | "succeeded" | "failed";
  readonly task?: "provision" | "cleanup";
  readonly attempt?: number;
  readonly run_id?: number;
  readonly run_attempt?: number;
  readonly [field: string]: unknown;
}

export interface Heard {
  readonly status?: number;
  readonly code?: string;
  readonly go_on: boolean;
  readonly outcome?: string;
  readonly why?: string;
  readonly message?: string;
  readonly details?: string;
  readonly job?: Readonly<Record<string, unknown>>;
}

export interface SendOptions {
  readonly secret?: string;
  /** How many seconds the sender's clock is off. */
  readonly late?: number;
  readonly signature?: string;
  /** GitHub has not said yet which run it started. */
  readonly undispatched?: boolean;
  /** The body as it is sent, instead of the callback as JSON. */
  readonly body?: string;
}

/** A call to GitHub, by the end of its mark (`1`, `cleanup-2`), and what it does. */
export interface CallOf {
  readonly of: string;
  readonly what: "dispatch" | "stop";
}

export interface Provisioning extends Surfaces {
  /** A confirmed request, and its job. */
  confirmed(customer?: unknown): Promise<Job>;
  job(requestId: string): Promise<Job>;
  /** GitHub answers an attempt's dispatch with this run, if it has not answered yet. */
  dispatched(job: Job, run: Pick<Said, "task" | "attempt" | "run_id">): Promise<void>;
  /** Sends a callback as the dispatched run would, through the function that PostgREST exposes. */
  says(job: Job, said: Said, options?: SendOptions): Promise<Heard>;
  /** A callback as the dispatched run signs it: the body and its headers. */
  signed(job: Job, said: Said, options?: SendOptions): Promise<{ body: string; headers: Record<string, string> }>;
  send(body: string, headers: Record<string, string>): Promise<Heard>;
  /** Makes the job older, with everything that the sweep measures by. */
  age(job: Job, minutes: number): Promise<void>;
  sweep(): Promise<void>;
  /** A relay delivered the last call of this kind for an attempt that many minutes ago, and GitHub reported this about runs. */
  delivered(job: Job, call: CallOf, minutesAgo?: number): Promise<void>;
  /** GitHub reported this about an attempt's runs: what a relay captures with a call that it settles. */
  sighted(job: Job, attempt: string, runs: unknown): Promise<void>;
  /** The rows of the stream `provisioning` for a job, in order. */
  calls(job: Job): Promise<{ instruction: string; what: string; key: string; payload: Record<string, unknown> }[]>;
  /** The runs of a job as `task number status because`. */
  runs(job: Job): Promise<string[]>;
  /** What was posted about the request's job, in order. */
  told(job: Job): Promise<string[]>;
  /** What verification finds wrong with the jobs. */
  findings(): Promise<unknown[]>;
}

/** Call it while tests are being collected. */
export async function startProvisioning(version: EmbeddedVersion): Promise<Provisioning> {
  const surfaces = await startSurfaces(version);
  const pool = surfaces.superuser;
  beforeAll(async () => {
    const client = await surfaces.db.superuser.connect();
    await client.query("select set_config('headroom.secret_key', $1, false)", [secretKey]);
    await client.query("select provisioning.put_settings('acme', $1)", [
      JSON.stringify({ owner: "acme", repo: "infrastructure" }),
    ]);
    await client.query("select provisioning.put_secret('acme', $1)", [callbackSecret]);
    await client.end();
  });
  let runs = 7_000_000_000;
  const job = (requestId: string): Promise<Job> =>
    oneOf<Job>(pool, "select * from provisioning.jobs where request_id = $1", [requestId]);

  const dispatched: Provisioning["dispatched"] = async (of, said) => {
    const { task = "provision", attempt = 1, run_id: id = runIdOf(of.id) } = said;
    // What is not well formed names no run.
    if (!Number.isSafeInteger(id) || !Number.isInteger(attempt)) return;
    await rowsOf(
      pool,
      // The sweep, which runs beside it, may have found it in between.
      `insert into provisioning.dispatched_runs
       select $1::uuid, $2, $3::smallint, $4::bigint, true
        where not exists (select from provisioning.dispatched_runs where job_id = $1 and task = $2 and number = $3)
           on conflict do nothing`,
      [of.id, task, attempt, id],
    );
  };

  const signed: Provisioning["signed"] = async (of, said, options = {}) => {
    if (options.undispatched !== true) await dispatched(of, said);
    const body =
      options.body ??
      JSON.stringify({
        id: randomUUID(),
        workspace: "acme",
        job_id: of.id,
        task: "provision",
        attempt: 1,
        run_id: runIdOf(of.id),
        run_attempt: 1,
        ...said,
      });
    const stamp = String(Math.floor(Date.now() / 1000) - (options.late ?? 0));
    const mac = createHmac("sha256", options.secret ?? callbackSecret).update(`v1:${stamp}:${body}`);
    const headers = {
      "x-headroom-timestamp": stamp,
      "x-headroom-signature": options.signature ?? `v1=${mac.digest("hex")}`,
    };
    return { body, headers };
  };

  const send: Provisioning["send"] = async (body, headers) => {
    const client = await surfaces.db.as("authenticator").pool.connect();
    try {
      await client.query("begin");
      await client.query(
        "select set_config('role', 'anon', true), set_config('request.headers', $1, true), set_config('headroom.secret_key', $2, true)",
        [JSON.stringify(headers), secretKey],
      );
      const { answer } = await oneOf<{ answer: Heard }>(
        client,
        "select public.handle_provisioning_callback($1) as answer",
        [body],
      );
      await client.query("commit");
      return answer;
    } catch (error) {
      await client.query("rollback");
      throw error;
    } finally {
      client.release();
    }
  };

  const runIds = new Map<string, number>();
  function runIdOf(jobId: string): number {
    const known = runIds.get(jobId) ?? (runs += 1);
    runIds.set(jobId, known);
    return known;
  }

  return Object.assign(surfaces, {
    async confirmed(customer?: unknown) {
      return job(await surfaces.createIn("PROVISIONING", customer === undefined ? {} : { customer }));
    },
    job,
    signed,
    send,
    async says(of: Job, said: Said, options?: SendOptions) {
      const { body, headers } = await signed(of, said, options);
      return send(body, headers);
    },
    dispatched,
    async age(of: Job, minutes: number) {
      await rowsOf(
        pool,
        `update provisioning.attempts set created_at = created_at - $2 * interval '1 minute', claimed_at = claimed_at - $2 * interval '1 minute',
                heartbeat_at = heartbeat_at - $2 * interval '1 minute', watched_at = watched_at - $2 * interval '1 minute',
                due_at = due_at - $2 * interval '1 minute', ended_at = ended_at - $2 * interval '1 minute' where job_id = $1`,
        [of.id, minutes],
      );
      await rowsOf(
        pool,
        `update provisioning.jobs set failed_at = failed_at - $2 * interval '1 minute', reminded_at = reminded_at - $2 * interval '1 minute',
                late_told_at = late_told_at - $2 * interval '1 minute', asked_since = asked_since - $2 * interval '1 minute', updated_at = updated_at - $2 * interval '1 minute', next_look_at = now() where id = $1`,
        [of.id, minutes],
      );
    },
    async sweep() {
      await rowsOf(
        pool,
        "update provisioning.jobs set next_look_at = now() where id in (select id from provisioning.jobs for update skip locked)",
      );
      await rowsOf(pool, "update provisioning.sightings set seen_at = seen_at - interval '1 minute'");
      const { failed } = await oneOf<{ failed: unknown[] }>(
        pool,
        "select (public.run_capacity_request_timers()) -> 'failed' as failed",
      );
      if (failed.length > 0) throw new Error(`The sweep failed: ${JSON.stringify(failed)}`);
    },
    async delivered(of: Job, { of: attempt, what }: CallOf, minutesAgo = 0) {
      await rowsOf(
        pool,
        `with row as (
           select m.outbox_id, m.stream_id, m.lane_id, m.seq from outbox.payloads m
            where m.instruction_id = $1 || '/' || $2 and m.idempotency_key = $3), line as (
           insert into outbox.attempts (outbox_id, attempt_no, class_id, stream_id, state, recorded_at)
           select outbox_id, 1, get_byte(uuid_send(outbox_id), 7), stream_id, 'DISPATCHED', now() - $4 * interval '1 minute' from row)
         delete from outbox.pending p using row where p.lane_id = row.lane_id and p.seq = row.seq`,
        [of.id, attempt, what, minutesAgo],
      );
    },
    async sighted(of: Job, attempt: string, seen: unknown) {
      await rowsOf(pool, "select headroom.run_hooks('outbox.captured', $1)", [
        JSON.stringify([
          { stream: "provisioning", rail: "github-actions", key: `watch:${of.id}`, name: attempt, value: seen },
        ]),
      ]);
    },
    calls: (of: Job) =>
      rowsOf<{ instruction: string; what: string; key: string; payload: Record<string, unknown> }>(
        pool,
        `select m.instruction_id as instruction, m.idempotency_key as what, l.key, m.payload
           from outbox.payloads m join outbox.lanes l on l.lane_id = m.lane_id
          where l.key in ('job:' || $1, 'watch:' || $1) order by m.created_at, m.outbox_id`,
        [of.id],
      ),
    async runs(of: Job) {
      const rows = await rowsOf<{ run: string }>(
        pool,
        `select concat_ws(' ', task, number, status, ended_because) as run from provisioning.attempts where job_id = $1
          order by created_at, task, number`,
        [of.id],
      );
      return rows.map(({ run }) => run);
    },
    async told(of: Job) {
      const rows = await rowsOf<{ said: string }>(
        pool,
        "select said from capacity.notices where request_id = $1 and kind = 'job' order by id",
        [of.request_id],
      );
      return rows.map(({ said }) => said);
    },
    async findings() {
      const { findings } = await oneOf<{ findings: unknown[] }>(pool, "select * from provisioning.verify_jobs()");
      return findings;
    },
  });
}
