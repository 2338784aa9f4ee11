/**
 * The parts of provisioning are killed with -9 after an attempt has failed: while its run is stopped, while it is cleaned up after, and when
 * somebody has asked for another. The attempts before that are in kills.test.ts.
 */
import { expect } from "vitest";
import { eventually } from "../kit/eventually.ts";
import { collectTests, ofTier } from "../kit/tiers.ts";
import { confirmed, failsCleanly, firstRun, hold, runs, said, stage, testKills } from "./kill-scene.ts";
import { calm } from "./settings.ts";
import type { Job } from "./stage.ts";

const kills = collectTests();

/** A run that hangs and that the sweep has given up; GitHub has not been told yet. */
async function givenUp(): Promise<Job> {
  stage().sandbox.github.planNext({ ...calm, outcome: "hangs", slowToStop: true });
  await stage().startRelay();
  const job = await confirmed();
  await eventually(() => said(job, "hangs on purpose"), "the run to hang");
  await stage().killRelay();
  stage().sandbox.github.planNext(calm);
  await stage().age(job, 11);
  await stage().until(job.request_id, ({ state }) => state === "failed", "given up");
  return job;
}

const stopped = ["provision 1 stopped stale", "cleanup 1 succeeded reported"];

for (const at of ["send.after", "settle.before", "settle.after"] as const)
  kills.add(`the relay, at ${at}, after the stop was sent`, async () => {
    const job = await givenUp();
    await stage().startRelay({ operation: "stop", at });
    await stage().relayGone();
    await stage().startRelay();
    await failsCleanly(job, stopped);
  });

kills.add("Postgres, after the stop was sent", async () => {
  const job = await givenUp();
  hold("cancelRun");
  await stage().startRelay();
  await eventually(
    () =>
      stage()
        .sandbox.requests.list()
        .some(({ method }) => method === "cancelRun"),
    "a cancellation",
  );
  await stage().crashPostgres();
  stage().sandbox.faults.release();
  await failsCleanly(job, stopped);
});

kills.add("the server, while the run is still to end, after the stop was sent", async () => {
  const job = await givenUp();
  await stage().killServer();
  await stage().startRelay();
  await eventually(() => stage().runsOf(job)[0]?.status === "completed", "the run to end");
  await stage().startServer();
  await failsCleanly(job, stopped);
});

kills.add("the script, which is killed by the stop as well, after the stop was sent", async () => {
  const job = await givenUp();
  stage().killScript(job);
  await stage().startRelay();
  await failsCleanly(job, stopped);
});

/** An attempt that failed; its cleanup is committed, and not dispatched yet. */
async function failed(): Promise<Job> {
  stage().sandbox.github.planNext({ ...calm, outcome: "fails", affects: "provision" });
  await stage().startRelay({ operation: "dispatch", at: "settle.after" });
  const job = await confirmed();
  await stage().relayGone();
  await eventually(async () => (await stage().job(job.request_id)).state === "failed", "the failure");
  return job;
}

const cleanedUp = ["provision 1 failed reported", "cleanup 1 succeeded reported"];
for (const at of ["send.before", "send.after", "settle.before"] as const)
  kills.add(`the relay, at ${at}, during the cleanup`, async () => {
    const job = await failed();
    await stage().startRelay({ operation: "dispatch", at });
    await stage().relayGone();
    await stage().startRelay();
    await failsCleanly(job, cleanedUp);
  });

for (const signal of ["claim", "succeeded"] as const)
  kills.add(`the server, before the answer to ${signal}, during the cleanup`, async () => {
    const job = await failed();
    await stage().startServer({ task: "cleanup", signal });
    await stage().startRelay();
    await stage().serverGone();
    await stage().startServer();
    await failsCleanly(job, cleanedUp);
  });

kills.add("Postgres, during the cleanup", async () => {
  const job = await failed();
  hold("callback.claim");
  await stage().startRelay();
  await eventually(async () => (await stage().attemptsOf(job)).includes("cleanup 1 claimed"), "the cleanup to begin");
  await stage().crashPostgres();
  stage().sandbox.faults.release();
  await failsCleanly(job, cleanedUp);
});

kills.add("the runner with the script, during the cleanup: it is cleaned up again", async () => {
  const job = await failed();
  stage().sandbox.github.planNext({ ...calm, outcome: "crashes" });
  await stage().startRelay();
  const { id } = await firstRun(job, "cleanup");
  stage().sandbox.github.planNext(calm);
  await stage().sandbox.github.ended(id);
  await stage().age(job, 3);
  await failsCleanly(job, [
    "provision 1 failed reported",
    "cleanup 1 failed run_ended",
    "cleanup 2 succeeded reported",
  ]);
});

/** A failed attempt whose cleanup is held at its claim. */
async function cleaningUp(): Promise<Job> {
  stage().sandbox.github.planNext({ ...calm, outcome: "fails", affects: "provision" });
  await stage().startRelay();
  const job = await confirmed();
  await eventually(async () => (await stage().job(job.request_id)).state === "failed", "the failure");
  stage().sandbox.github.planNext(calm);
  return job;
}

const retried = ["provision 1 failed reported", "cleanup 1 succeeded reported", "provision 2 succeeded reported"];
kills.add("Postgres, while the cleanup is under way, after a retry was asked for", async () => {
  hold("callback.claim", 1);
  const job = await cleaningUp();
  await eventually(async () => (await stage().attemptsOf(job)).includes("cleanup 1 claimed"), "the cleanup to begin");
  await stage().retry(job);
  expect(await stage().job(job.request_id)).toMatchObject({ state: "waiting", attempts: 1 });
  await stage().crashPostgres();
  stage().sandbox.faults.release();
  await runs(job, retried);
});

for (const at of ["send.before", "send.after", "settle.before"] as const)
  kills.add(`the relay, at ${at}, after a retry was asked for`, async () => {
    const job = await cleaningUp();
    await stage().until(job.request_id, ({ cleanup }) => cleanup === "done", "cleaned up");
    await stage().killRelay();
    await stage().retry(job);
    await stage().startRelay({ operation: "dispatch", at });
    await stage().relayGone();
    await stage().startRelay();
    await runs(job, retried);
  });

kills.add(
  "the server, before the answer to the cleanup that begins the attempt, after a retry was asked for",
  async () => {
    await stage().startServer({ task: "cleanup", signal: "succeeded" });
    hold("callback.claim", 1);
    const job = await cleaningUp();
    await eventually(async () => (await stage().attemptsOf(job)).includes("cleanup 1 claimed"), "the cleanup to begin");
    await stage().retry(job);
    stage().sandbox.faults.release();
    await stage().serverGone();
    expect(await stage().job(job.request_id)).toMatchObject({ state: "queued", attempts: 2 });
    await stage().startServer();
    await runs(job, retried);
  },
);

kills.add("the script of the second attempt, after a retry was asked for: that is cleaned up too", async () => {
  const job = await cleaningUp();
  await stage().until(job.request_id, ({ cleanup }) => cleanup === "done", "cleaned up");
  hold("callback.claim");
  await stage().retry(job);
  await eventually(async () => (await stage().attemptsOf(job)).includes("provision 2 claimed"), "the claim");
  expect(stage().killScript(job, "start")).toBe(1);
  stage().sandbox.faults.release();
  await failsCleanly(job, [
    "provision 1 failed reported",
    "cleanup 1 succeeded reported",
    "provision 2 failed reported",
    "cleanup 2 succeeded reported",
  ]);
});

testKills(await ofTier(kills.tests, 3));
