/**
 * How long the script says something until it is heard, how long GitHub lets its steps and the job go on, and when Headroom gives an attempt
 * up: each has to be shorter than the next, or a run that succeeded is ended while it says so.
 */
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { oneOf } from "../capacity/workflow.ts";
import { startProvisioning } from "./jobs.ts";
import { scriptParts } from "./script-parts.ts";

const minuteMs = 60_000;
/** Until Node runs and has read the script, on a slow machine. */
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

  test.each(["provision", "cleanup"])("%s.yml lets no step take the time of the report", async (name) => {
    const { job } = await jobOf(name);
    const minutes = job.steps.reduce((sum, step) => sum + step["timeout-minutes"], 0);
    expect(minutes).toBeLessThanOrEqual(job["timeout-minutes"]);
  });

  test("Headroom gives an attempt up when its job has ended at GitHub, and not before", async () => {
    const settings = await oneOf<{ limit_minutes: number; stale_minutes: number }>(
      p.superuser,
      "select limit_minutes, stale_minutes from provisioning.settings where workspace_id = 'acme'",
    );
    for (const name of ["provision", "cleanup"]) {
      const { job } = await jobOf(name);
      expect(job["timeout-minutes"]).toBeLessThan(settings.limit_minutes);
    }
    // A run that reports says nothing else meanwhile, and one that waits for its dispatch to be known has said nothing yet.
    expect(longestMs("succeeded") + minuteMs).toBeLessThan(settings.stale_minutes * minuteMs);
    expect(longestMs("claim") + minuteMs).toBeLessThan(settings.stale_minutes * minuteMs);
  });

  test("a heartbeat takes little of the user's work, and several fit into what Headroom takes for silence", async () => {
    const job = await p.confirmed();
    const { job: terms } = await p.says(job, { signal: "claim" });
    expect(longestMs("heartbeat")).toBeLessThan(minuteMs);
    expect(Number(terms?.["heartbeat_seconds"]) * 1_000 + longestMs("heartbeat")).toBeLessThan(3 * minuteMs);
  });
});
