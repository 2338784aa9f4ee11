/**
 * Timers: what happens because time passes. Tests make requests older and never wait; the effects of a sweep are read from the log, the
 * notices and the outbox.
 */
import { describe, expect, onTestFinished, test } from "vitest";
import { openSidePool } from "../../../../src/db/side-pool.ts";
import { runTimers, startTimers, type Sweep } from "../../../../src/capacity/timers.ts";
import { runRelay } from "../../../../src/cli/relay/run.ts";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { until } from "../../outbox/relay/stage.ts";
import { customer, startSurfaces } from "../surfaces.ts";
import { deadlineIn, nothing, noticesOf, quiet, spoil } from "./time.ts";
import { oneOf, rowsOf } from "../harness.ts";

describe.each(POSTGRES_VERSIONS)("timers on PostgreSQL %i", async (version) => {
  const surfaces = await startSurfaces(version);
  const worker = surfaces.db.as("headroom_executor").pool;
  const sweep = (): Promise<Sweep> => runTimers(worker);

  describe("expiry", () => {
    test("an offer expires at its deadline, not after it", async () => {
      await quiet(surfaces);
      const id = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED");
      const client = await surfaces.db.superuser.connect();
      await client.query("begin");
      // now() stays the same for the whole transaction.
      await rowsOf(client, "update capacity.requests set next_deadline_at = now() where id = $1", [id]);
      expect(await oneOf(client, "select expired from capacity.timer_expire(10)")).toEqual({ expired: 1 });
      await client.query("rollback");
      await client.end();
    });

    test("an offer whose time has ended expires, by the clock, and the customer is told; a second sweep finds nothing", async () => {
      await quiet(surfaces);
      const id = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer });
      await deadlineIn(surfaces, id, -1);
      expect(await sweep()).toEqual({ ...nothing, expired: 1 });
      expect(await surfaces.row(id)).toMatchObject({ state: "EXPIRED", next_deadline_at: null });
      expect((await surfaces.events(id)).at(-1)).toMatchObject({
        event_type: "CUSTOMER_CONFIRMATION_TIMEOUT",
        actor_type: "cron",
        via: "cron",
        payload: {},
      });
      expect((await surfaces.effect(`${id}#4`, "tell:customer")).payload["text"]).toContain("no answer came in time");
      expect(await sweep()).toEqual(nothing);
    });

    test("a row that fails is reported, left alone for longer each time, and stops no other; repaired, it expires too", async () => {
      await quiet(surfaces);
      const ids: string[] = [];
      for (let index = 0; index < 5; index += 1) ids.push(await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED"));
      for (const id of ids) await deadlineIn(surfaces, id, -1);
      const [bad = "", ...good] = ids;
      const repair = await spoil(surfaces, bad);
      const first = await sweep();
      expect(first).toMatchObject({ expired: 4 });
      expect(first.failed).toMatchObject([
        { request_id: bad, timer: "expiry", code: "P0001", message: "this row is spoilt", failures: 1 },
      ]);
      for (const id of good) expect((await surfaces.row(id)).state).toBe("EXPIRED");
      expect((await surfaces.row(bad)).state).toBe("CUSTOMER_CONFIRMATION_REQUIRED");

      expect(await sweep()).toEqual(nothing);
      await rowsOf(surfaces.superuser, "update capacity.timer_failures set retry_at = now()");
      expect((await sweep()).failed).toMatchObject([{ request_id: bad, failures: 2 }]);
      const waits = await oneOf<{ minutes: number }>(
        surfaces.superuser,
        "select round(extract(epoch from retry_at - last_at) / 60)::int as minutes from capacity.timer_failures where request_id = $1",
        [bad],
      );
      expect(waits.minutes).toBe(2);

      await repair();
      await rowsOf(surfaces.superuser, "update capacity.timer_failures set retry_at = now()");
      expect(await sweep()).toEqual({ ...nothing, expired: 1 });
      expect(await rowsOf(surfaces.superuser, "select * from capacity.timer_failures")).toEqual([]);
    });

    test("several sweeps at the same time expire each offer once, and none waits for another", async () => {
      await quiet(surfaces);
      const ids: string[] = [];
      for (let index = 0; index < 12; index += 1) ids.push(await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED"));
      for (const id of ids) await deadlineIn(surfaces, id, -1);
      const [one, other] = await surfaces.db.twoConnections("headroom_executor");
      await one.query("begin");
      const first = await oneOf<{ done: Sweep }>(one, "select public.run_capacity_request_timers(5) as done");
      const second = await oneOf<{ done: Sweep }>(other, "select public.run_capacity_request_timers(5) as done");
      await one.query("commit");
      expect([first.done.expired, second.done.expired]).toEqual([5, 5]);
      const rest = await Promise.all([sweep(), sweep(), sweep()]);
      expect(rest.reduce((sum, { expired }) => sum + expired, 0)).toBe(2);
      for (const id of ids) {
        expect(
          (await surfaces.events(id)).filter(({ event_type }) => event_type === "CUSTOMER_CONFIRMATION_TIMEOUT"),
        ).toHaveLength(1);
      }
    });

    test("an answer that is just being recorded wins over the sweep", async () => {
      await quiet(surfaces);
      const id = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED");
      const client = await surfaces.db.superuser.connect();
      await client.query("begin");
      await surfaces.apply(id, "CUSTOMER_CONFIRMED", "customer:customer", { client });
      // Due as far as others can see: the answer is not committed yet.
      expect(await sweep()).toEqual(nothing);
      await client.query("commit");
      expect((await surfaces.row(id)).state).toBe("PROVISIONING");
    });

    test("a full batch says that there is more", async () => {
      await quiet(surfaces);
      for (let index = 0; index < 3; index += 1) {
        await deadlineIn(surfaces, await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED"), -1);
      }
      const few = "select public.run_capacity_request_timers(2) as done";
      expect((await oneOf<{ done: Sweep }>(worker, few)).done).toEqual({ ...nothing, expired: 2, more: true });
      expect((await oneOf<{ done: Sweep }>(worker, few)).done).toEqual({ ...nothing, expired: 1 });
    });
  });

  describe("the warning", () => {
    test("goes out once when the deadline is near: to the owner in the thread, and to the customer with the link", async () => {
      await quiet(surfaces);
      const id = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer });
      await deadlineIn(surfaces, id, 49);
      expect(await sweep()).toEqual(nothing);
      await deadlineIn(surfaces, id, 47);
      expect(await sweep()).toEqual({ ...nothing, warned: 1 });
      expect(await sweep()).toEqual(nothing);
      expect(await noticesOf(surfaces, id)).toEqual([
        ["warning", "confirmation", null, ["slack:reply", "tell:asked", "tell:customer"]],
      ]);
      const rows = (await surfaces.effects(id)).filter(({ instruction }) => instruction.includes("!"));
      const mail = rows.find(({ effect }) => effect === "tell:customer");
      const { token, deadline } = await oneOf<{ token: string; deadline: Date }>(
        surfaces.superuser,
        "select confirmation_token_id as token, next_deadline_at as deadline from capacity.requests where id = $1",
        [id],
      );
      expect(mail).toMatchObject({
        payload: { to: customer.email, confirmation_token_id: token },
        expires_at: deadline,
      });
      expect(JSON.stringify(rows.find(({ effect }) => effect === "slack:reply")?.payload)).toContain("<@U0CORA>");
    });

    test("comes as early as the workspace wants it", async () => {
      await quiet(surfaces);
      const id = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { ttlDays: 14 });
      await deadlineIn(surfaces, id, 100);
      await surfaces.settings({ warn_before_hours: 120 });
      expect(await sweep()).toEqual({ ...nothing, warned: 1 });
      expect(await noticesOf(surfaces, id)).toEqual([
        ["warning", "confirmation", null, ["slack:reply", "tell:fixers"]],
      ]);
    });

    test("never comes before half of the customer's time has passed", async () => {
      await quiet(surfaces);
      const day = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { ttlDays: 1 });
      const two = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { ttlDays: 2 });
      await deadlineIn(surfaces, day, 13);
      await deadlineIn(surfaces, two, 25);
      expect(await sweep()).toEqual(nothing);
      await deadlineIn(surfaces, day, 11);
      expect(await sweep()).toEqual({ ...nothing, warned: 1 });
      await deadlineIn(surfaces, two, 23);
      expect(await sweep()).toEqual({ ...nothing, warned: 1 });
      for (const id of [day, two]) expect(await noticesOf(surfaces, id)).toHaveLength(1);
    });

    test("by two sweeps at the same moment is one", async () => {
      await quiet(surfaces);
      const ids = [
        await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED"),
        await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED"),
      ];
      for (const id of ids) await deadlineIn(surfaces, id, 24);
      const done = await Promise.all([sweep(), sweep(), sweep(), sweep()]);
      expect(done.reduce((sum, { warned }) => sum + warned, 0)).toBe(2);
      expect(done.flatMap(({ failed }) => failed)).toEqual([]);
      for (const id of ids) expect(await noticesOf(surfaces, id)).toHaveLength(1);
    });

    test("that cannot be written is reported, and the other goes out", async () => {
      await quiet(surfaces);
      const [bad, good] = [
        await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED"),
        await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED"),
      ];
      for (const id of [bad, good]) await deadlineIn(surfaces, id, 24);
      const repair = await spoil(surfaces, bad);
      const done = await sweep();
      await repair();
      expect(done.warned).toBe(1);
      expect(done.failed).toMatchObject([{ request_id: bad, timer: "warning" }]);
    });
  });

  describe("who runs them", () => {
    test("the worker, immediately and then repeatedly, and it reports what it did", async () => {
      await quiet(surfaces);
      const log: object[] = [];
      const first = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED");
      await deadlineIn(surfaces, first, -1);
      const timers = startTimers({
        connectionString: surfaces.db.as("headroom_executor").url,
        everyMs: 100,
        log: (entry) => log.push(entry),
      });
      const stateOf = (id: string) => async () => (await surfaces.row(id)).state;
      await until(stateOf(first), (state) => state === "EXPIRED", "the first sweep");
      const second = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED");
      await deadlineIn(surfaces, second, -1);
      await until(stateOf(second), (state) => state === "EXPIRED", "a later sweep");
      await timers.stop();
      expect(log).toEqual([
        {
          level: "info",
          event: "timers_ran",
          expired: 1,
          warned: 0,
          unasked: 0,
          reminded: 0,
          late: 0,
          erased: 0,
          billing: 0,
          provisioning: 0,
        },
        {
          level: "info",
          event: "timers_ran",
          expired: 1,
          warned: 0,
          unasked: 0,
          reminded: 0,
          late: 0,
          erased: 0,
          billing: 0,
          provisioning: 0,
        },
      ]);
    });

    test("a worker that lost its connection sweeps again; one that may not sweep says so", async () => {
      await quiet(surfaces);
      const log: Record<string, unknown>[] = [];
      const timers = startTimers({
        connectionString: surfaces.db.as("headroom_executor").url,
        everyMs: 100,
        log: (entry) => log.push(entry),
      });
      await until(
        () =>
          rowsOf(
            surfaces.superuser,
            `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'headroom timers' and datname = current_database()`,
          ),
        (ended) => ended.length > 0,
        "its connection",
      );
      const id = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED");
      await deadlineIn(surfaces, id, -1);
      await until(
        async () => (await surfaces.row(id)).state,
        (state) => state === "EXPIRED",
        "a sweep on another connection",
      );
      await timers.stop();

      const refused: Record<string, unknown>[] = [];
      const ingest = startTimers({
        connectionString: surfaces.db.as("headroom_ingest").url,
        everyMs: 100,
        log: (entry) => refused.push(entry),
      });
      await until(
        () => refused.length,
        (count) => count > 0,
        "its complaint",
      );
      await ingest.stop();
      expect(refused[0]).toMatchObject({ level: "warn", event: "timers_failed", code: "permission_denied" });
    });

    test("a sweep that hangs does not keep its worker from stopping", async () => {
      await quiet(surfaces);
      const blocker = await surfaces.db.superuser.connect();
      await blocker.query("begin");
      await blocker.query("lock table capacity.requests in access exclusive mode");
      const timers = startTimers({ connectionString: surfaces.db.as("headroom_executor").url, stopMs: 100 });
      await until(
        () =>
          rowsOf(
            surfaces.superuser,
            `select pid from pg_stat_activity
              where application_name = 'headroom timers' and datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`,
          ),
        (blocked) => blocked.length === 1,
        "the sweep to hang",
      );
      await timers.stop();
      await blocker.query("rollback");
    });

    test("every relay that a command runs sweeps as well, even without a rail", async () => {
      await quiet(surfaces);
      const id = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED");
      await deadlineIn(surfaces, id, -1);
      const url = surfaces.db.as("headroom_executor").url;
      const side = openSidePool(url);
      onTestFinished(() => side.end());
      const running = await runRelay(url, side, [], { listen: true, metricsHost: "127.0.0.1" }, () => undefined);
      await until(
        async () => (await surfaces.row(id)).state,
        (state) => state === "EXPIRED",
        "the command's sweep",
      );
      await running.stop();
    });

    test("without pg_cron nothing is scheduled: only the worker sweeps", async () => {
      expect(await oneOf(surfaces.db.pool, "select capacity.schedule_timers() as by")).toEqual({ by: "worker" });
    });

    test("with pg_cron a job sweeps every minute, scheduled once however often that is asked for, and its history is kept short", async () => {
      const client = await surfaces.db.connect();
      await client.query("begin");
      await client.query(`
        create schema cron;
        create table cron.job (jobid bigint generated always as identity primary key, jobname name unique, schedule text, command text);
        create table cron.job_run_details (jobid bigint, end_time timestamptz);
        create function cron.schedule(job_name text, schedule text, command text) returns bigint language sql as $$
          insert into cron.job (jobname, schedule, command) values (job_name, schedule, command)
          on conflict (jobname) do update set schedule = excluded.schedule, command = excluded.command returning jobid $$;
        create function cron.schedule(schedule text, command text) returns bigint language sql as $$ select 0::bigint $$`);
      for (let turn = 0; turn < 2; turn += 1) {
        expect(await oneOf(client, "select capacity.schedule_timers() as by")).toEqual({ by: "pg_cron" });
      }
      const jobs = await rowsOf<{ jobname: string; schedule: string; command: string }>(
        client,
        "select jobname, schedule, command from cron.job order by jobname",
      );
      expect(jobs.map(({ jobname, schedule }) => [jobname, schedule])).toEqual([
        ["capacity-request-timers", "* * * * *"],
        ["capacity-timer-history", "17 3 * * *"],
      ]);
      await client.query(
        "insert into cron.job_run_details select jobid, now() - d * interval '1 day' from cron.job, (values (1), (8)) v(d)",
      );
      for (const { command } of jobs) await client.query(command);
      expect(await rowsOf(client, "select jobid from cron.job_run_details")).toHaveLength(2);
      await client.query("rollback");
    });

    test("with a pg_cron that is not for us, the worker's sweep remains", async () => {
      const client = await surfaces.db.connect();
      await rowsOf(surfaces.superuser, "create schema cron");
      await rowsOf(
        surfaces.superuser,
        "create function cron.schedule(job_name text, schedule text, command text) returns bigint language sql as 'select 0::bigint'",
      );
      expect(await oneOf(client, "select capacity.schedule_timers() as by")).toEqual({ by: "worker" });
      await rowsOf(surfaces.superuser, "drop schema cron cascade");
    });

    test("a senseless limit is replaced by a sensible one", async () => {
      for (const most of [null, 0, -5, 2_147_483_647]) {
        expect(
          (await oneOf<{ done: Sweep }>(worker, "select public.run_capacity_request_timers($1) as done", [most])).done
            .failed,
        ).toEqual([]);
      }
    });
  });

  test("everything that timers named has its row, and every row its notice or event", async () => {
    expect(await surfaces.unmatched()).toEqual([]);
  });
});
