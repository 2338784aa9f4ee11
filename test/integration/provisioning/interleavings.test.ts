/**
 * Two things at the same instant, as named interleavings: what one transaction does while the other holds its locks, and what the loser is
 * told. Nothing deadlocks, no job is started twice, and none is lost.
 */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS, type TestClient } from "../../helpers/database.ts";
import { oneOf, rowsOf } from "../capacity/harness.ts";
import { startProvisioning, type Heard, type Job, type Said } from "./harness.ts";

describe.each(POSTGRES_VERSIONS)("concurrent changes of jobs on PostgreSQL %i", async (version) => {
  const p = await startProvisioning(version);
  const claimed = async (customer?: unknown): Promise<Job> => {
    const job = await p.confirmed(customer);
    await p.says(job, { signal: "claim" });
    return job;
  };
  /** A transaction on its own connection, left open. */
  async function open(): Promise<TestClient> {
    const client = await p.db.superuser.connect();
    await client.query("begin");
    await client.query("select set_config('headroom.secret_key', 'a key of thirty-two bytes or more for tests', true)");
    return client;
  }
  const hears = async (client: TestClient, job: Job, said: Said): Promise<Heard> => {
    const { body, headers } = await p.signed(job, said);
    return oneOf<{ answer: Heard }>(
      client,
      "select public.handle_provisioning_callback($1) as answer from set_config('request.headers', $2, true)",
      [body, JSON.stringify(headers)],
    ).then(({ answer }) => answer);
  };
  const confirms = (client: TestClient, id: string): Promise<unknown> =>
    p.apply(id, "CUSTOMER_CONFIRMED", "customer:customer", { client });

  test("two runs claim a job: the first has it, the other is told to stop", async () => {
    const job = await p.confirmed();
    const [one, two] = [await open(), await open()];
    expect(await hears(one, job, { signal: "claim" })).toMatchObject({ go_on: true });
    const second = hears(two, job, { signal: "claim", run_id: 4_000_000 + version });
    await p.db.waitUntilBlocked(two);
    await one.query("commit");
    expect(await second).toMatchObject({ go_on: false, outcome: "stop", why: "Another run has the job." });
    await two.query("commit");
    expect(await p.findings()).toEqual([]);
  });

  test("a run succeeds while its request is cancelled: the request stays cancelled, and the run is cleaned up", async () => {
    const job = await claimed();
    const [one, two] = [await open(), await open()];
    await p.apply(job.request_id, "CANCEL_APPROVED", "rita", { client: one });
    const success = hears(two, job, { signal: "succeeded" });
    await p.db.waitUntilBlocked(two);
    await one.query("commit");
    expect(await success).toMatchObject({ go_on: false, outcome: "stop" });
    await two.query("commit");
    expect(await p.job(job.request_id)).toMatchObject({ state: "cancelled", cleanup: "under_way" });
    expect(await p.findings()).toEqual([]);
  });

  test("a request is cancelled while its run succeeds: it is complete, and the person who cancels is told", async () => {
    const job = await claimed();
    const [one, two] = [await open(), await open()];
    await hears(one, job, { signal: "succeeded" });
    const cancel = p.apply(job.request_id, "CANCEL_APPROVED", "rita", { client: two });
    await p.db.waitUntilBlocked(two);
    await one.query("commit");
    await expect(cancel).rejects.toMatchObject({ code: "PT409" });
    await two.query("rollback");
    expect(await p.job(job.request_id)).toMatchObject({ state: "running" });
  });

  test("the sweep skips a job that is reporting, and finds it reported", async () => {
    const job = await claimed();
    await p.age(job, 11);
    const one = await open();
    await hears(one, job, { signal: "succeeded" });
    await p.sweep();
    await one.query("commit");
    await p.sweep();
    expect(await p.runs(job)).toEqual(["provision 1 succeeded reported"]);
  });

  test("a run reports while the sweep gives it up: it is told to stop", async () => {
    const job = await claimed();
    await p.age(job, 11);
    const [one, two] = [await open(), await open()];
    await one.query("select public.run_capacity_request_timers()");
    const late = hears(two, job, { signal: "succeeded" });
    await p.db.waitUntilBlocked(two);
    await one.query("commit");
    expect(await late).toMatchObject({ go_on: false, outcome: "stop" });
    await two.query("commit");
    expect(await p.runs(job)).toEqual(["provision 1 stopped stale", "cleanup 1 dispatched"]);
  });

  test("two requests of a customer are confirmed at the same time: one begins, one waits", async () => {
    const customer = { org_id: `twins-${version}`, name: "Twins" };
    const ids = [
      await p.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer }),
      await p.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer }),
    ] as const;
    const [one, two] = [await open(), await open()];
    await confirms(one, ids[0]);
    const second = confirms(two, ids[1]);
    await p.db.waitUntilBlocked(two);
    await one.query("commit");
    await second;
    await two.query("commit");
    expect([(await p.job(ids[0])).state, (await p.job(ids[1])).state]).toEqual(["queued", "waiting"]);
  });

  test("a job ends while the customer's next request is confirmed: the next one begins, once", async () => {
    const customer = { org_id: `next-${version}`, name: "Next" };
    const first = await claimed(customer);
    const next = await p.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer });
    const [one, two] = [await open(), await open()];
    await hears(one, first, { signal: "succeeded" });
    const confirmed = confirms(two, next);
    await p.db.waitUntilBlocked(two);
    await one.query("commit");
    await confirmed;
    await two.query("commit");
    expect(await p.job(next)).toMatchObject({ state: "queued", attempts: 1 });
    expect((await p.calls(await p.job(next))).map(({ what }) => what)).toEqual(["dispatch"]);
  });

  test("the customer's next request is cancelled while the end of the previous one starts it", async () => {
    const customer = { org_id: `gone-${version}`, name: "Gone" };
    const first = await claimed(customer);
    const second = await p.confirmed(customer);
    const [one, two] = [await open(), await open()];
    await hears(one, first, { signal: "succeeded" });
    const cancel = p.apply(second.request_id, "CANCEL_APPROVED", "rita", { client: two });
    await p.db.waitUntilBlocked(two);
    await one.query("commit");
    await cancel;
    await two.query("commit");
    expect(await p.job(second.request_id)).toMatchObject({ state: "cancelled", attempts: 1, cleanup: "under_way" });
    expect((await p.calls(second)).map(({ what }) => what)).toEqual(["dispatch", "stop", "dispatch"]);
    expect(await p.findings()).toEqual([]);
  });

  test("somebody retries while the sweep gives the job up: the first wins, and the other is told", async () => {
    const job = await p.confirmed();
    await p.says(job, { signal: "failed" });
    await p.age(job, 73 * 60);
    const [one, two] = [await open(), await open()];
    await one.query("select public.run_capacity_request_timers()");
    const retry = two.query("select public.retry_provisioning_job($1, 'again', 'rita')", [job.id]);
    await p.db.waitUntilBlocked(two);
    await one.query("commit");
    await expect(retry).rejects.toMatchObject({ code: "PT409" });
    await two.query("rollback");
    expect(await p.job(job.request_id)).toMatchObject({ state: "given_up" });
  });

  test("two sweeps at the same time share the work and do nothing twice", async () => {
    const jobs = [await claimed(), await claimed(), await claimed()];
    for (const job of jobs) await p.age(job, 11);
    const [one, two] = [await open(), await open()];
    await one.query("select public.run_capacity_request_timers(2)");
    await two.query("select public.run_capacity_request_timers()");
    await one.query("commit");
    await two.query("commit");
    await p.sweep();
    for (const job of jobs) {
      expect(await p.runs(job)).toEqual(["provision 1 stopped stale", "cleanup 1 dispatched"]);
    }
    expect(await p.findings()).toEqual([]);
  });

  test("settling GitHub's answer waits for no transaction that holds the job", async () => {
    const job = await claimed();
    const one = await open();
    await one.query("select from capacity.requests where id = $1 for update", [job.request_id]);
    await one.query("select from provisioning.jobs where id = $1 for update", [job.id]);
    await one.query("select from provisioning.attempts where job_id = $1 for update", [job.id]);
    const settling = await open();
    await settling.query("set local lock_timeout = '250ms'");
    await settling.query("select headroom.run_hooks('outbox.captured', $1)", [
      JSON.stringify([
        { stream: "provisioning", rail: "github-actions", key: `watch:${job.id}`, name: "provision-1", value: [] },
      ]),
    ]);
    await settling.query("commit");
    await one.query("rollback");
    await rowsOf(p.superuser, "delete from provisioning.sightings");
  });

  test("many customers, five requests each, confirmed at the same time: one in progress each, and all end", async () => {
    const customers = Array.from({ length: 6 }, (_none, at) => ({
      org_id: `crowd-${version}-${at}`,
      name: `Crowd ${at}`,
    }));
    const ids: string[] = [];
    for (const customer of customers) {
      for (let n = 0; n < 5; n += 1) ids.push(await p.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer }));
    }
    await Promise.all(ids.map((id) => p.apply(id, "CUSTOMER_CONFIRMED", "customer:customer")));
    for (let round = 0; round < 5; round += 1) {
      const active = await rowsOf<Job>(
        p.superuser,
        "select * from provisioning.jobs where request_id = any ($1) and state in ('queued', 'provisioning')",
        [ids],
      );
      expect(active).toHaveLength(customers.length);
      await Promise.all(active.map((job) => p.says(job, { signal: "succeeded" })));
    }
    const { ended } = await oneOf<{ ended: number }>(
      p.superuser,
      "select count(*)::integer as ended from provisioning.jobs where request_id = any ($1) and state = 'running'",
      [ids],
    );
    expect(ended).toBe(ids.length);
    expect(await p.findings()).toEqual([]);
  });
});
