/**
 * Every part of provisioning is killed with -9 at every step of an attempt at which it works: the relay, the server, Postgres, the workflow
 * script. Each is started again, and the job ends: running, or failed and cleaned up. No job is lost, none runs twice, none is stuck.
 */
import { expect } from "vitest";
import type { PlanInput } from "../../../src/sandbox/github/run-plan.ts";
import { eventually } from "../kit/eventually.ts";
import { collectTests, ofTier } from "../kit/tiers.ts";
import { calm } from "./settings.ts";
import { confirmed, failsCleanly, firstRun, heldAt, hold, nextCustomer, runs, stage, testKills } from "./kill-scene.ts";
import type { Job } from "./stage.ts";

const kills = collectTests();

/** Works slowly until it is sped up. */
const working: PlanInput = { ...calm, speed: "slow" };

kills.add("the relay, before the dispatch is sent", async () => {
  await stage().startRelay({ operation: "dispatch", at: "send.before" });
  const job = await confirmed();
  await stage().relayGone();
  expect(stage().runsOf(job)).toEqual([]);
  await stage().startRelay();
  await runs(job);
});

kills.add("Postgres, before the dispatch is sent", async () => {
  await stage().killRelay();
  const job = await confirmed();
  await stage().crashPostgres();
  await stage().startRelay();
  await runs(job);
});

kills.add("Postgres, a moment before the commit, before the dispatch is sent", async () => {
  const id = await stage().request(nextCustomer());
  const client = await stage().connect();
  await client.query("begin");
  await client.query(
    "select from capacity.decide($1, 'CUSTOMER_CONFIRMED', row('customer', 'customer', 'test')::capacity.actor, '{}')",
    [id],
  );
  await stage().crashPostgres();
  await client.end().catch(() => undefined);
  await expect(stage().job(id)).rejects.toThrow("has no job");
  await stage().startRelay();
  await runs(await stage().confirm(id));
});

for (const at of ["send.after", "settle.before"] as const)
  kills.add(`the relay, at ${at}, before the dispatch is settled`, async () => {
    await stage().startRelay({ operation: "dispatch", at });
    const job = await confirmed();
    await stage().relayGone();
    expect(stage().runsOf(job)).toHaveLength(1);
    await stage().startRelay();
    await runs(job);
  });

kills.add("Postgres, before the dispatch is settled", async () => {
  await stage().startRelay();
  hold("dispatch");
  const job = await confirmed();
  await firstRun(job, "provision");
  await stage().crashPostgres();
  stage().sandbox.faults.release();
  await runs(job);
});

/** Holds the request, so that the claim waits; resolves with the backend that processes it. */
async function claiming(): Promise<{ job: Job; backend: number; letGo: () => Promise<void> }> {
  await stage().startRelay();
  const id = await stage().request(nextCustomer());
  const client = await stage().connect();
  const job = await stage().confirm(id);
  await client.query("begin");
  await client.query("select from capacity.requests where id = $1 for update", [id]);
  const waiting =
    "select pid from pg_stat_activity where cardinality(pg_blocking_pids(pid)) > 0 and query like '%provisioning_callback%'";
  const backend = await eventually(
    async () => (await stage().rows<{ pid: number }>(waiting))[0]?.pid,
    "a claim that waits",
  );
  return { job, backend, letGo: () => client.end().catch(() => undefined) };
}

kills.add("its backend, while the claim is taken in", async () => {
  const { job, backend, letGo } = await claiming();
  await stage().rows("select pg_terminate_backend($1)", [backend]);
  await letGo();
  await runs(job);
});

kills.add("the server, while the claim is taken in", async () => {
  const { job, letGo } = await claiming();
  await stage().killServer();
  await letGo();
  await stage().startServer();
  await runs(job);
});

kills.add("Postgres, while the claim is taken in", async () => {
  const { job, letGo } = await claiming();
  await stage().crashPostgres();
  await letGo();
  await runs(job);
});

kills.add("the server, before the claim is answered", async () => {
  await stage().startServer({ task: "provision", signal: "claim" });
  await stage().startRelay();
  const job = await confirmed();
  await stage().serverGone();
  expect(await stage().attemptsOf(job)).toEqual(["provision 1 claimed"]);
  await stage().startServer();
  await runs(job);
});

kills.add("Postgres, before the claim is answered", async () => {
  const job = await heldAt("callback.claim", "provision 1 claimed");
  await stage().crashPostgres();
  stage().sandbox.faults.release();
  await runs(job);
});

kills.add("the script, before the claim is answered: what it may have begun is cleaned up", async () => {
  const job = await heldAt("callback.claim", "provision 1 claimed");
  expect(stage().killScript(job, "start")).toBe(1);
  await failsCleanly(job, ["provision 1 failed reported", "cleanup 1 succeeded reported"]);
});

async function atWork(plan: PlanInput = working): Promise<Job> {
  stage().sandbox.github.planNext(plan);
  await stage().startRelay();
  const job = await confirmed();
  const { id } = await firstRun(job, "provision");
  stage().sandbox.github.planNext(calm);
  await eventually(() => stage().runsOf(job)[0]?.script?.steps[1]?.state === "runs", "the run to work");
  if (plan === working) stage().sandbox.github.plan(id, { speed: "quick" });
  return job;
}

kills.add("the server, between heartbeats", async () => {
  const job = await atWork();
  await stage().killServer();
  await stage().startServer();
  await runs(job);
});

kills.add("the relay, between heartbeats", async () => {
  const job = await atWork();
  await stage().killRelay();
  await stage().startRelay();
  await runs(job);
});

kills.add("Postgres, between heartbeats", async () => {
  const job = await atWork();
  await stage().crashPostgres();
  await runs(job);
});

kills.add("the script's heartbeats, between heartbeats: the work goes on", async () => {
  const job = await atWork();
  expect(stage().killScript(job, "heartbeats")).toBe(1);
  await runs(job);
});

kills.add("all of the script, between heartbeats: the runner reports it", async () => {
  // Not sped up: on a busy machine it would have ended by then.
  const job = await atWork({ ...working });
  expect(stage().killScript(job)).toBeGreaterThan(1);
  await failsCleanly(job, ["provision 1 failed reported", "cleanup 1 succeeded reported"]);
});

kills.add("the runner with the script, between heartbeats: GitHub is asked", async () => {
  const job = await atWork({ ...calm, outcome: "crashes" });
  await stage().sandbox.github.ended(stage().runsOf(job)[0]?.id ?? 0);
  await stage().age(job, 3);
  await failsCleanly(job, ["provision 1 failed run_ended", "cleanup 1 succeeded reported"]);
});

kills.add("the server, after a success, before the result is answered", async () => {
  await stage().startServer({ task: "provision", signal: "succeeded" });
  await stage().startRelay();
  const job = await confirmed();
  await stage().serverGone();
  expect(await stage().job(job.request_id)).toMatchObject({ state: "running" });
  await stage().startServer();
  await runs(job);
});

kills.add("the server, after a failure, before the result is answered", async () => {
  await stage().startServer({ task: "provision", signal: "failed" });
  stage().sandbox.github.planNext({ ...calm, outcome: "fails", affects: "provision" });
  await stage().startRelay();
  const job = await confirmed();
  await stage().serverGone();
  await stage().startServer();
  await failsCleanly(job);
});

kills.add("Postgres, before the result is answered", async () => {
  const job = await heldAt("callback.succeeded", "provision 1 succeeded reported");
  await stage().crashPostgres();
  stage().sandbox.faults.release();
  await runs(job);
});

kills.add("the script, before the result is answered", async () => {
  const job = await heldAt("callback.succeeded", "provision 1 succeeded reported");
  expect(stage().killScript(job, "finish")).toBe(1);
  await runs(job);
});

testKills(await ofTier(kills.tests, 4));
