/** What relays found out about runs at GitHub: where they are, and that one ended without a report. */
import { expect, test } from "vitest";
import { getJob } from "../../../src/provisioning/index.ts";
import { rowsOf } from "../capacity/harness.ts";
import { startProvisioning, type Job } from "./harness.ts";

const p = await startProvisioning(18);

/** As a relay leaves it when it settles a call about a run of the job. */
async function seen(job: Job, run: Readonly<Record<string, unknown>>): Promise<void> {
  const captures = [
    { stream: "provisioning", rail: "github-actions", key: `job:${job.id}`, name: "provision-1", value: run },
  ];
  await rowsOf(p.superuser, "select provisioning.keep_sightings($1)", [JSON.stringify(captures)]);
  await p.sweep();
}

async function runOf(job: Job): Promise<unknown> {
  const found = await getJob(p.superuser, job.id);
  return found.outcome === "found" ? found.job.runs[0] : found;
}

test.each([
  ["https://github.com/acme/infrastructure/actions/runs/7", "https://github.com/acme/infrastructure/actions/runs/7"],
  [`https://github.com/${"x".repeat(480)}`, `https://github.com/${"x".repeat(480)}`],
  [`https://github.com/${"x".repeat(500)}`, null],
  ["javascript:alert(1)", null],
])("a run at %s is shown at %s", async (url, shown) => {
  const job = await p.confirmed();
  await seen(job, { id: 7, url, status: "queued" });
  expect(await runOf(job)).toMatchObject({ status: "dispatched", runUrl: shown });
});

test("a run that ended without claiming the job has failed", async () => {
  const job = await p.confirmed();
  await seen(job, { id: 8, attempt: 1, status: "completed", conclusion: "startup_failure" });
  expect(await runOf(job)).toMatchObject({
    status: "failed",
    endedBecause: "run_ended",
    error: "Run 8 ended as startup_failure and never claimed the job.",
  });
});
