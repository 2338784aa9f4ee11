/** Brings jobs into each wait in tests, lets time pass, and shows what they wait for and who was told. */
import { oneOf, rowsOf } from "../capacity/harness.ts";
import type { Job, Provisioning } from "./harness.ts";

const operator = "<@U0OTTO>";

export interface Waiting {
  /** What a job waits for, in the words of provisioning.wait_rules(). */
  readonly waitsOf: (job: Job) => Promise<string[]>;
  /** Notices about the job, after the first so many, that named an operator. */
  readonly askedSince: (job: Job, before: number) => Promise<string[]>;
  /** A run that nobody knows. */
  readonly nextRun: () => number;
  /** Every cleanup after its first attempt fails. */
  readonly cleanupsFail: (job: Job) => Promise<void>;
  readonly retry: (job: Job) => Promise<unknown>;
  /** An attempt was requested while the cleanup was running, which then failed permanently. Default: of a new job. */
  readonly onTopOfALeftover: (job?: Job) => Promise<Job>;
  /** Time passes, with a sweep every hour. */
  readonly hours: (job: Job, count: number) => Promise<void>;
}

/** The value as it is in JSON. */
const beginning = (said: string): string => JSON.stringify(said.slice(0, 40)).slice(1, -1);

export function waitingOn(p: Provisioning): Waiting {
  let runs = 800_000;
  const nextRun = (): number => (runs += 1);

  const waitsOf: Waiting["waitsOf"] = async (job) => {
    const { waits } = await oneOf<{ waits: string[] }>(
      p.superuser,
      "select provisioning.waits_of(j) as waits from provisioning.jobs j where id = $1",
      [job.id],
    );
    return waits;
  };

  const askedSince: Waiting["askedSince"] = async (job, before) => {
    const notices = await rowsOf<{ said: string }>(
      p.superuser,
      "select said from capacity.notices where request_id = $1 and kind = 'job' order by id offset $2",
      [job.request_id, before],
    );
    const replies = (await p.effects(job.request_id))
      .filter(({ effect }) => effect === "slack:reply")
      .map(({ payload }) => JSON.stringify(payload["blocks"]))
      .filter((text) => text.includes(operator));
    return notices.map(({ said }) => said).filter((said) => replies.some((text) => text.includes(beginning(said))));
  };

  const cleanupsFail: Waiting["cleanupsFail"] = async (job) => {
    for (const attempt of [1, 2, 3]) {
      await p.says(job, { signal: "failed", task: "cleanup", attempt, run_id: nextRun(), error: "still there" });
    }
  };

  const retry: Waiting["retry"] = (job) =>
    p.superuser.query("select public.retry_provisioning_job($1, 'again', 'rita')", [job.id]);

  return {
    waitsOf,
    askedSince,
    nextRun,
    cleanupsFail,
    retry,
    async onTopOfALeftover(made) {
      const job = made ?? (await p.confirmed());
      await p.says(job, { signal: "failed", error: "no" });
      await retry(job);
      await cleanupsFail(job);
      return p.job(job.request_id);
    },
    async hours(job, count) {
      for (let hour = 0; hour < count; hour += 1) {
        await p.age(job, 60);
        await p.sweep();
      }
    },
  };
}
