/**
 * `npm run chaos -- --provisioning`: customers confirm, GitHub misbehaves, parts are killed, people retry and cancel, all at random and from
 * one seed. Then the faults stop, everything comes to rest, and the oracle judges.
 */
import { isRetryableConnectionError } from "../../../src/db/errors.ts";
import { pause } from "../../../src/db/wait/pause.ts";
import type { Random } from "../kit/random.ts";
import { trapSteps } from "../kit/relay-part.ts";
import { runPlay, type Play, type Run } from "../kit/run.ts";
import type { Hooks, RunResult } from "../kit/subject.ts";
import { judge, observe } from "./oracle.ts";
import { calm, plans, weather, type ProvisioningSettings } from "./settings.ts";
import { ProvisioningStage, type Job } from "./stage.ts";

export function runProvisioning(settings: ProvisioningSettings, hooks: Hooks): Promise<RunResult> {
  return runPlay(settings, hooks, async (run, undo) => {
    const stage = await ProvisioningStage.open({ webhooks: true, retryMs: 60 });
    undo.defer(() => stage.close());
    const { requests, customers } = settings;
    const open: string[] = [];
    for (let n = 0; n < requests; n += 1) open.push(await stage.request(`customer-${n % customers}`));
    await stage.startRelay();
    for (const fault of weather) stage.sandbox.faults.add({ ...fault, seed: run.random.between(1, 2 ** 31) });
    return new ProvisioningPlay(stage, settings, run, open);
  });
}

class ProvisioningPlay implements Play {
  readonly #stage: ProvisioningStage;
  readonly #settings: ProvisioningSettings;
  readonly #run: Run;
  /** Requests that nobody has confirmed yet. */
  readonly #open: string[];

  constructor(stage: ProvisioningStage, settings: ProvisioningSettings, run: Run, open: string[]) {
    this.#stage = stage;
    this.#settings = settings;
    this.#run = run;
    this.#open = open;
  }

  readonly faults = (): Promise<unknown> => {
    const { faultsMs, requests, killEveryMs, personEveryMs, clockEveryMs } = this.#settings;
    const run = this.#run;
    const confirmEveryMs = (faultsMs * 0.7) / requests;
    return Promise.all([
      run.again([confirmEveryMs * 0.5, confirmEveryMs * 1.5], (random) => this.#confirm(random)),
      run.again([300, 900], (random) => this.#plan(random)),
      run.again(killEveryMs, (random) => this.#kill(random)),
      run.again(personEveryMs, (random) => this.#person(random)),
      run.again(clockEveryMs, (random) => this.#passTime(random)),
      run.again([150, 250], () => observe(this.#stage, run.findings)),
    ]);
  };

  /** After the faults: waiting work is done, hanging runs expire, and nothing may be left. */
  readonly rest = async (): Promise<void> => {
    const stage = this.#stage;
    stage.sandbox.faults.clear();
    stage.sandbox.github.planNext(calm);
    await stage.startAll();
    for (const id of this.#open.splice(0)) await this.#confirmed(id);
    while (!this.#run.over.aborted) {
      await stage.passTime();
      await observe(stage, this.#run.findings);
      const open = await this.#openJobs();
      if (open.length === 0 && (await this.#isQuiet())) return;
      for (const job of open) if (!this.#isAtWork(job)) await stage.age(job, 3);
      await pause(500, this.#run.over);
    }
  };

  readonly judge = (): Promise<void> => judge(this.#stage, this.#run.findings);

  readonly sections = async () => ({
    "what there is": {
      ...(await this.#stage.counts(
        `select 'jobs ' || state as what, count(*)::integer as n from provisioning.jobs group by state
       union all select concat_ws(' ', task, status, ended_because), count(*) from provisioning.attempts group by 1
       union all select 'callbacks ' || outcome, count(*) from provisioning.callbacks group by outcome`,
      )),
      "runs at GitHub": this.#stage.sandbox.github.runs().length,
    },
    "what happened": this.#run.did,
  });

  readonly progress = (): string => {
    const runs = this.#stage.sandbox.github.runs();
    const open = runs.filter(({ status }) => status !== "completed").length;
    return `${this.#open.length} to be confirmed, ${runs.length} runs, ${open} of them under way`;
  };

  async #confirm(random: Random): Promise<void> {
    const id = this.#open.splice(random.between(0, this.#open.length - 1), 1)[0];
    if (id !== undefined) await this.#confirmed(id);
  }

  /** A caller that gets no answer tries again. */
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
      ["backends", 3],
      ["a script", 4],
    ] as const);
    this.#run.count(`killed: ${kill}`);
    if (kill === "the relay") await stage.killRelay();
    else if (kill === "the server") await stage.killServer();
    else if (kill === "Postgres") await stage.crashPostgres();
    else if (kill === "backends") await stage.killBackends();
    else if (kill === "a script") {
      const run = random.pickAny(stage.sandbox.github.runs().filter(({ status }) => status === "in_progress"));
      const command = random.pick(["all", "start", "exec", "heartbeats", "finish"]);
      if (run !== undefined)
        stage.killScript({ id: run.inputs["job_id"] ?? "" }, command === "all" ? undefined : command);
    } else if (kill === "the relay at a step") {
      const at = random.pick(trapSteps);
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
    const waiting = random.pickAny(jobs.filter(({ state }) => state === "failed"));
    const open = random.pickAny(
      jobs.filter(({ state }) => ["waiting", "queued", "provisioning", "failed"].includes(state)),
    );
    const leftover = random.pickAny(jobs.filter(({ cleanup }) => cleanup === "failed"));
    const run = random.pickAny(stage.sandbox.github.runs());
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
    this.#run.count(`people: ${act}`);
  }

  async #passTime(random: Random): Promise<void> {
    await this.#stage.passTime();
    const job = random.pickAny(await this.#openJobs());
    if (job === undefined) return;
    // Silence is resolved by querying GitHub, then by giving up; a healthy run may be given up too.
    const isAtWork = this.#isAtWork(job);
    if (!isAtWork || random.chance(0.05)) await this.#stage.age(job, isAtWork ? 11 : 3);
  }

  /** Jobs with an attempt or a cleanup in progress, or that wait for one. After a failed cleanup they wait for a person. */
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
    const left = await this.#stage.countOf("outbox.pending");
    return left === 0 && this.#stage.sandbox.github.runs().every(({ status }) => status === "completed");
  }
}
