/**
 * Every part of provisioning is killed with -9 at every step at which it works: the relay, the server, Postgres, the workflow script. Each is
 * started again, and the job ends: running, or failed and cleaned up. No job is lost, none runs twice, none is stuck.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { pause } from "../../../src/db/wait/pause.ts";
import type { PlanInput } from "../../../src/sandbox/github/run-plan.ts";
import { Findings } from "../findings.ts";
import { renderFindings } from "../report.ts";
import { judge } from "./oracle.ts";
import { calm } from "./settings.ts";
import { ProvisioningStage, type Job } from "./stage.ts";

/** Works until it is allowed to hurry. */
const working: PlanInput = { ...calm, speed: "slow" };

let stage: ProvisioningStage;
let customers = 0;

beforeAll(async () => {
  stage = await ProvisioningStage.open();
});
afterAll(() => stage.close());
beforeEach(async () => {
  stage.sandbox.faults.clear();
  stage.sandbox.github.planNext(calm);
});
afterEach(async () => {
  await stage.startServer();
  await stage.startRelay();
});

describe("killed at each step", { timeout: 120_000 }, () => {
  describe("after the job is committed, before the dispatch is sent", () => {
    test("the relay", async () => {
      await stage.startRelay({ operation: "dispatch", at: "send.before" });
      const job = await confirmed();
      await stage.relayGone();
      expect(stage.runsOf(job)).toEqual([]);
      await stage.startRelay();
      await runs(job);
    });

    test("Postgres", async () => {
      await stage.killRelay();
      const job = await confirmed();
      await stage.crashPostgres();
      await stage.startRelay();
      await runs(job);
    });

    test("Postgres, a moment before the commit", async () => {
      const id = await stage.request(nextCustomer());
      const client = await stage.connect();
      await client.query("begin");
      await client.query(
        "select from capacity.apply($1, 'CUSTOMER_CONFIRMED', row('customer', 'customer', 'test')::capacity.actor, '{}')",
        [id],
      );
      await stage.crashPostgres();
      await client.end().catch(() => undefined);
      await expect(stage.job(id)).rejects.toThrow("has no job");
      await stage.startRelay();
      await runs(await stage.confirm(id));
    });
  });

  describe("after GitHub accepted the dispatch, before that is settled", () => {
    test.each(["send.after", "settle.before"] as const)("the relay, at %s", async (at) => {
      await stage.startRelay({ operation: "dispatch", at });
      const job = await confirmed();
      await stage.relayGone();
      expect(stage.runsOf(job)).toHaveLength(1);
      await stage.startRelay();
      await runs(job);
    });

    test("Postgres", async () => {
      await stage.startRelay();
      hold("dispatch");
      const job = await confirmed();
      await run(job, "provision");
      await stage.crashPostgres();
      stage.sandbox.faults.release();
      await runs(job);
    });
  });

  describe("while the claim is taken in, before its commit", () => {
    /** Holds the request, so that the claim waits; resolves with the backend that takes it in. */
    async function claiming(): Promise<{ job: Job; backend: number; letGo: () => Promise<void> }> {
      await stage.startRelay();
      const id = await stage.request(nextCustomer());
      const client = await stage.connect();
      const job = await stage.confirm(id);
      await client.query("begin");
      await client.query("select from capacity.requests where id = $1 for update", [id]);
      const waiting =
        "select pid from pg_stat_activity where cardinality(pg_blocking_pids(pid)) > 0 and query like '%provisioning_callback%'";
      const backend = await eventually(
        async () => (await stage.rows<{ pid: number }>(waiting))[0]?.pid,
        "a claim that waits",
      );
      return { job, backend, letGo: () => client.end().catch(() => undefined) };
    }

    test("its backend", async () => {
      const { job, backend, letGo } = await claiming();
      await stage.rows("select pg_terminate_backend($1)", [backend]);
      await letGo();
      await runs(job);
    });

    test("the server", async () => {
      const { job, letGo } = await claiming();
      await stage.killServer();
      await letGo();
      await stage.startServer();
      await runs(job);
    });

    test("Postgres", async () => {
      const { job, letGo } = await claiming();
      await stage.crashPostgres();
      await letGo();
      await runs(job);
    });
  });

  describe("after the claim's commit, before its answer", () => {
    test("the server", async () => {
      await stage.startServer({ task: "provision", signal: "claim" });
      await stage.startRelay();
      const job = await confirmed();
      await stage.serverGone();
      expect(await stage.attemptsOf(job)).toEqual(["provision 1 claimed"]);
      await stage.startServer();
      await runs(job);
    });

    test("Postgres", async () => {
      const job = await heldAt("callback.claim", "provision 1 claimed");
      await stage.crashPostgres();
      stage.sandbox.faults.release();
      await runs(job);
    });

    test("the script: what it may have begun is cleaned up", async () => {
      const job = await heldAt("callback.claim", "provision 1 claimed");
      expect(stage.killScript(job, "start")).toBe(1);
      await failsCleanly(job, ["provision 1 failed reported", "cleanup 1 succeeded reported"]);
    });
  });

  describe("between heartbeats", () => {
    async function atWork(plan: PlanInput = working): Promise<Job> {
      stage.sandbox.github.planNext(plan);
      await stage.startRelay();
      const job = await confirmed();
      const { id } = await run(job, "provision");
      stage.sandbox.github.planNext(calm);
      await eventually(() => stage.runsOf(job)[0]?.script?.steps[1]?.state === "runs" || undefined, "the run to work");
      if (plan === working) stage.sandbox.github.plan(id, { speed: "quick" });
      return job;
    }

    test("the server", async () => {
      const job = await atWork();
      await stage.killServer();
      await stage.startServer();
      await runs(job);
    });

    test("the relay", async () => {
      const job = await atWork();
      await stage.killRelay();
      await stage.startRelay();
      await runs(job);
    });

    test("Postgres", async () => {
      const job = await atWork();
      await stage.crashPostgres();
      await runs(job);
    });

    test("the script's heartbeats: the work goes on", async () => {
      const job = await atWork();
      expect(stage.killScript(job, "heartbeats")).toBe(1);
      await runs(job);
    });

    test("all of the script: the runner reports it", async () => {
      const job = await atWork();
      expect(stage.killScript(job)).toBeGreaterThan(1);
      await failsCleanly(job, ["provision 1 failed reported", "cleanup 1 succeeded reported"]);
    });

    test("the runner with the script: GitHub is asked", async () => {
      const job = await atWork({ ...calm, outcome: "crashes" });
      await stage.sandbox.github.ended(stage.runsOf(job)[0]?.id ?? 0);
      await stage.age(job, 3);
      await failsCleanly(job, ["provision 1 failed run_ended", "cleanup 1 succeeded reported"]);
    });
  });

  describe("after the result's commit, before its answer", () => {
    test("the server, after a success", async () => {
      await stage.startServer({ task: "provision", signal: "succeeded" });
      await stage.startRelay();
      const job = await confirmed();
      await stage.serverGone();
      expect(await stage.job(job.request_id)).toMatchObject({ state: "running" });
      await stage.startServer();
      await runs(job);
    });

    test("the server, after a failure", async () => {
      await stage.startServer({ task: "provision", signal: "failed" });
      stage.sandbox.github.planNext({ ...calm, outcome: "fails", affects: "provision" });
      await stage.startRelay();
      const job = await confirmed();
      await stage.serverGone();
      await stage.startServer();
      await failsCleanly(job);
    });

    test("Postgres", async () => {
      const job = await heldAt("callback.succeeded", "provision 1 succeeded reported");
      await stage.crashPostgres();
      stage.sandbox.faults.release();
      await runs(job);
    });

    test("the script", async () => {
      const job = await heldAt("callback.succeeded", "provision 1 succeeded reported");
      expect(stage.killScript(job, "finish")).toBe(1);
      await runs(job);
    });
  });

  describe("after the stop was sent", () => {
    /** A run that hangs, and has been given up by the sweep; nobody has told GitHub yet. */
    async function givenUp(): Promise<Job> {
      stage.sandbox.github.planNext({ ...calm, outcome: "hangs", slowToStop: true });
      await stage.startRelay();
      const job = await confirmed();
      await eventually(() => said(job, "hangs on purpose") || undefined, "the run to hang");
      await stage.killRelay();
      stage.sandbox.github.planNext(calm);
      await stage.age(job, 11);
      await stage.until(job.request_id, ({ state }) => state === "failed", "given up");
      return job;
    }
    const ended = ["provision 1 stopped stale", "cleanup 1 succeeded reported"];

    test.each(["send.after", "settle.before", "settle.after"] as const)("the relay, at %s", async (at) => {
      const job = await givenUp();
      await stage.startRelay({ operation: "stop", at });
      await stage.relayGone();
      await stage.startRelay();
      await failsCleanly(job, ended);
    });

    test("Postgres", async () => {
      const job = await givenUp();
      hold("cancelRun");
      await stage.startRelay();
      await eventually(
        () => stage.sandbox.requests.list().some(({ method }) => method === "cancelRun") || undefined,
        "a cancellation",
      );
      await stage.crashPostgres();
      stage.sandbox.faults.release();
      await failsCleanly(job, ended);
    });

    test("the server, while the run is still to end", async () => {
      const job = await givenUp();
      await stage.killServer();
      await stage.startRelay();
      await eventually(() => stage.runsOf(job)[0]?.status === "completed" || undefined, "the run to end");
      await stage.startServer();
      await failsCleanly(job, ended);
    });

    test("the script, which is killed by the stop as well", async () => {
      const job = await givenUp();
      stage.killScript(job);
      await stage.startRelay();
      await failsCleanly(job, ended);
    });
  });

  describe("during the cleanup", () => {
    const ended = ["provision 1 failed reported", "cleanup 1 succeeded reported"];
    /** An attempt that failed; its cleanup is committed, and not dispatched yet. */
    async function failed(): Promise<Job> {
      stage.sandbox.github.planNext({ ...calm, outcome: "fails", affects: "provision" });
      await stage.startRelay({ operation: "dispatch", at: "settle.after" });
      const job = await confirmed();
      await stage.relayGone();
      await eventually(async () => (await stage.job(job.request_id)).state === "failed" || undefined, "the failure");
      return job;
    }

    test.each(["send.before", "send.after", "settle.before"] as const)("the relay, at %s", async (at) => {
      const job = await failed();
      await stage.startRelay({ operation: "dispatch", at });
      await stage.relayGone();
      await stage.startRelay();
      await failsCleanly(job, ended);
    });

    test.each(["claim", "succeeded"] as const)("the server, before the answer to %s", async (signal) => {
      const job = await failed();
      await stage.startServer({ task: "cleanup", signal });
      await stage.startRelay();
      await stage.serverGone();
      await stage.startServer();
      await failsCleanly(job, ended);
    });

    test("Postgres", async () => {
      const job = await failed();
      hold("callback.claim");
      await stage.startRelay();
      await eventually(
        async () => (await stage.attemptsOf(job)).includes("cleanup 1 claimed") || undefined,
        "the cleanup to begin",
      );
      await stage.crashPostgres();
      stage.sandbox.faults.release();
      await failsCleanly(job, ended);
    });

    test("the runner with the script: it is cleaned up again", async () => {
      const job = await failed();
      stage.sandbox.github.planNext({ ...calm, outcome: "crashes" });
      await stage.startRelay();
      const { id } = await run(job, "cleanup");
      stage.sandbox.github.planNext(calm);
      await stage.sandbox.github.ended(id);
      await stage.age(job, 3);
      await failsCleanly(job, [
        "provision 1 failed reported",
        "cleanup 1 failed run_ended",
        "cleanup 2 succeeded reported",
      ]);
    });
  });

  describe("after a retry was asked for", () => {
    const ended = ["provision 1 failed reported", "cleanup 1 succeeded reported", "provision 2 succeeded reported"];
    /** A failed attempt whose cleanup is held at its claim. */
    async function cleaningUp(): Promise<Job> {
      stage.sandbox.github.planNext({ ...calm, outcome: "fails", affects: "provision" });
      await stage.startRelay();
      const job = await confirmed();
      await eventually(async () => (await stage.job(job.request_id)).state === "failed" || undefined, "the failure");
      stage.sandbox.github.planNext(calm);
      return job;
    }

    test("Postgres, while the cleanup is under way", async () => {
      hold("callback.claim", 1);
      const job = await cleaningUp();
      await eventually(
        async () => (await stage.attemptsOf(job)).includes("cleanup 1 claimed") || undefined,
        "the cleanup to begin",
      );
      await stage.retry(job);
      expect(await stage.job(job.request_id)).toMatchObject({ state: "waiting", attempts: 1 });
      await stage.crashPostgres();
      stage.sandbox.faults.release();
      await runs(job, ended);
    });

    test.each(["send.before", "send.after", "settle.before"] as const)("the relay, at %s", async (at) => {
      const job = await cleaningUp();
      await stage.until(job.request_id, ({ cleanup }) => cleanup === "done", "cleaned up");
      await stage.killRelay();
      await stage.retry(job);
      await stage.startRelay({ operation: "dispatch", at });
      await stage.relayGone();
      await stage.startRelay();
      await runs(job, ended);
    });

    test("the server, before the answer to the cleanup that begins the attempt", async () => {
      await stage.startServer({ task: "cleanup", signal: "succeeded" });
      hold("callback.claim", 1);
      const job = await cleaningUp();
      await eventually(
        async () => (await stage.attemptsOf(job)).includes("cleanup 1 claimed") || undefined,
        "the cleanup to begin",
      );
      await stage.retry(job);
      stage.sandbox.faults.release();
      await stage.serverGone();
      expect(await stage.job(job.request_id)).toMatchObject({ state: "queued", attempts: 2 });
      await stage.startServer();
      await runs(job, ended);
    });

    test("the script of the second attempt: that is cleaned up too", async () => {
      const job = await cleaningUp();
      await stage.until(job.request_id, ({ cleanup }) => cleanup === "done", "cleaned up");
      hold("callback.claim");
      await stage.retry(job);
      await eventually(
        async () => (await stage.attemptsOf(job)).includes("provision 2 claimed") || undefined,
        "the claim",
      );
      expect(stage.killScript(job, "start")).toBe(1);
      stage.sandbox.faults.release();
      await failsCleanly(job, [
        "provision 1 failed reported",
        "cleanup 1 succeeded reported",
        "provision 2 failed reported",
        "cleanup 2 succeeded reported",
      ]);
    });
  });
});

function said(job: Job, words: string): boolean {
  return stage.runsOf(job).some(({ script }) => script?.log.some((line) => line.includes(words)));
}

function nextCustomer(): string {
  customers += 1;
  return `customer-${customers}`;
}

async function confirmed(): Promise<Job> {
  return stage.confirm(await stage.request(nextCustomer()));
}

/** The next call of this kind is carried out, and its answer is held back until `release`. */
function hold(method: string, after = 0): void {
  stage.sandbox.faults.add({ provider: "github", method, kind: "late", times: 1, after });
}

/** A job whose callback was committed, and whose script still waits for the answer. */
async function heldAt(method: string, attempt: string): Promise<Job> {
  hold(method);
  await stage.startRelay();
  const job = await confirmed();
  await eventually(async () => (await stage.attemptsOf(job)).includes(attempt) || undefined, attempt);
  return job;
}

async function run(job: Job, task: "provision" | "cleanup"): Promise<{ id: number }> {
  return eventually(() => stage.runsOf(job, task)[0], `a run to ${task}`);
}

/** It runs, after one attempt that one run has claimed. */
async function runs(job: Job, attempts: readonly string[] = ["provision 1 succeeded reported"]): Promise<void> {
  await stage.until(job.request_id, ({ state }) => state === "running", "running");
  await atRest(job, attempts);
}

/** It has failed, and what it left is cleaned up. */
async function failsCleanly(
  job: Job,
  attempts: readonly string[] = ["provision 1 failed reported", "cleanup 1 succeeded reported"],
): Promise<void> {
  await stage.until(job.request_id, ({ state, cleanup }) => state === "failed" && cleanup === "done", "cleaned up");
  await atRest(job, attempts);
}

async function atRest(job: Job, attempts: readonly string[]): Promise<void> {
  for (const { id } of stage.runsOf(job)) await stage.sandbox.github.ended(id);
  await eventually(async () => {
    await stage.passTime();
    const [left] = await stage.rows<{ n: number }>("select count(*)::integer as n from outbox.pending");
    return left?.n === 0 || undefined;
  }, "nothing to be left in the outbox");
  expect(await stage.attemptsOf(job)).toEqual(attempts);
  const findings = new Findings();
  await judge(stage, findings);
  expect(renderFindings(findings.list)).toBe("All invariants hold.");
}

async function eventually<T>(read: () => T | undefined | Promise<T | undefined>, what: string): Promise<T> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const value = await read();
    if (value !== undefined) return value;
    if (performance.now() > deadline) throw new Error(`Waited in vain for ${what}`);
    await pause(25);
  }
}
