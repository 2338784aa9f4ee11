/**
 * The stage on which provisioning is hurt: a Postgres that can crash, a relay and a server as processes, and the sandbox's GitHub, which runs
 * the real workflow script as processes too. Time passes by making rows older.
 *
 * Owns: putting it up, taking it down, killing and starting the parts again. Does not own: what is done to whom, nor the verdict (oracle.ts).
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { Client, Pool } from "pg";
import { isRetryableConnectionError } from "../../../src/db/errors.ts";
import { pause } from "../../../src/db/wait/pause.ts";
import { withTimeout } from "../../../src/db/wait/with-timeout.ts";
import { valueTypes } from "../../../src/db/values/values.ts";
import { defaultSampleData } from "../../../src/sandbox/sample-data.ts";
import { startSandbox, type Sandbox } from "../../../src/sandbox/sandbox.ts";
import type { WorkflowRun } from "../../../src/sandbox/github/state.ts";
import { processesOf } from "../../integration/sandbox/github/run-stage.ts";
import { secrets } from "../../integration/sandbox/stage.ts";
import { CrashablePostgres } from "../crashable-postgres.ts";
import { ownCodeDir } from "../settings.ts";
import { startFront, type Front } from "./front.ts";
import { startPart, type PartProcess } from "./part-process.ts";
import { callbackPath, callbackSecret, githubWebhookSecret, prepareDatabase, secretKey } from "./prepare-database.ts";
import type { RelayTrap } from "./relay-child.ts";
import type { ServerTrap } from "./server-child.ts";

export interface Job {
  readonly id: string;
  readonly request_id: string;
  readonly state: string;
  readonly attempts: number;
  readonly cleanup: string;
}

export interface StageOptions {
  /** The folder whose code is put to the test. Default: our own. */
  readonly codeDir?: string;
  /** What is done to the database after it was migrated. */
  readonly afterMigration?: string;
  /** A server to use for several stages. */
  readonly postgres?: CrashablePostgres;
  /** What the script waits before it tries a call again. Default: 400, so that it outlasts a restart of the server and of Postgres. */
  readonly retryMs?: number;
  /** Whether GitHub tells of its runs by webhook. Default: false, so that nothing but callbacks and polls is left. */
  readonly webhooks?: boolean;
  /** The script that runs call, and more variables for it. Default: the one that users copy, and none. */
  readonly runScript?: string;
  readonly runVariables?: Readonly<Record<string, string>>;
  /** How many further workspaces there are, `acme-1` and so on, each with a repository of its name. Default: 0. */
  readonly workspaces?: number;
}

/** The branch as people name it who start a run at GitHub without us; Headroom names it shortly. */
export const byHandRef = "refs/heads/main";

/** The name of our own connections, so that nobody takes those that are idle for a part. */
export const stageName = "stage";

const boundMs = 30_000;

interface Parts {
  readonly postgres: CrashablePostgres;
  readonly url: string;
  readonly sandbox: Sandbox;
  readonly front: Front;
  readonly options: StageOptions;
}

export class ProvisioningStage {
  readonly postgres: CrashablePostgres;
  readonly sandbox: Sandbox;
  readonly url: string;
  readonly #options: StageOptions;
  readonly front: Front;
  /** Kept, because a new backend takes many times longer for a question than one that has answered it before. */
  readonly #pool: Pool;
  #relay: PartProcess | undefined;
  #server: PartProcess | undefined;
  #hasTrappedRelay = false;
  #hasTrappedServer = false;

  private constructor({ postgres, url, sandbox, front, options }: Parts) {
    this.postgres = postgres;
    this.url = url;
    this.sandbox = sandbox;
    this.#options = options;
    this.front = front;
    this.#pool = new Pool({ connectionString: url, max: 8, idleTimeoutMillis: 0, application_name: stageName });
    // What was open before a crash is of no use after it, and is replaced.
    this.#pool.on("error", () => undefined);
  }

  static async open(options: StageOptions = {}): Promise<ProvisioningStage> {
    await using undo = new AsyncDisposableStack();
    const postgres = options.postgres ?? (await CrashablePostgres.start());
    if (options.postgres === undefined) undo.defer(() => postgres.close());
    const url = await postgres.createDatabase(`provisioning_${randomBytes(4).toString("hex")}`);
    const front = await startFront();
    undo.defer(() => front.close());
    await prepareDatabase(url, front.url, options);
    const sandbox = await startSandbox({
      sampleData: defaultSampleData,
      secrets: {
        ...secrets,
        githubWebhookSecret,
        provisioningCallbackSecret: callbackSecret,
        provisioningCallbackUrl: `${front.url}${callbackPath}`,
      },
      runTimeScale: 0.05,
      minRunRetryMs: options.retryMs ?? 400,
      ...(options.runScript === undefined ? {} : { runScript: options.runScript }),
      ...(options.runVariables === undefined ? {} : { runVariables: options.runVariables }),
    });
    if (options.webhooks === true) sandbox.connect({ headroomUrl: front.url });
    undo.move();
    const stage = new ProvisioningStage({ postgres, url, sandbox, front, options });
    await stage.startServer();
    return stage;
  }

  async close(): Promise<void> {
    await Promise.all([this.#relay?.kill(), this.#server?.kill()]);
    await this.sandbox.close();
    await this.front.close();
    await this.#pool.end();
    if (this.#options.postgres === undefined) await this.postgres.close();
  }

  // --- the parts

  /** With a trap it kills itself there; `relayGone` resolves then. One that runs and has none is left alone. */
  async startRelay(trap?: RelayTrap): Promise<void> {
    if (this.#relay !== undefined && !this.#hasTrappedRelay && trap === undefined) return;
    await this.killRelay();
    this.#hasTrappedRelay = trap !== undefined;
    const apiUrl = `${this.sandbox.url}/github`;
    this.#relay = await startPart(this.#options.codeDir ?? ownCodeDir, "relay-child.ts", {
      connectionString: this.url,
      apiUrl,
      trap,
    });
  }

  /** Resolves when the relay has died. What it held is free at once: nobody can send it any more. */
  async relayGone(): Promise<void> {
    const dead = this.#relay;
    if (dead === undefined) return;
    await within(dead.gone, "the relay to die");
    this.#relay = undefined;
    const past = "update outbox.claims set lease_until = now() - interval '1 second' where relay_id = $1";
    await this.rows(past, [dead.number]).catch((error: unknown) => {
      // Without a database the lease runs out by itself.
      if (!isRetryableConnectionError(error)) throw error;
    });
  }

  async killRelay(): Promise<void> {
    await this.#relay?.kill();
    await this.relayGone();
  }

  /** With a trap it kills itself there; `serverGone` resolves then. */
  async startServer(trap?: ServerTrap): Promise<void> {
    if (this.#server !== undefined && !this.#hasTrappedServer && trap === undefined) return;
    await this.killServer();
    this.#hasTrappedServer = trap !== undefined;
    const config = { connectionString: this.url, secretKey, trap };
    this.#server = await startPart(this.#options.codeDir ?? ownCodeDir, "server-child.ts", config);
    this.front.pointTo(this.#server.number);
    void this.#server.gone.then(() => this.front.pointTo(undefined));
  }

  async serverGone(): Promise<void> {
    if (this.#server !== undefined) await within(this.#server.gone, "the server to die");
    this.#server = undefined;
  }

  async killServer(): Promise<void> {
    await this.#server?.kill();
    await this.serverGone();
  }

  /** Starts what has died, without traps. */
  async startWhatIsGone(): Promise<void> {
    if (this.#relay === undefined || this.#relay.isGone()) {
      await this.relayGone();
      await this.startRelay();
    }
    if (this.#server === undefined || this.#server.isGone()) {
      await this.serverGone();
      await this.startServer();
    }
  }

  async crashPostgres(): Promise<void> {
    await this.postgres.crash();
    await this.postgres.restart();
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
    await this.rows("select public.retry_provisioning_job($1, 'once more', 'rita')", [id]);
  }

  /** Somebody starts a run at GitHub with the inputs of another. */
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

  /** Makes a job older, with everything that the sweep measures by; the archive's lines of its calls too. */
  async age({ id }: Pick<Job, "id">, minutes: number): Promise<void> {
    const client = await this.connect();
    try {
      await client.query("set session_replication_role = replica");
      await client.query(
        `update provisioning.attempts set created_at = created_at - $2 * interval '1 minute', claimed_at = claimed_at - $2 * interval '1 minute',
                heartbeat_at = heartbeat_at - $2 * interval '1 minute', watched_at = watched_at - $2 * interval '1 minute'
          where job_id = $1 and ended_at is null`,
        [id, minutes],
      );
      await client.query(
        `update outbox.attempts l set recorded_at = recorded_at - $2 * interval '1 minute'
           from outbox.payloads m join outbox.lanes a on a.lane_id = m.lane_id
          where l.outbox_id = m.outbox_id and a.key = 'job:' || $1`,
        [id, minutes],
      );
    } finally {
      await client.end();
    }
  }

  /** What is due later is due now, and the sweep looks at every job. */
  async passTime(): Promise<void> {
    await this.rows("update outbox.pending set due = now() where due > now()");
    await this.rows("update outbox.heads set due = now() where due > now() and claim_id is null");
    // What asked for quiet has had it.
    await this.rows("update outbox.gates set open_until = now() where open_until > now()");
    await this.rows("update outbox.gates set next_slot_at = now() where next_slot_at > now()");
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

  /** Lets time pass until the job is as it was waited for. */
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
      await pause(100);
    }
  }

  // --- the database

  async rows<T>(text: string, values: readonly unknown[] = []): Promise<T[]> {
    const { rows } = await this.#pool.query({ text, values: [...values], types: valueTypes });
    return rows as T[];
  }

  async connect(): Promise<Client> {
    const client = new Client({ connectionString: this.url });
    client.on("error", () => undefined);
    await client.connect();
    return client;
  }
}

/** What a process of the script was started to do: start, step, exec, finish, heartbeats. */
function commandOf(pid: number): string | undefined {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return words[words.findIndex((word) => word.endsWith("headroom.mjs")) + 1];
  } catch {
    return undefined;
  }
}

/** What does not come within a bound that nothing should need is a failure of its own. */
export async function within<T>(work: Promise<T>, what: string): Promise<T> {
  const result = await withTimeout(work, boundMs);
  if (result.kind === "done") return result.value;
  throw new Error(`${what}: not within ${boundMs} ms`);
}
