/**
 * The stage for provisioning: the kit's, with the sandbox's GitHub in this process, whose runs start the real workflow script.
 *
 * Owns: what people, jobs, runs and time do. Does not own: when, nor the verdict (oracle.ts).
 */
import { readFileSync } from "node:fs";
import { pause } from "../../../src/db/wait/pause.ts";
import { defaultSampleData } from "../../../src/sandbox/sample-data.ts";
import { startSandbox, type Sandbox } from "../../../src/sandbox/sandbox.ts";
import type { WorkflowRun } from "../../../src/sandbox/github/state.ts";
import { processesOf } from "../../integration/sandbox/github/run-stage.ts";
import { secrets } from "../../integration/sandbox/harness.ts";
import type { RelayTrap } from "../kit/relay-part.ts";
import { layGround, Stage, type Ground, type StageOptions } from "../kit/stage.ts";
import { callbackPath, callbackSecret, fillDatabase, githubWebhookSecret } from "./directory.ts";

export interface Job {
  readonly id: string;
  readonly request_id: string;
  readonly state: string;
  readonly attempts: number;
  readonly cleanup: string;
}

export interface ProvisioningOptions extends StageOptions {
  /** How long the script waits before it retries a call. Default: 400, so that it outlasts a restart of the server and of Postgres. */
  readonly retryMs?: number;
  /** Whether GitHub sends webhooks about its runs. Default: false, so that only callbacks and polls are left. */
  readonly webhooks?: boolean;
  /** The script that runs call, and more variables for it. Default: the one that users copy, and none. */
  readonly runScript?: string;
  readonly runVariables?: Readonly<Record<string, string>>;
  /** How long GitHub may take to show a run whose dispatch was not answered. Default: 100. */
  readonly visibleAfterMs?: number;
  /** How many further workspaces there are, `acme-1` and so on, each with a repository of its name. Default: 0. */
  readonly workspaces?: number;
}

/** The full branch name, as people use it who start a run at GitHub without us; Headroom uses the short one. */
export const byHandRef = "refs/heads/main";

const boundMs = 30_000;

/** The server dies once it has committed such a callback, before it answers. */
interface ServerHow {
  readonly task: "provision" | "cleanup";
  readonly signal: "claim" | "heartbeat" | "succeeded" | "failed";
}

export class ProvisioningStage extends Stage<ServerHow> {
  readonly sandbox: Sandbox;
  readonly #visibleAfterMs: number;

  private constructor(ground: Ground, sandbox: Sandbox, { visibleAfterMs = 100 }: ProvisioningOptions) {
    super(ground);
    this.sandbox = sandbox;
    this.#visibleAfterMs = visibleAfterMs;
  }

  static async open(options: ProvisioningOptions = {}): Promise<ProvisioningStage> {
    await using undo = new AsyncDisposableStack();
    const ground = await layGround("provisioning", options, undo, (client, { url }) =>
      fillDatabase(client, url, options.workspaces ?? 0),
    );
    const sandbox = await startSandbox({
      sampleData: defaultSampleData,
      secrets: {
        ...secrets,
        githubWebhookSecret,
        provisioningCallbackSecret: callbackSecret,
        provisioningCallbackUrl: `${ground.front.url}${callbackPath}`,
      },
      runTimeScale: 0.05,
      minRunRetryMs: options.retryMs ?? 400,
      ...(options.runScript === undefined ? {} : { runScript: options.runScript }),
      ...(options.runVariables === undefined ? {} : { runVariables: options.runVariables }),
    });
    undo.defer(() => sandbox.close());
    if (options.webhooks === true) sandbox.connect({ headroomUrl: ground.front.url });
    return await new ProvisioningStage(ground, sandbox, options).putUp(undo);
  }

  protected override relayPart(trap?: RelayTrap) {
    const visibleAfterMs = this.#visibleAfterMs;
    return ["provisioning/relay-child.ts", { apiUrl: `${this.sandbox.url}/github`, visibleAfterMs, trap }] as const;
  }

  protected override serverConfig(how?: ServerHow) {
    const holds = how === undefined ? [] : [`"task":"${how.task}"`, `"signal":"${how.signal}"`];
    return { trap: how && ({ holds, at: "before the answer" } as const) };
  }

  /** Kills the script's processes of a job with -9: all, or those that run this command. */
  killScript(job: Pick<Job, "id">, command?: string): number {
    const found = processesOf(job.id).filter(({ pid }) => command === undefined || commandOf(pid) === command);
    for (const { pid } of found) process.kill(pid, "SIGKILL");
    return found.length;
  }

  // --- requests, jobs, people

  /** A request that only waits for its customer. */
  async request(customer: string, workspaceId = "acme"): Promise<string> {
    const [row] = await this.rows<{ id: string }>(
      `select id from public.create_capacity_request(p_requester_user_id => 'rita', p_commercial_owner_user_id => 'cora',
         p_infra_owner_group => 'infra', p_customer_ref => $1, p_requested_size => '32XL', p_quantity => 4, p_region => 'us-east-1',
         p_needed_by_date => null, p_expected_duration_days => 30, p_estimated_monthly_cost_usd => 500, p_confirmation_ttl_days => 7,
         p_workspace_id => $2)`,
      [JSON.stringify({ org_id: customer, name: customer }), workspaceId],
    );
    const id = row?.id ?? "";
    await this.apply(id, "COMMERCIAL_APPROVED", "user", "cora");
    await this.apply(id, "TECH_REVIEW_APPROVED", "user", "tess");
    return id;
  }

  async confirm(requestId: string): Promise<Job> {
    await this.apply(requestId, "CUSTOMER_CONFIRMED", "customer", "customer");
    return this.job(requestId);
  }

  async apply(requestId: string, event: string, type: string, actor: string): Promise<void> {
    await this.rows("select from capacity.decide($1, $2, row($3, $4, 'test')::capacity.actor, $5)", [
      requestId,
      event,
      type,
      actor,
      JSON.stringify(event.startsWith("CANCEL") ? { reason: "because" } : {}),
    ]);
  }

  async job(requestId: string): Promise<Job> {
    const [job] = await this.rows<Job>(
      "select id, request_id, state, attempts, cleanup from provisioning.jobs where request_id = $1",
      [requestId],
    );
    if (job === undefined) throw new Error(`${requestId} has no job`);
    return job;
  }

  async retry({ id }: Pick<Job, "id">): Promise<void> {
    await this.rows("select public.retry_provisioning_job($1, 'again', 'rita')", [id]);
  }

  /** Starts a run at GitHub, as a person would, with the inputs of another. */
  async runByHand({ workflow, inputs }: WorkflowRun): Promise<void> {
    await fetch(`${this.sandbox.url}/github/repos/acme/infrastructure/actions/workflows/${workflow}/dispatches`, {
      method: "POST",
      headers: { authorization: "Bearer sandbox", "content-type": "application/json" },
      body: JSON.stringify({ ref: byHandRef, inputs }),
    }).catch(() => undefined);
  }

  /** The runs of a job at GitHub, oldest first. */
  runsOf({ id }: Pick<Job, "id">, task?: "provision" | "cleanup"): WorkflowRun[] {
    const runs = this.sandbox.github.runs().filter(({ inputs }) => inputs["job_id"] === id);
    return task === undefined ? runs : runs.filter(({ inputs }) => inputs["task"] === task);
  }

  /** The attempts of a job as `task number status because`. */
  async attemptsOf({ id }: Pick<Job, "id">): Promise<string[]> {
    const rows = await this.rows<{ attempt: string }>(
      `select concat_ws(' ', task, number, status, ended_because) as attempt from provisioning.attempts where job_id = $1
        order by coalesce(cleans, number), task desc, number`,
      [id],
    );
    return rows.map(({ attempt }) => attempt);
  }

  // --- time

  /** Makes a job older, with all times that the sweep uses; also the archive's lines of its calls. */
  async age({ id }: Pick<Job, "id">, minutes: number): Promise<void> {
    await this.inArchive(
      `update provisioning.attempts set created_at = created_at - $2 * interval '1 minute', claimed_at = claimed_at - $2 * interval '1 minute',
              heartbeat_at = heartbeat_at - $2 * interval '1 minute', watched_at = watched_at - $2 * interval '1 minute'
        where job_id = $1 and ended_at is null`,
      [id, minutes],
    );
    await this.inArchive(
      `update outbox.attempts l set recorded_at = recorded_at - $2 * interval '1 minute'
         from outbox.payloads m join outbox.lanes a on a.lane_id = m.lane_id
        where l.outbox_id = m.outbox_id and a.key = 'job:' || $1`,
      [id, minutes],
    );
  }

  /** Makes later work due now, and lets the sweep check every job. */
  async passTime(): Promise<void> {
    await this.hurryOutbox();
    await this.rows(
      "update provisioning.jobs set next_look_at = now() where id in (select id from provisioning.jobs for update skip locked)",
    );
    await this.rows("update provisioning.sightings set seen_at = seen_at - interval '1 minute'");
    await this.rows("delete from capacity.timer_failures");
    const [swept] = await this.rows<{ failed: unknown[] }>(
      "select (public.run_capacity_request_timers()) -> 'failed' as failed",
    );
    if (swept !== undefined && swept.failed.length > 0) throw new Error(`The sweep failed: ${JSON.stringify(swept)}`);
  }

  /** Lets time pass until the job reaches the expected state. */
  async until(requestId: string, isThere: (job: Job) => boolean, what: string): Promise<Job> {
    const deadline = performance.now() + boundMs;
    for (;;) {
      await this.passTime();
      const job = await this.job(requestId);
      if (isThere(job)) return job;
      if (performance.now() > deadline) {
        const runs = this.runsOf(job).map(({ title, status, conclusion, script }) => ({
          title,
          status,
          conclusion,
          script,
        }));
        throw new Error(`Not ${what}: ${JSON.stringify({ job, attempts: await this.attemptsOf(job), runs }, null, 1)}`);
      }
      await pause(200);
    }
  }
}

/** The command of a script process: start, step, exec, finish, heartbeats. */
function commandOf(pid: number): string | undefined {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return words[words.findIndex((word) => word.endsWith("headroom.mjs")) + 1];
  } catch {
    return undefined;
  }
}
