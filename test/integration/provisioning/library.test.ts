/** The functions of "headroom/provisioning", as an operator of the installation calls them. */
import { expect, test } from "vitest";
import {
  completeJob,
  dropPreviousSecret,
  failJob,
  getJob,
  jobCounts,
  listJobs,
  listSettings,
  putCallbackSecret,
  putSettings,
  retryJob,
  verifyJobs,
  type VerifiedJobs,
} from "../../../src/provisioning/index.ts";
import { callbackSecret, secretKey, startProvisioning, type Job } from "./harness.ts";

const p = await startProvisioning(18);
const control = p.db.as("headroom_control");

async function failed(): Promise<Job> {
  const job = await p.confirmed();
  await p.says(job, { signal: "claim" });
  await p.says(job, { signal: "heartbeat", step: "Apply", progress: 40 });
  await p.says(job, { signal: "failed", error: "quota exceeded", failed_step: "Apply" });
  return job;
}

test("a job is found by its id and by its request's, with its runs, steps and history", async () => {
  const { id, request_id: requestId } = await failed();
  const byRequest = await getJob(control.pool, requestId);
  expect(await getJob(control.pool, id)).toEqual(byRequest);
  expect(byRequest).toMatchObject({
    outcome: "found",
    job: {
      id,
      requestId,
      state: "failed",
      attempts: 1,
      mostAttempts: 3,
      cleanup: "under_way",
      heldBy: null,
      runs: [
        {
          task: "provision",
          status: "failed",
          error: "quota exceeded",
          failedStep: "Apply",
          endedBecause: "reported",
          steps: [{ step: "Apply", progress: 40, at: expect.any(Date) }],
        },
        { task: "cleanup", status: "dispatched", cleans: 1, runId: null },
      ],
      history: [
        { event: "CREATED", stateBefore: "new" },
        { event: "DISPATCHED" },
        { event: "CLAIMED" },
        { event: "FAILED" },
      ],
    },
  });
  expect(await getJob(control.pool, "CR-1999-000001")).toMatchObject({ outcome: "refused", code: "not_found" });
});

test("jobs are listed newest first, by workspace and state", async () => {
  const older = await failed();
  const newer = await p.confirmed();
  const answer = await listJobs(control.pool, { workspaceId: "acme", states: ["failed", "queued"], limit: 2 });
  expect(answer).toMatchObject({
    outcome: "listed",
    jobs: [
      { id: newer.id, state: "queued", runId: null },
      { id: older.id, state: "failed", step: "Apply", progress: 40, error: "quota exceeded" },
    ],
  });
  expect(await listJobs(control.pool, { workspaceId: "globex" })).toEqual({ outcome: "listed", jobs: [] });
  expect(await listJobs(control.pool, { limit: 0 })).toMatchObject({ outcome: "refused", code: "invalid_input" });
  const counts = await jobCounts(control.pool);
  expect(counts.find(({ state }) => state === "queued")?.jobs).toBeGreaterThan(0);
  expect(counts.map(({ state }) => state).toSorted()).toEqual([
    "cleanup_failed",
    "failed",
    "not_dispatched",
    "provisioning",
    "queued",
    "waiting",
  ]);
});

test("people request another attempt, and record outcomes, on the version that they saw", async () => {
  const job = await failed();
  const reason = "The quota was raised.";
  expect(await retryJob(control.pool, job.id, { as: "rita", reason, expectedVersion: 1 })).toMatchObject({
    outcome: "refused",
    code: "stale_version",
  });
  expect(await failJob(control.pool, job.id, { as: "rita", reason })).toMatchObject({ code: "not_allowed" });
  const retried = await retryJob(control.pool, job.id, { as: "rita", reason });
  expect(retried).toMatchObject({ outcome: "recorded", job: { state: "waiting", heldBy: "cleanup" } });
  expect(await completeJob(control.pool, job.id, { as: "otto", reason: "Bought elsewhere." })).toMatchObject({
    outcome: "recorded",
    job: { state: "running" },
  });
  const other = await failed();
  expect(await failJob(control.pool, other.request_id, { as: "otto", reason: "Not worth it." })).toMatchObject({
    job: { state: "given_up", status: "failed" },
  });
});

test("settings are changed one by one, and a bad one is refused with an explanation", async () => {
  expect(await putSettings(control.pool, "globex", { repo: "infra" })).toMatchObject({
    outcome: "refused",
    code: "invalid_input",
    detail: expect.stringContaining("owner"),
  });
  const put = await putSettings(control.pool, "globex", { owner: "globex", repo: "infra", limitMinutes: 30 });
  expect(put).toMatchObject({ outcome: "put", settings: { ref: "main", limitMinutes: 30, staleMinutes: 10 } });
  await putSettings(control.pool, "globex", { callbackUrl: "https://example.test/hook" });
  const client = await control.connect();
  expect(await listSettings(client, secretKey)).toMatchObject([
    { workspaceId: "acme", secret: "readable", callbackAddress: "https://capacity.acme.example/webhooks/provisioning" },
    { workspaceId: "globex", secret: "missing", callbackAddress: "https://example.test/hook", limitMinutes: 30 },
  ]);
  expect(await listSettings(client)).toMatchObject([{ secret: "unreadable" }, { secret: "missing" }]);
  await client.end();
});

test("a secret is generated when none is given; the previous one is valid until it is dropped", async () => {
  const job = await p.confirmed();
  const client = await control.connect();
  const stored = await putCallbackSecret(client, "acme", { key: secretKey });
  if (stored.outcome === "refused") throw new Error(stored.message);
  expect(stored.secret).toMatch(/^[0-9a-f]{64}$/);
  expect(await p.says(job, { signal: "claim" }, { secret: stored.secret })).toMatchObject({ go_on: true });
  expect(await p.says(job, { signal: "heartbeat" })).toMatchObject({ go_on: true });
  expect(await dropPreviousSecret(client, "acme")).toEqual({ outcome: "dropped" });
  await expect(p.says(job, { signal: "heartbeat" })).rejects.toThrow("signature of the callback is wrong");
  expect(await putCallbackSecret(client, "acme", { key: secretKey, secret: "short" })).toMatchObject({
    outcome: "refused",
    code: "invalid_input",
  });
  await putCallbackSecret(client, "acme", { key: secretKey, secret: callbackSecret });
  await client.end();
});

test("jobs are verified batch by batch, and manual changes are found", async () => {
  const job = await p.confirmed();
  const verified = async (): Promise<VerifiedJobs[]> => {
    const batches: VerifiedJobs[] = [];
    for await (const batch of verifyJobs(p.db.as("headroom_auditor").pool, { jobsPerBatch: 2 })) batches.push(batch);
    return batches;
  };
  const clean = await verified();
  expect(clean.length).toBeGreaterThan(1);
  expect(clean.flatMap(({ findings }) => findings)).toEqual([]);
  await p.superuser.query("update provisioning.jobs set attempts = 2 where id = $1", [job.id]);
  expect((await verified()).flatMap(({ findings }) => findings)).toEqual([
    expect.objectContaining({ invariant: "I7", code: "attempts_miscounted", subject: job.request_id }),
  ]);
  await p.superuser.query("update provisioning.jobs set attempts = 1 where id = $1", [job.id]);
});
