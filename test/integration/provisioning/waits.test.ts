/**
 * Everything that a job may wait for: each wait is played until its limit, somebody is told, and what was promised for the limit happens. A
 * wait in the database that is not played here fails, and so does a job state without one.
 */
import { describe, expect, test } from "vitest";
import { oneOf, rowsOf } from "../capacity/harness.ts";
import { startProvisioning, type Job } from "./harness.ts";
import { waitingOn } from "./waiting.ts";

const p = await startProvisioning(18);
const { askedSince, hours, nextRun, onTopOfALeftover, retry, waitsOf } = waitingOn(p);

interface Rule {
  readonly wait: string;
  readonly states: readonly string[];
  readonly bound: string;
  readonly told: string;
}

const rulesOf = (): Promise<Rule[]> => rowsOf<Rule>(p.superuser, "select * from provisioning.wait_rules()");

const toldCount = async (job: Job): Promise<number> => (await p.told(job)).length;
const jobNow = (job: Job): Promise<Job> => p.job(job.request_id);
async function claimed(): Promise<Job> {
  const job = await p.confirmed();
  await p.says(job, { signal: "claim" });
  return job;
}
async function failed(): Promise<Job> {
  const job = await claimed();
  await p.says(job, { signal: "failed", error: "no" });
  return job;
}
/** The waits of a job of globex, which has no workflow, or no address. */
async function ofGlobex(): Promise<Job> {
  const { id } = await p.create({ workspace: "globex", requester: "rita", owner: "glen", customer: null });
  await p.apply(id, "COMMERCIAL_APPROVED", "glen");
  await p.apply(id, "TECH_REVIEW_APPROVED", "glen");
  await p.apply(id, "CUSTOMER_CONFIRMED", "customer:customer");
  return p.job(id);
}

/** Each brings a job into that wait, then to the limit. */
const scenarios: Readonly<Record<string, () => Promise<void>>> = {
  async turn() {
    const broken =
      "create function provisioning.refuse_for_test() returns trigger language plpgsql as 'begin raise ''no room''; end'";
    await p.superuser.query(broken);
    await p.superuser.query(
      "create trigger refuse_for_test before insert on provisioning.attempts for each row execute function provisioning.refuse_for_test()",
    );
    const job = await p.confirmed();
    expect(job.state).toBe("waiting");
    expect(await waitsOf(job)).toEqual(["turn"]);
    expect(
      await rowsOf(p.superuser, "select message from capacity.timer_failures where request_id = $1", [job.request_id]),
    ).toEqual([{ message: "no room" }]);
    await p.superuser.query("drop function provisioning.refuse_for_test() cascade");
    await p.superuser.query("update capacity.timer_failures set retry_at = now()");
    await p.sweep();
    expect((await jobNow(job)).state).toBe("queued");
  },
  async customer() {
    const customer = { org_id: "waits-customer", name: "Initrode" };
    const first = await p.confirmed(customer);
    const next = await p.confirmed(customer);
    expect(await waitsOf(next)).toEqual(["customer"]);
    expect(await p.told(next)).toEqual([
      "Another request of this customer is being provisioned; this one begins when that one has ended.",
    ]);
    await p.says(first, { signal: "succeeded" });
    expect((await jobNow(next)).state).toBe("queued");
  },
  async cleanup() {
    const job = await failed();
    await retry(job);
    expect(await waitsOf(job)).toEqual(["cleanup", "dispatch"]);
    expect((await p.told(job)).at(-1)).toContain("when the cleanup after the last one is done");
    for (const attempt of [1, 2, 3]) {
      await p.delivered(job, { of: `cleanup-${attempt}`, what: "dispatch" }, 11);
      await p.sweep();
    }
    expect(await waitsOf(job)).toContain("cleanup_failed");
    expect((await askedSince(job, 0)).at(-1)).toContain("something may be left running");
  },
  async cleanup_failed() {
    const job = await onTopOfALeftover();
    expect(job).toMatchObject({ state: "waiting", cleanup: "failed", attempts: 1 });
    expect(await waitsOf(job)).toEqual(["cleanup_failed"]);
    const before = await toldCount(job);
    await hours(job, 25);
    const asked = await askedSince(job, before);
    expect(asked.at(-1)).toContain("After 72 hours the request fails permanently.");
    expect((await jobNow(job)).attempts).toBe(1);
    await hours(job, 48);
    expect((await p.row(job.request_id)).state).toBe("FAILED");
    // Leftovers do not depend on the request: people are reminded for as long as there may be any.
    const failedAt = await toldCount(job);
    await hours(job, 24 * 12);
    expect((await askedSince(job, failedAt)).length).toBeGreaterThanOrEqual(3);
    expect(await waitsOf(job)).toEqual(["cleanup_failed"]);
    await p.superuser.query("select public.clean_provisioning_job($1, 'deleted the machines', 'otto')", [job.id]);
    expect(await waitsOf(job)).toEqual([]);
  },
  async run() {
    const job = await claimed();
    await p.apply(job.request_id, "CANCEL_APPROVED", "rita");
    await p.says(job, { signal: "succeeded", task: "cleanup", run_id: nextRun() });
    expect(await waitsOf(job)).toEqual(["run"]);
    const before = await toldCount(job);
    await p.age(job, 26);
    await p.sweep();
    expect(await askedSince(job, before)).toEqual([expect.stringContaining("is not known to have ended")]);
    expect(await waitsOf(job)).toEqual([]);
  },
  async person() {
    const job = await p.confirmed();
    const client = await p.db.superuser.connect();
    await client.query("set session_replication_role = replica");
    for (const table of ["attempts", "events"]) {
      await client.query(`delete from provisioning.${table} where job_id = $1`, [job.id]);
    }
    await client.query("delete from provisioning.jobs where id = $1", [job.id]);
    await client.end();
    await p.sweep();
    const adopted = await jobNow(job);
    expect(await waitsOf(adopted)).toEqual(["person"]);
    const before = await toldCount(adopted);
    await hours(adopted, 24 * 14);
    expect((await askedSince(adopted, before)).length).toBeGreaterThanOrEqual(5);
    // Somebody may be providing it by hand.
    expect((await jobNow(adopted)).state).toBe("waiting");
    await p.superuser.query("select public.fail_provisioning_job($1, 'no room', 'otto')", [adopted.id]);
  },
  async not_connected() {
    const job = await ofGlobex();
    expect(await waitsOf(job)).toEqual(["not_connected"]);
    const before = await toldCount(job);
    await hours(job, 24 * 14);
    const said = (await p.told(job)).slice(before);
    expect(said.length).toBeGreaterThanOrEqual(5);
    expect(said.every((each) => each.includes("No workflow is connected yet"))).toBe(true);
    expect((await jobNow(job)).state).toBe("waiting");
    await paidFor(job);
    await p.sweep();
    expect((await p.row(job.request_id)).state).toBe("FAILED");
  },
  async no_address() {
    await rowsOf(p.superuser, "select provisioning.put_settings('globex', $1)", [
      JSON.stringify({ owner: "globex", repo: "infra" }),
    ]);
    const job = await ofGlobex();
    expect(await waitsOf(job)).toEqual(["no_address"]);
    await hours(job, 25);
    expect((await p.told(job)).at(-1)).toContain("After 72 hours the request fails permanently.");
    await hours(job, 48);
    expect(await jobNow(job)).toMatchObject({ state: "given_up", attempts: 0 });
    expect((await p.row(job.request_id)).state).toBe("FAILED");
  },
  async dispatch() {
    const job = await p.confirmed();
    expect(await waitsOf(job)).toEqual(["dispatch"]);
    const before = await toldCount(job);
    await p.age(job, 9);
    await p.sweep();
    expect(await toldCount(job)).toBe(before);
    await p.age(job, 2);
    await p.sweep();
    await p.sweep();
    expect(await askedSince(job, before)).toEqual([
      expect.stringContaining("GitHub could not be asked for the run yet."),
    ]);
    const shown = await oneOf<{ held_by: string }>(p.superuser, "select provisioning.held_by($1) as held_by", [job.id]);
    expect(shown.held_by).toBe("dispatch");
    const counted = await rowsOf(
      p.superuser,
      "select jobs::int from provisioning.job_counts() where state = 'not_dispatched'",
    );
    expect(counted).toEqual([{ jobs: 1 }]);
    const rails = await rowsOf(
      p.superuser,
      "select served_seconds_ago, waiting > 0 as waiting from outbox.rail_status() where rail = 'github-actions'",
    );
    expect(rails).toEqual([{ served_seconds_ago: null, waiting: true }]);
    await hours(job, 25);
    expect((await p.told(job)).at(-1)).toContain("After 72 hours the request fails permanently.");
    await hours(job, 48);
    expect(await p.runs(job)).toEqual(["provision 1 stopped not_served"]);
    expect((await p.calls(job)).map(({ what }) => what)).toEqual(["dispatch", "stop"]);
    expect(await jobNow(job)).toMatchObject({ state: "given_up", cleanup: "none" });
    expect(await p.lastShown(job.request_id)).toMatchObject({
      payload: { reason: "No run could be asked for within 72 hours." },
    });
    // A relay that comes back finds the stop in place of the dispatch, and the turn has passed.
    await p.age(job, 2);
    await p.sweep();
    expect(await waitsOf(job)).toEqual([]);
  },
  async claim() {
    const job = await p.confirmed();
    await p.delivered(job, { of: "1", what: "dispatch" }, 9);
    await p.sweep();
    expect(await waitsOf(job)).toEqual(["claim"]);
    const before = await toldCount(job);
    const client = await p.db.superuser.connect();
    await client.query("set session_replication_role = replica");
    await client.query("update outbox.attempts set recorded_at = recorded_at - interval '2 minutes'");
    await client.end();
    await p.sweep();
    expect(await askedSince(job, before)).toEqual([expect.stringContaining("gave no sign of life")]);
    expect((await jobNow(job)).state).toBe("failed");
  },
  async report() {
    const job = await claimed();
    expect(await waitsOf(job)).toEqual(["report"]);
    const before = await toldCount(job);
    await p.age(job, 16);
    await p.says(job, { signal: "heartbeat" });
    await p.sweep();
    expect(await askedSince(job, before)).toEqual([expect.stringContaining("took too long")]);
    expect((await jobNow(job)).state).toBe("failed");
  },
  async retry() {
    const job = await failed();
    expect(await waitsOf(job)).toEqual(["dispatch", "retry"]);
    await p.says(job, { signal: "succeeded", task: "cleanup", run_id: nextRun() });
    expect(await waitsOf(job)).toEqual(["retry"]);
    const before = await toldCount(job);
    await hours(job, 25);
    expect((await askedSince(job, before)).at(-1)).toContain("After 72 hours the request fails permanently.");
    await hours(job, 48);
    expect((await p.row(job.request_id)).state).toBe("FAILED");
  },
};

/** As if its offer had a price. */
async function paidFor(job: Job): Promise<void> {
  const client = await p.db.superuser.connect();
  await client.query("set session_replication_role = replica");
  await client.query("update capacity.requests set offer = '{}' where id = $1", [job.request_id]);
  await client.end();
}

describe("every wait of a job has a limit, and tells somebody", () => {
  test.each(Object.entries(scenarios))("%s", async (wait, play) => {
    const rule = (await rulesOf()).find((each) => each.wait === wait);
    expect([rule?.bound, rule?.told]).not.toContain("");
    await play();
    expect(await p.findings()).toEqual([]);
  });

  test("each wait in the database is played here, and no other", async () => {
    const known = await oneOf<{ waits: string[] }>(
      p.superuser,
      `select array_agg(distinct x[1]) as waits
         from unnest(array['provisioning.held_by(uuid)', 'provisioning.waits_of(provisioning.jobs)', 'provisioning.asks_for(provisioning.jobs)']) f
        cross join lateral regexp_matches(pg_get_functiondef(f::regprocedure), '(?:then|else|select) ''([a-z_]+)''', 'g') x
        `,
    );
    const rules = (await rulesOf()).map(({ wait }) => wait);
    expect(known.waits.filter((wait) => !rules.includes(wait))).toEqual([]);
    expect(rules.toSorted()).toEqual(Object.keys(scenarios).toSorted());
  });

  test("each state of a job that can still change has one", async () => {
    const states = await rowsOf<{ state: string }>(
      p.superuser,
      "select distinct state_before as state from provisioning.transitions() where state_before <> 'new' and state_after <> state_before",
    );
    const rules = await rulesOf();
    const without = states.filter(({ state }) => !rules.some((rule) => rule.states.includes(state)));
    expect(without).toEqual([]);
    const cleanups = await oneOf<{ check: string }>(
      p.superuser,
      `select pg_get_constraintdef(oid) as check from pg_constraint
        where conrelid = 'provisioning.jobs'::regclass and pg_get_constraintdef(oid) like '%cleanup = ANY%'`,
    );
    const values = [...cleanups.check.matchAll(/'(\w+)'/g)].map(([, value]) => value);
    expect(new Set(values)).toEqual(new Set(["done", "failed", "none", "under_way"]));
  });

  test("a job that would wait without a limit is found", async () => {
    const job = await p.confirmed();
    const client = await p.db.superuser.connect();
    await client.query("begin");
    await client.query("update provisioning.jobs set state = 'provisioning' where id = $1", [job.id]);
    const { findings } = await oneOf<{ findings: { code: string; subject: string }[] }>(
      client,
      "select * from provisioning.verify_jobs()",
    );
    await client.query("rollback");
    await client.end();
    expect(findings).toContainEqual(expect.objectContaining({ code: "wait_unbounded", subject: job.request_id }));
  });
});
