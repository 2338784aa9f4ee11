/** Who releases what is due: every running relay, in parallel, turns on demand, and pg_cron where it exists. */
import { describe, expect, onTestFinished, test } from "vitest";
import { createOnDemandRelay } from "../../../src/cli/relay/on-demand.ts";
import { startDispatcher, type DispatcherOptions } from "../../../src/notify/index.ts";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { oneOf, rowsOf, startWorkflow } from "../capacity/harness.ts";
import { probeRail } from "../outbox/relay/rails.ts";
import { until } from "../outbox/relay/stage.ts";
import { makeDue, somebody, stages, tell } from "./harness.ts";

describe.each(POSTGRES_VERSIONS)("releasing notifications on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const db = workflow.superuser;
  const { url } = workflow.db.as("headroom_executor");

  const start = (log: object[] = [], options: Partial<DispatcherOptions> = {}) => {
    const timing = { everyMs: 20, atLeastEveryMs: 50, ...options };
    const dispatcher = startDispatcher({ connectionString: url, log: (entry) => void log.push(entry), ...timing });
    onTestFinished(() => dispatcher.stop());
    return dispatcher;
  };
  const messages = async (member: string): Promise<number> =>
    (await rowsOf(db, "select from notify.deliveries where recipient = $1", [member])).length;
  const held = (member: string) => tell(db, member, { category: "reviews", channels: ["email"], about: "CR-1" });

  test("a held notification is sent when it is due, and not before", async () => {
    const [early, late] = [await somebody(db), await somebody(db)];
    await held(early);
    await held(late);
    const log: object[] = [];
    start(log);
    await makeDue(db, early);
    await until(
      () => messages(early),
      (count) => count === 1,
      "the message",
    );
    expect(await stages(db, late)).toEqual(["A title email held"]);
    // Logged after the transaction has ended.
    await until(
      () => log,
      (entries) => entries.length > 0,
      "what was released is logged",
    );
    expect(log).toContainEqual({ level: "info", event: "notifications_released", messages: 1 });
  });

  test("many in parallel send each message once", async () => {
    const people = await Promise.all(Array.from({ length: 30 }, () => somebody(db)));
    for (const member of people) for (let each = 0; each < 3; each += 1) await held(member);
    for (const member of people) await makeDue(db, member);
    for (let each = 0; each < 4; each += 1) start();
    await until(
      async () => (await rowsOf(db, "select from notify.parts where state = 'held' and due_at <= now()")).length,
      (count) => count === 0,
      "all of it",
    );
    const counts = await Promise.all(people.map(messages));
    expect(new Set(counts)).toEqual(new Set([1]));
  });

  test("a database error is logged, and what is due is sent when it works again", async () => {
    const member = await somebody(db);
    await held(member);
    await makeDue(db, member);
    const log: { event?: string }[] = [];
    await rowsOf(db, "revoke execute on function notify.release(integer) from headroom_executor");
    start(log);
    await until(
      () => log,
      (entries) => entries.some(({ event }) => event === "notifications_not_released"),
      "the warning",
    );
    await rowsOf(db, "grant execute on function notify.release(integer) to headroom_executor");
    await until(
      () => messages(member),
      (count) => count === 1,
      "the message",
    );
  });

  test("it stops although the database does not answer, and the next one does its work", async () => {
    const member = await somebody(db);
    await held(member);
    await makeDue(db, member);
    const blocker = await workflow.db.superuser.connect();
    await blocker.query("begin");
    await blocker.query("lock table notify.deliveries in access exclusive mode");
    const dispatcher = start([], { stopMs: 50 });
    await until(
      () =>
        rowsOf(
          db,
          "select from pg_stat_activity where application_name = 'headroom dispatcher' and wait_event_type = 'Lock'",
        ),
      (waiting) => waiting.length > 0,
      "the look that waits",
    );
    await dispatcher.stop();
    await blocker.query("rollback");
    start();
    await until(
      () => messages(member),
      (count) => count === 1,
      "the message",
    );
  });

  test("a relay on demand sends what is due in the same turn", async () => {
    const member = await somebody(db);
    await held(member);
    await makeDue(db, member);
    const mail = probeRail({ name: "email", capability: "blind" });
    const relay = createOnDemandRelay(url, [mail], () => undefined);
    onTestFinished(() => relay.close());
    await relay.drain();
    expect(mail.sent.map(({ payload }) => JSON.stringify(payload))).toContainEqual(expect.stringContaining(member));
  });

  test("with pg_cron a job of the seed's name does it, scheduled once however often that is asked for", async () => {
    expect(await oneOf(workflow.db.pool, "select notify.schedule_dispatcher() as by")).toEqual({ by: "worker" });
    const client = await workflow.db.connect();
    await client.query("begin");
    await client.query(`
      create schema cron;
      create table cron.job (jobid bigint generated always as identity primary key, jobname name unique, schedule text, command text);
      create table cron.job_run_details (jobid bigint, end_time timestamptz);
      create function cron.schedule(job_name text, schedule text, command text) returns bigint language sql as $$
        insert into cron.job (jobname, schedule, command) values (job_name, schedule, command)
        on conflict (jobname) do update set schedule = excluded.schedule returning jobid $$`);
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await oneOf(client, "select notify.schedule_dispatcher() as by")).toEqual({ by: "pg_cron" });
    }
    const jobs = await rowsOf<{ name: string; command: string }>(
      client,
      "select jobname as name, command from cron.job order by 1",
    );
    expect(jobs.map(({ name }) => name)).toEqual(["process-notifications", "process-notifications-history"]);
    for (const { command } of jobs) await client.query(command);
    await client.query("rollback");
  });
});
