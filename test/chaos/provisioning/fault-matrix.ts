/**
 * Every call between workflow script, server and GitHub, answered once in each way in which a proxy can spoil it. The runs
 * of one life run in parallel, each in its own workspace and repository, so that a fault hits only one run.
 *
 * Owns: the lives, and the outcome of each. Does not own: the faults (spoiled.ts), the stage, nor what holds for all jobs (oracle.ts).
 */
import { pause } from "../../../src/db/wait/pause.ts";
import type { PlanInput } from "../../../src/sandbox/github/run-plan.ts";
import { eventually } from "../kit/eventually.ts";
import type { Findings } from "../kit/findings.ts";
import { judge, observe } from "./oracle.ts";
import { calm } from "./settings.ts";
import { faultsOf, hour, startElsewhere, type Elsewhere, type Fault } from "./spoiled.ts";
import { ProvisioningStage, type Job, type ProvisioningOptions } from "./stage.ts";

/** One run with its job, and the fault that each of the life's calls meets once. */
interface Cell {
  readonly life: Life;
  readonly fault: Fault;
  readonly workspace: string;
  readonly job: Job;
}

interface Hit {
  readonly method: string;
  readonly after?: number;
}

export interface Life {
  readonly name: string;
  readonly plan: PlanInput;
  /** The calls that are spoiled. */
  readonly hits: readonly Hit[];
  /** Whether GitHub's webhook about the end of the run is lost if the fault does not let a call through. */
  readonly losesWebhooks?: true;
  /** Whether a proxy sends each callback twice, the first time, and returns the second answer. */
  readonly doubles?: true;
  /** Which faults make sense here. Default: all. */
  readonly fits?: (fault: Fault) => boolean;
  /** Lets time pass if the life needs it. */
  readonly play?: (stage: ProvisioningStage, cell: Cell) => Promise<void>;
  readonly ends: { readonly state: string; readonly cleanup: string; readonly attempts: readonly string[] };
  /** The last notice to the people of the request. */
  readonly told: RegExp;
  /** The error of the attempt. */
  readonly error?: RegExp;
}

/** GitHub's own 403 is about the token, and waits until somebody has fixed it. */
const isGithub = ({ name }: Fault): boolean => name !== hour && name !== "403 of a proxy";

const succeeds = {
  plan: calm,
  ends: { state: "running", cleanup: "none", attempts: ["provision 1 succeeded reported"] },
  told: /has begun/,
} as const;

export const lives = [
  {
    name: "a run that succeeds",
    ...succeeds,
    hits: [{ method: "callback.claim" }, { method: "callback.succeeded" }],
  },
  {
    name: "a run whose callbacks are said twice on the way",
    ...succeeds,
    hits: [],
    fits: ({ name }) => name === "500",
    doubles: true,
  },
  {
    name: "a run that fails, and its cleanup",
    plan: { ...calm, outcome: "fails", affects: "provision" },
    // The second claim is the cleanup's, and so is the success.
    hits: [
      { method: "callback.heartbeat" },
      { method: "callback.failed" },
      { method: "callback.claim", after: 1 },
      { method: "callback.succeeded" },
    ],
    fits: ({ name }) => name !== hour,
    ends: {
      state: "failed",
      cleanup: "done",
      attempts: ["provision 1 failed reported", "cleanup 1 succeeded reported"],
    },
    told: /The cleanup after attempt 1 is done/,
    error: /insufficient capacity/,
  },
  {
    name: "a run whose success is never heard",
    plan: { ...calm, loses: "results", affects: "provision" },
    hits: [{ method: "dispatch" }, { method: "getRun" }],
    fits: isGithub,
    losesWebhooks: true,
    play: lookedAt,
    ends: { state: "running", cleanup: "none", attempts: ["provision 1 succeeded run_ended"] },
    told: /succeeded, as GitHub says/,
  },
  {
    name: "a run that falls silent, is stopped and cleaned up after",
    plan: { ...calm, outcome: "hangs", affects: "provision" },
    hits: [{ method: "listRuns" }, { method: "cancelRun" }, { method: "dispatch", after: 1 }],
    fits: isGithub,
    async play(stage, { job }) {
      await eventually(() => saidBy(stage, job, "hangs on purpose"), "the run to hang", pollMs);
      await stage.age(job, 11);
    },
    ends: {
      state: "failed",
      cleanup: "done",
      attempts: ["provision 1 stopped stale", "cleanup 1 succeeded reported"],
    },
    told: /The cleanup after attempt 1 is done/,
  },
] as const satisfies readonly Life[];

/** Time passes until GitHub is queried for the outcome of a run. */
async function lookedAt(stage: ProvisioningStage, { job }: Cell): Promise<void> {
  await eventually(
    () => {
      const runs = stage.runsOf(job);
      return runs.length > 0 && runs.every((run) => run.status === "completed");
    },
    "the run to end",
    pollMs,
  );
  await stage.age(job, 3);
}

function saidBy(stage: ProvisioningStage, job: Job, words: string): boolean {
  return stage.runsOf(job).some(({ script }) => script?.log.some((line) => line.includes(words)));
}

export interface MatrixStage extends AsyncDisposable {
  readonly stage: ProvisioningStage;
  readonly elsewhere: Elsewhere;
  readonly faults: readonly Fault[];
}

const workspaces = 160;
/** Many runs are polled in parallel. */
const pollMs = 150;

/** The script's waits are a fraction of the usual, and so is its patience: 4.5 s for a result. */
export async function openMatrix(options: ProvisioningOptions = {}): Promise<MatrixStage> {
  const elsewhere = await startElsewhere();
  try {
    const stage = await ProvisioningStage.open({
      webhooks: true,
      retryMs: 30,
      runVariables: { HEADROOM_CALL_TIMEOUT_MS: "2000", HEADROOM_HEARTBEAT_MS: "400" },
      workspaces,
      // While many runs start at the same time, the sandbox may dispatch a run long after the relay has given up waiting for the answer.
      visibleAfterMs: 2_000,
      ...options,
    });
    await stage.startRelay();
    return {
      stage,
      elsewhere,
      faults: faultsOf(elsewhere.url),
      async [Symbol.asyncDispose]() {
        await stage.close();
        await elsewhere[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await elsewhere[Symbol.asyncDispose]();
    throw error;
  }
}

let usedWorkspaces = 0;

/** Plays one life with each of the faults at the same time, and adds the findings of all of them. */
export async function playLife(
  { stage, elsewhere, faults }: MatrixStage,
  life: Life,
  findings: Findings,
  only?: (fault: Fault) => boolean,
): Promise<number> {
  const fitting = faults.filter((fault) => (life.fits?.(fault) ?? true) && (only?.(fault) ?? true));
  stage.sandbox.faults.clear("github");
  stage.sandbox.github.planNext(life.plan);
  const said = new Set<string>();
  const deaf: string[] = [];
  stage.front.treat = (path, body) => {
    if (path === "/webhooks/github")
      return body.includes('"action":"completed"') && deaf.some((each) => body.includes(`"${each}"`)) ? "lose" : "pass";
    const { job_id: job, task, signal } = JSON.parse(body) as Record<string, string>;
    const call = `${job} ${task} ${signal}`;
    const isFirst = !said.has(call);
    said.add(call);
    return life.doubles === true && isFirst ? "twice" : "pass";
  };
  const cells: Cell[] = [];
  // One after the other: many first calls at the same time would keep a busy machine's server from answering any of them in time.
  for (const fault of fitting) {
    usedWorkspaces += 1;
    const workspace = `acme-${usedWorkspaces}`;
    const channel = `acme/${workspace}`;
    if (life.losesWebhooks === true && fault.input.accepts !== true) deaf.push(channel);
    for (const hit of life.hits)
      stage.sandbox.faults.add({ ...fault.input, ...hit, provider: "github", channel, times: 1 });
    cells.push({ life, fault, workspace, job: await stage.confirm(await stage.request("customer", workspace)) });
  }
  const over = new AbortController();
  const clock = passTime(stage, findings, over.signal);
  try {
    await Promise.all(cells.map((cell) => playCell(stage, cell, findings)));
  } finally {
    over.abort();
    await clock;
    stage.front.treat = () => "pass";
  }
  for (const call of elsewhere.heard) findings.add("a redirect is not followed", call);
  return cells.length;
}

async function playCell(stage: ProvisioningStage, cell: Cell, findings: Findings): Promise<void> {
  const { life, fault, workspace, job } = cell;
  const where = `${life.name}: ${fault.name}`;
  try {
    await life.play?.(stage, cell);
    await eventually(
      async () => {
        const { state, cleanup } = await stage.job(job.request_id);
        const isOver = !["waiting", "queued", "provisioning"].includes(state) && cleanup !== "under_way";
        return isOver && stage.runsOf(job).every((run) => run.status === "completed");
      },
      "the job to come to rest",
      pollMs,
    );
  } catch (error) {
    findings.add("nobody waits without an end", `${where}: ${error instanceof Error ? error.message : ""}`);
  }
  const { state, cleanup } = await stage.job(job.request_id);
  const attempts = await stage.attemptsOf(job);
  const is = JSON.stringify({ state, cleanup, attempts });
  const wanted = JSON.stringify(life.ends);
  const log = stage.runsOf(job).flatMap(({ title, conclusion, script }) => [title, conclusion, ...(script?.log ?? [])]);
  if (is !== wanted) findings.add("a run comes to what it was", `${where}: ${is} and not ${wanted}\n${log.join("\n")}`);
  const [told] = await stage.rows<{ said: string }>(
    "select said from capacity.notices where request_id = $1 and kind = 'job' order by id desc limit 1",
    [job.request_id],
  );
  if (!life.told.test(told?.said ?? "")) findings.add("people are told", `${where}: ${told?.said ?? "nothing"}`);
  const errors = await stage.rows<{ error: string }>(
    "select coalesce(error, 'nothing') as error from provisioning.attempts where job_id = $1 and task = 'provision'",
    [job.id],
  );
  if (life.error !== undefined && !errors.some(({ error }) => life.error?.test(error)))
    findings.add("people are told why", `${where}: ${errors.map(({ error }) => error).join(", ")}`);
  for (const { method } of stage.sandbox.faults.list().filter(({ channel }) => channel === `acme/${workspace}`))
    findings.add("every planned fault came to pass", `${where}: not at ${method}`);
}

/** The sweep checks every job, and later work is due now; at no time does a customer have two runs. */
async function passTime(stage: ProvisioningStage, findings: Findings, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    await stage.passTime();
    await observe(stage, findings);
    const active = stage.sandbox.github.runs().filter(({ status: each }) => each === "in_progress");
    for (const [job, runs] of Map.groupBy(active, ({ inputs }) => inputs["job_id"])) {
      if (runs.length > 1) findings.add("a customer has one run at a time", `${job}: ${runs.length}`);
    }
    await pause(600, over);
  }
}

/** Heartbeats that are answered in each of these ways, one after the other, while the work continues. */
export async function playHeartbeats({ stage, faults }: MatrixStage, findings: Findings): Promise<void> {
  stage.sandbox.faults.clear("github");
  stage.sandbox.github.planNext({ ...calm, speed: "slow" });
  usedWorkspaces += 1;
  const workspace = `acme-${usedWorkspaces}`;
  const call = { provider: "github", method: "callback.heartbeat", channel: `acme/${workspace}` } as const;
  for (const { input } of faults) stage.sandbox.faults.add({ ...input, ...call, times: 1 });
  const job = await stage.confirm(await stage.request("customer", workspace));
  const over = new AbortController();
  const clock = passTime(stage, findings, over.signal);
  const ended = await stage.until(
    job.request_id,
    ({ state }) => state !== "queued" && state !== "provisioning",
    "over",
  );
  over.abort();
  await clock;
  if (ended.state !== "running") findings.add("a run comes to what it was", `with spoiled heartbeats: ${ended.state}`);
  const left = stage.sandbox.faults.list().filter(({ channel }) => channel === call.channel);
  const heard = stage.sandbox.requests.list(call).filter((each) => each.fault === undefined && each.effect);
  if (left.length > 0 || heard.length < 3)
    findings.add("heartbeats go on", `${heard.length} were heard, ${left.length} ways were left`);
}

/** The invariants of all jobs, once everything is at rest. */
export async function restAndJudge({ stage }: MatrixStage, findings: Findings): Promise<void> {
  stage.sandbox.faults.clear("github");
  await eventually(
    async () => {
      await stage.passTime();
      return (await stage.countOf("outbox.pending")) === 0;
    },
    "nothing to be left in the outbox",
    pollMs,
  );
  await judge(stage, findings);
}
