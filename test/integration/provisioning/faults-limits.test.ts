/**
 * How long the script repeats a report until it is received, how long GitHub lets its steps and the job run, and when Headroom gives up an
 * attempt: each must be shorter than the next, or a run that succeeded is ended while it reports.
 */
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { oneOf, rowsOf } from "../capacity/harness.ts";
import { startProvisioning, type Job } from "./harness.ts";
import { scriptParts } from "./script-parts.ts";

const minuteMs = 60_000;
/** Time for Node to start and read the script, on a slow machine. */
const startMs = 15_000;

const stepSchema = z.object({ run: z.string().optional(), "timeout-minutes": z.int() });
const workflowSchema = z.object({
  jobs: z.record(z.string(), z.object({ "timeout-minutes": z.int(), steps: z.array(stepSchema) })),
});

async function jobOf(name: string) {
  const text = await readFile(new URL(`../../../deploy/github/${name}.yml`, import.meta.url), "utf8");
  const [job] = Object.values(workflowSchema.parse(parse(text)).jobs);
  if (job === undefined) throw new Error(`${name}.yml has a job`);
  const limitMs = (words: string): number =>
    (job.steps.find(({ run }) => run?.includes(words) === true)?.["timeout-minutes"] ?? 0) * minuteMs;
  return { job, limitMs };
}

describe.each(POSTGRES_VERSIONS.slice(-1))("the limits of a run on PostgreSQL %i", async (version) => {
  const p = await startProvisioning(version);
  const script = await scriptParts();
  const longestMs = (signal: keyof typeof script.patiencesMs): number =>
    script.patiencesMs[signal] + script.callTimeoutMs + startMs;

  test.each(["provision", "cleanup"])("%s.yml leaves its steps the time that the script may need", async (name) => {
    const { limitMs } = await jobOf(name);
    expect(longestMs("claim")).toBeLessThanOrEqual(limitMs("headroom.mjs start"));
    expect(longestMs("succeeded")).toBeLessThanOrEqual(limitMs("headroom.mjs finish"));
    expect(longestMs("failed")).toBeLessThanOrEqual(limitMs("headroom.mjs finish"));
  });

  test.each(["provision", "cleanup"])("%s.yml lets no step use up the time of the report", async (name) => {
    const { job } = await jobOf(name);
    const minutes = job.steps.reduce((sum, step) => sum + step["timeout-minutes"], 0);
    expect(minutes).toBeLessThanOrEqual(job["timeout-minutes"]);
  });

  test("Headroom gives up an attempt when its job has ended at GitHub, and not before", async () => {
    const settings = await oneOf<{ limit_minutes: number; stale_minutes: number }>(
      p.superuser,
      "select limit_minutes, stale_minutes from provisioning.settings where workspace_id = 'acme'",
    );
    for (const name of ["provision", "cleanup"]) {
      const { job } = await jobOf(name);
      expect(job["timeout-minutes"]).toBeLessThan(settings.limit_minutes);
    }
    // A run that reports sends nothing else meanwhile, and one that waits for its dispatch to be known has sent nothing yet.
    expect(longestMs("succeeded") + minuteMs).toBeLessThan(settings.stale_minutes * minuteMs);
    expect(longestMs("claim") + minuteMs).toBeLessThan(settings.stale_minutes * minuteMs);
  });

  const watches = async (job: Job): Promise<number> =>
    (await p.calls(job)).filter(({ key }) => key.startsWith("watch:")).length;

  describe("a run that succeeded without its report being received, at the end of its time", () => {
    const success = [{ id: 0, attempt: 1, status: "completed", conclusion: "success", url: null }];

    async function lateRun(): Promise<{ job: Job; sees: (seenSecondsAgo: number) => Promise<void> }> {
      const job = await p.confirmed();
      await p.says(job, { signal: "claim" });
      const { run_id: id } = await oneOf<{ run_id: number }>(
        p.superuser,
        "select run_id from provisioning.attempts where job_id = $1",
        [job.id],
      );
      const sees = async (seconds: number): Promise<void> => {
        await rowsOf(
          p.superuser,
          `insert into provisioning.sightings (job_id, task, number, runs, seen_at)
           values ($1, 'provision', 1, $2, now() - $3 * interval '1 second')`,
          [job.id, JSON.stringify(success.map((run) => ({ ...run, id }))), seconds],
        );
      };
      return { job, sees };
    }
    test("is checked before its time has ended, however active it was", async () => {
      const { job, sees } = await lateRun();
      await p.age(job, 14);
      await p.says(job, { signal: "heartbeat" });
      await p.sweep();
      expect(await watches(job)).toBe(1);
      await sees(30);
      await p.age(job, 2);
      await p.sweep();
      expect(await p.runs(job)).toEqual(["provision 1 succeeded run_ended"]);
      expect(await p.told(job)).toContain(
        "The run of attempt 1 succeeded, as GitHub says. Its own report did not arrive.",
      );
    });

    test("is not given up while GitHub's answer still has to be read", async () => {
      const { job, sees } = await lateRun();
      await p.age(job, 16);
      // The sweep of these tests makes sightings a minute older: this one is current.
      await sees(-59);
      await p.sweep();
      expect(await p.runs(job)).toEqual(["provision 1 claimed"]);
      await p.age(job, 0);
      await p.sweep();
      expect(await p.runs(job)).toEqual(["provision 1 succeeded run_ended"]);
    });

    test("is checked at most once a minute", async () => {
      const { job } = await lateRun();
      await p.age(job, 14);
      await p.says(job, { signal: "heartbeat" });
      await p.sweep();
      await p.sweep();
      expect(await watches(job)).toBe(1);
    });
  });

  test("a heartbeat takes little of the user's work, and several are sent in what Headroom treats as silence", async () => {
    const job = await p.confirmed();
    const { job: terms } = await p.says(job, { signal: "claim" });
    expect(longestMs("heartbeat")).toBeLessThan(minuteMs);
    expect(Number(terms?.["heartbeat_seconds"]) * 1_000 + longestMs("heartbeat")).toBeLessThan(3 * minuteMs);
  });
});
