/**
 * `npm run chaos -- --provisioning`: customers confirm, GitHub misbehaves, parts are killed, people retry and cancel, all at random and from
 * one seed. Then the faults stop, everything comes to rest, and the oracle judges.
 */
import { isRetryableConnectionError, sqlStateOf, toHeadroomError } from "../../../src/db/errors.ts";
import { pause } from "../../../src/db/wait/pause.ts";
import { Findings, type Finding } from "../findings.ts";
import { Random } from "../random.ts";
import { renderFindings, table } from "../report.ts";
import type { Range } from "../settings.ts";
import { judge, observe } from "./oracle.ts";
import { PartFailed } from "./part-process.ts";
import { calm, plans, weather, type ProvisioningSettings } from "./settings.ts";
import { ProvisioningStage, stageName, type Job } from "./stage.ts";

export interface SeededResult {
  readonly ok: boolean;
  readonly seed: number;
  readonly seconds: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly findings: readonly Finding[];
}

export interface SeededHooks {
  readonly signal: AbortSignal;
  readonly onProgress?: (text: string) => void;
}

export async function runSeeded(settings: ProvisioningSettings, hooks: SeededHooks): Promise<SeededResult> {
  const startedAtMs = performance.now();
  const stage = await ProvisioningStage.open({ webhooks: true, retryMs: 60 });
  try {
    const run = new SeededRun(stage, settings, hooks);
    await run.faults();
    await run.rest();
    hooks.onProgress?.("checking");
    await judge(stage, run.findings);
    const counts = await run.counted();
    const seconds = (performance.now() - startedAtMs) / 1_000;
    return { ok: !run.findings.any, seed: settings.seed, seconds, counts, findings: run.findings.list };
  } finally {
    await stage.close();
  }
}

class SeededRun {
  readonly findings = new Findings();
  readonly #stage: ProvisioningStage;
  readonly #settings: ProvisioningSettings;
  readonly #hooks: SeededHooks;
  readonly #random: Random;
  readonly #did = new Map<string, number>();
  /** Requests that nobody has confirmed yet. */
  #open: string[] = [];

  constructor(stage: ProvisioningStage, settings: ProvisioningSettings, hooks: SeededHooks) {
    this.#stage = stage;
    this.#settings = settings;
    this.#hooks = hooks;
    this.#random = new Random(settings.seed);
  }

  async faults(): Promise<void> {
    const { faultsMs, requests, customers, killEveryMs, personEveryMs, clockEveryMs } = this.#settings;
    for (let n = 0; n < requests; n += 1) this.#open.push(await this.#stage.request(`customer-${n % customers}`));
    await this.#stage.startRelay();
    for (const fault of weather) this.#stage.sandbox.faults.add({ ...fault, seed: this.#random.between(1, 2 ** 31) });
    this.#hooks.onProgress?.("the stage is up");
    const over = AbortSignal.any([this.#hooks.signal, AbortSignal.timeout(faultsMs)]);
    const confirmEveryMs = (faultsMs * 0.7) / requests;
    await Promise.all([
      this.#again(over, [confirmEveryMs * 0.5, confirmEveryMs * 1.5], (random) => this.#confirm(random)),
      this.#again(over, [300, 900], (random) => this.#plan(random)),
      this.#again(over, killEveryMs, (random) => this.#kill(random)),
      this.#again(over, personEveryMs, (random) => this.#person(random)),
      this.#again(over, clockEveryMs, (random) => this.#passTime(random)),
      this.#again(over, [150, 250], () => observe(this.#stage, this.findings)),
      this.#report(over),
    ]);
    this.#hooks.signal.throwIfAborted();
  }

  /** The faults are over: what waits is carried out, what hangs grows old, and nothing may be left. */
  async rest(): Promise<void> {
    const stage = this.#stage;
    stage.sandbox.faults.clear();
    stage.sandbox.github.planNext(calm);
    await Promise.all([stage.killRelay(), stage.killServer()]);
    await stage.startWhatIsGone();
    for (const id of this.#open.splice(0)) await this.#confirmed(id);
    const deadline = performance.now() + this.#settings.restMs;
    while (performance.now() < deadline) {
      this.#hooks.signal.throwIfAborted();
      await stage.passTime();
      await observe(stage, this.findings);
      const open = await this.#openJobs();
      if (open.length === 0 && (await this.#isQuiet())) return;
      for (const job of open) if (!this.#isAtWork(job)) await stage.age(job, 3);
      await pause(500);
    }
  }

  async counted(): Promise<Record<string, number>> {
    const rows = await this.#stage.rows<{ what: string; n: number }>(
      `select 'jobs ' || state as what, count(*)::integer as n from provisioning.jobs group by state
       union all select concat_ws(' ', task, status, ended_because), count(*) from provisioning.attempts group by 1
       union all select 'callbacks ' || outcome, count(*) from provisioning.callbacks group by outcome
       order by 1`,
    );
    const runs = { "runs at GitHub": this.#stage.sandbox.github.runs().length };
    return { ...Object.fromEntries(rows.map(({ what, n }) => [what, n])), ...runs, ...Object.fromEntries(this.#did) };
  }

  // --- what happens at random

  async #confirm(random: Random): Promise<void> {
    const id = this.#open.splice(random.between(0, this.#open.length - 1), 1)[0];
    if (id !== undefined) await this.#confirmed(id);
  }

  /** Whoever is not told whether it worked tries again. */
  async #confirmed(id: string): Promise<void> {
    for (;;) {
      try {
        await this.#stage.confirm(id);
        return;
      } catch (error) {
        if (!isRetryableConnectionError(error)) throw error;
        await pause(200);
      }
    }
  }

  async #plan(random: Random): Promise<void> {
    const step = random.between(1, 3);
    this.#stage.sandbox.github.planNext({ ...random.weighted(plans), step, slowToStop: random.chance(0.2) });
  }

  async #kill(random: Random): Promise<void> {
    const stage = this.#stage;
    const kill = random.weighted([
      ["the relay", 3],
      ["the relay at a step", 4],
      ["the server", 3],
      ["the server before an answer", 4],
      ["Postgres", 1.5],
      ["a backend", 3],
      ["a script", 4],
    ] as const);
    this.#count(`killed: ${kill}`);
    if (kill === "the relay") await stage.killRelay();
    else if (kill === "the server") await stage.killServer();
    else if (kill === "Postgres") await stage.crashPostgres();
    else if (kill === "a backend") {
      await stage.rows(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and not (application_name = $1 and state = 'idle')
          order by random() limit 2`,
        [stageName],
      );
    } else if (kill === "a script") {
      const run = pickOne(
        random,
        stage.sandbox.github.runs().filter(({ status }) => status === "in_progress"),
      );
      const command = random.pick(["all", "start", "exec", "heartbeats", "finish"]);
      if (run !== undefined)
        stage.killScript({ id: run.inputs["job_id"] ?? "" }, command === "all" ? undefined : command);
    } else if (kill === "the relay at a step") {
      const at = random.pick(["send.before", "send.after", "settle.before", "settle.after"] as const);
      await stage.startRelay({
        operation: random.weighted([
          ["dispatch", 3],
          ["stop", 2],
          ["watch", 1],
        ] as const),
        at,
      });
      await pause(random.between(500, 3_000));
    } else {
      const signal = random.pick(["claim", "heartbeat", "succeeded", "failed"] as const);
      await stage.startServer({
        task: random.weighted([
          ["provision", 2],
          ["cleanup", 1],
        ] as const),
        signal,
      });
      await pause(random.between(500, 3_000));
    }
    await stage.startWhatIsGone();
  }

  async #person(random: Random): Promise<void> {
    const stage = this.#stage;
    const jobs = await stage.rows<Job>(
      "select id, request_id, state, attempts, cleanup from provisioning.jobs order by request_id",
    );
    const waiting = pickOne(
      random,
      jobs.filter(({ state }) => state === "failed"),
    );
    const open = pickOne(
      random,
      jobs.filter(({ state }) => ["waiting", "queued", "provisioning", "failed"].includes(state)),
    );
    const leftover = pickOne(
      random,
      jobs.filter(({ cleanup }) => cleanup === "failed"),
    );
    const run = pickOne(random, stage.sandbox.github.runs());
    const act = random.weighted([
      ["retry", 12],
      ["cancel", 1],
      ["record", 0.5],
      ["clean", 2],
      ["run again", 1],
      ["run by hand", 2],
    ] as const);
    if (act === "retry" && waiting !== undefined) await stage.retry(waiting);
    else if (act === "cancel" && open !== undefined)
      await stage.apply(open.request_id, "CANCEL_APPROVED", "user", "rita");
    else if (act === "record" && open !== undefined)
      await stage.rows("select public.complete_provisioning_job($1, 'bought elsewhere', 'otto')", [open.id]);
    else if (act === "clean" && leftover !== undefined)
      await stage.rows("select public.clean_provisioning_job($1, 'deleted the machines', 'otto')", [leftover.id]);
    else if (act === "run again" && run?.status === "completed") stage.sandbox.github.rerun(run.id);
    else if (act === "run by hand" && run !== undefined) await stage.runByHand(run);
    else return;
    this.#count(`people: ${act}`);
  }

  async #passTime(random: Random): Promise<void> {
    await this.#stage.passTime();
    const job = pickOne(random, await this.#openJobs());
    if (job === undefined) return;
    // Silence is noticed by asking GitHub, then by giving up; a run that is well may be given up too.
    const isAtWork = this.#isAtWork(job);
    if (!isAtWork || random.chance(0.05)) await this.#stage.age(job, isAtWork ? 11 : 3);
  }

  // --- looking

  /** Jobs with an attempt or a cleanup under way, or that wait for one. Where a cleanup has failed they wait for a person. */
  #openJobs(): Promise<Job[]> {
    return this.#stage.rows<Job>(
      `select id, request_id, state, attempts, cleanup from provisioning.jobs
        where state in ('queued', 'provisioning') or state = 'waiting' and cleanup <> 'failed' or cleanup = 'under_way' order by request_id`,
    );
  }

  #isAtWork(job: Job): boolean {
    const run = this.#stage.runsOf(job).at(-1);
    return run !== undefined && run.status !== "completed" && run.script?.plan.outcome !== "hangs";
  }

  async #isQuiet(): Promise<boolean> {
    const [left] = await this.#stage.rows<{ n: number }>("select count(*)::integer as n from outbox.pending");
    return left?.n === 0 && this.#stage.sandbox.github.runs().every(({ status }) => status === "completed");
  }

  // --- the machinery

  #count(what: string): void {
    this.#did.set(what, (this.#did.get(what) ?? 0) + 1);
  }

  /** Does something again and again. That the database is away, or that Headroom refuses in words, is nothing to report. */
  async #again(over: AbortSignal, everyMs: Range, act: (random: Random) => Promise<void>): Promise<void> {
    const random = this.#random.fork();
    while (!over.aborted) {
      try {
        await act(random);
      } catch (error) {
        const isExpected =
          error instanceof PartFailed ||
          isRetryableConnectionError(error) ||
          sqlStateOf(error)?.startsWith("PT4") === true;
        if (!isExpected) this.findings.add("nothing fails in an unknown way", toHeadroomError(error).message);
      }
      await pause(random.between(...everyMs), over);
    }
  }

  async #report(over: AbortSignal): Promise<void> {
    const startedAtMs = performance.now();
    while (!over.aborted) {
      await pause(10_000, over);
      const seconds = Math.round((performance.now() - startedAtMs) / 1_000);
      const runs = this.#stage.sandbox.github.runs();
      const open = runs.filter(({ status }) => status !== "completed").length;
      this.#hooks.onProgress?.(
        `${seconds} s: ${this.#open.length} to be confirmed, ${runs.length} runs, ${open} of them under way`,
      );
    }
  }
}

function pickOne<T>(random: Random, list: readonly T[]): T | undefined {
  return list.length === 0 ? undefined : random.pick(list);
}

export function renderSeeded({ seed, seconds, counts, findings }: SeededResult): string {
  const body = Object.entries(counts).map(([what, n]) => [what, String(n)]);
  return [`seed ${seed}, ${seconds.toFixed(0)} s`, table(["what", ""], body), renderFindings(findings)].join("\n\n");
}
