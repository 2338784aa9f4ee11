/**
 * A customer's turn: no two of their runs are ever active at the same time. Every way in which a job ends, against the customer's next job,
 * with the later reports of its run.
 */
import { describe, expect, test } from "vitest";
import { rowsOf } from "../capacity/harness.ts";
import { startProvisioning, type Job } from "./harness.ts";

const p = await startProvisioning(18);
let customers = 0;

interface Pair {
  readonly first: Job;
  readonly next: Job;
}

/** Two jobs of one customer: the first has its run, the other waits. */
async function pair(): Promise<Pair> {
  const customer = { org_id: `turn-${(customers += 1)}`, name: "Initrode" };
  const first = await p.confirmed(customer);
  await p.says(first, { signal: "claim" });
  const next = await p.confirmed(customer);
  // It waits, rather than fails to begin.
  const failures = "select message from capacity.timer_failures where request_id = $1";
  expect(await rowsOf(p.superuser, failures, [next.request_id])).toEqual([]);
  return { first, next };
}

const stateOf = async (job: Job): Promise<string> => (await p.job(job.request_id)).state;

/** Its run, as GitHub shows it. */
async function runOf(job: Job): Promise<number> {
  const [row] = await rowsOf<{ id: number }>(
    p.superuser,
    "select run_id as id from provisioning.attempts where job_id = $1 and task = 'provision' order by number desc limit 1",
    [job.id],
  );
  return row!.id;
}

async function cleanedUp(job: Job): Promise<void> {
  const cleanup = { task: "cleanup", attempt: 1, run_id: (await runOf(job)) + 1_000_000 } as const;
  await p.says(job, { signal: "claim", ...cleanup });
  await p.says(job, { signal: "succeeded", ...cleanup });
}

/** Ways to end the first job where it is unknown whether its run has stopped. */
const stopped: Readonly<Record<string, (job: Job) => Promise<unknown>>> = {
  "its request is cancelled": (job) => p.apply(job.request_id, "CANCEL_APPROVED", "rita"),
  "an operator records that the capacity is there": (job) =>
    p.superuser.query("select public.complete_provisioning_job($1, 'bought elsewhere', 'otto')", [job.id]),
  "an operator records that it failed": (job) =>
    p.superuser.query("select public.fail_provisioning_job($1, 'no room', 'otto')", [job.id]),
  "its run falls silent": async (job) => {
    await p.age(job, 11);
    await p.sweep();
  },
  "its run takes too long": async (job) => {
    await p.age(job, 16);
    await p.says(job, { signal: "heartbeat" });
    await p.sweep();
  },
  "its run is started again at GitHub": async (job) => {
    await p.sighted(job, "provision-1", [
      { id: await runOf(job), attempt: 2, status: "in_progress", conclusion: null },
    ]);
    await p.sweep();
  },
  "its request is cancelled, and its customer erased": async (job) => {
    await p.apply(job.request_id, "CANCEL_APPROVED", "rita");
    await p.superuser.query("select public.erase_customer($1, 'asked for it', 'ada')", [job.request_id]);
  },
};

/** How it becomes known that the run has ended. */
const known: Readonly<Record<string, (job: Job) => Promise<unknown>>> = {
  "the run reports late that it succeeded": (job) => p.says(job, { signal: "succeeded" }),
  "the run reports late that it failed": (job) => p.says(job, { signal: "failed" }),
  "GitHub has stopped it": (job) => p.delivered(job, { of: "1", what: "stop" }),
  "a query to GitHub finds it ended": async (job) =>
    p.sighted(job, "provision-1", [
      { id: await runOf(job), attempt: await triesOf(job), status: "completed", conclusion: "cancelled" },
    ]),
};

/** The try of the run that GitHub showed last. */
async function triesOf(job: Job): Promise<number> {
  return (await p.runs(job))[0]?.endsWith("rerun") === true ? 2 : 1;
}

describe.each(Object.entries(stopped))("when %s", (_how, end) => {
  test.each(Object.entries(known))(
    "the customer's next job begins when %s, and the cleanup is done",
    async (_what, hear) => {
      const { first, next } = await pair();
      await end(first);
      expect(await stateOf(first)).not.toMatch(/queued|provisioning/);
      await p.sweep();
      expect(await stateOf(next)).toBe("waiting");
      await hear(first);
      await p.sweep();
      // Its cleanup is also a run of this customer's.
      expect(await stateOf(next)).toBe("waiting");
      await cleanedUp(first);
      expect(await stateOf(next)).toBe("queued");
      expect(await p.findings()).toEqual([]);
    },
  );

  test("the turn does not pass while its run may be active, although the cleanup is done", async () => {
    const { first, next } = await pair();
    await end(first);
    await cleanedUp(first);
    await p.sweep();
    expect(await stateOf(next)).toBe("waiting");
    await p.sighted(first, "provision-1", [
      { id: await runOf(first), attempt: await triesOf(first), status: "in_progress", conclusion: null },
    ]);
    await p.sweep();
    expect(await stateOf(next)).toBe("waiting");
    expect(await p.findings()).toEqual([]);
  });

  test("the turn passes after a limit, and people are told", async () => {
    const { first, next } = await pair();
    await end(first);
    await cleanedUp(first);
    await p.age(first, 24);
    await p.sweep();
    expect(await stateOf(next)).toBe("waiting");
    await p.age(first, 2);
    await p.sweep();
    await p.sweep();
    expect(await stateOf(next)).toBe("queued");
    expect((await p.told(first)).filter((said) => said.includes("is not known to have ended"))).toHaveLength(1);
    const reply = (await p.effects(first.request_id)).filter(({ effect }) => effect === "slack:reply").at(-1);
    expect(JSON.stringify(reply?.payload["blocks"])).toContain("<@U0OTTO>");
    expect(await p.findings()).toEqual([]);
  });
});

test("a job that succeeds passes the turn with its report", async () => {
  const { first, next } = await pair();
  await p.says(first, { signal: "succeeded" });
  expect(await stateOf(next)).toBe("queued");
});

test("a job that fails passes the turn when its cleanup is done, or has failed permanently", async () => {
  const { first, next } = await pair();
  await p.says(first, { signal: "failed" });
  expect(await stateOf(next)).toBe("waiting");
  await cleanedUp(first);
  expect(await stateOf(next)).toBe("queued");
  const other = await pair();
  await p.says(other.first, { signal: "failed" });
  for (const attempt of [1, 2, 3]) {
    expect(await stateOf(other.next)).toBe("waiting");
    await p.says(other.first, {
      signal: "failed",
      task: "cleanup",
      attempt,
      run_id: 600_000 + customers * 10 + attempt,
    });
  }
  expect(await p.job(other.first.request_id)).toMatchObject({ cleanup: "failed" });
  expect(await stateOf(other.next)).toBe("queued");
  expect(await p.findings()).toEqual([]);
});

test("a job that ends before its run was requested passes the turn when the relay can no longer send the dispatch", async () => {
  const customer = { org_id: `turn-${(customers += 1)}`, name: "Initrode" };
  const first = await p.confirmed(customer);
  const next = await p.confirmed(customer);
  await p.apply(first.request_id, "CANCEL_APPROVED", "rita");
  await p.sweep();
  // A relay may have claimed the dispatch a moment before it was replaced.
  expect(await stateOf(next)).toBe("waiting");
  await p.says(first, { signal: "succeeded", task: "cleanup", attempt: 1, run_id: 700_000 + customers });
  await p.age(first, 2);
  await p.sweep();
  expect(await stateOf(next)).toBe("queued");
  expect((await p.told(first)).filter((said) => said.includes("is not known"))).toEqual([]);
});

test("the same job's next attempt also waits for the run of the last one", async () => {
  const job = await p.confirmed();
  await p.says(job, { signal: "claim" });
  await p.age(job, 11);
  await p.sweep();
  await cleanedUp(job);
  await p.superuser.query("select public.retry_provisioning_job($1, 'again', 'rita')", [job.id]);
  expect(await p.job(job.request_id)).toMatchObject({ state: "waiting", attempts: 1 });
  expect((await p.told(job)).at(-1)).toContain(
    "The next attempt begins when the run of the last one is known to have ended.",
  );
  await p.delivered(job, { of: "1", what: "stop" });
  await p.sweep();
  expect(await p.job(job.request_id)).toMatchObject({ state: "queued", attempts: 2 });
});

test("a late report of a run whose end was known changes nothing", async () => {
  const { first, next } = await pair();
  await p.apply(first.request_id, "CANCEL_APPROVED", "rita");
  await p.delivered(first, { of: "1", what: "stop" });
  await p.sweep();
  await cleanedUp(first);
  expect(await stateOf(next)).toBe("queued");
  expect(await p.says(first, { signal: "succeeded" })).toMatchObject({ go_on: false, outcome: "stop" });
  expect([await stateOf(first), await stateOf(next)]).toEqual(["cancelled", "queued"]);
  expect(await p.findings()).toEqual([]);
});
