/** What is due is released however much others have to send, however late it is checked, and by the person's current preferences. */
import { randomUUID } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { startDispatcher } from "../../../src/notify/index.ts";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { oneOf, rowsOf, startWorkflow } from "../capacity/harness.ts";
import { until } from "../outbox/relay/stage.ts";
import { makeDue, somebody, stages, tell } from "./harness.ts";

describe.each(POSTGRES_VERSIONS)("a release on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const db = workflow.superuser;
  const release = "select * from notify.release()";
  const held = (member: string) => tell(db, member, { category: "reviews", channels: ["email"], about: "CR-1" });
  /** Quiet hours by the person's own clock, from and until so many seconds from now. */
  const quiet = (member: string, from: number, to: number) =>
    rowsOf(
      db,
      `insert into notify.people (workspace_id, member_id, quiet_from, quiet_until)
       values ('acme', $1, (now() at time zone 'UTC')::time + $2 * interval '1 s', (now() at time zone 'UTC')::time + $3 * interval '1 s')`,
      [member, from, to],
    );
  /** Holds that many notifications of a person whom nothing reaches. */
  const fill = (count: number, workspace: string, due: string) =>
    rowsOf(
      db,
      `with told as (
         insert into notify.notifications (workspace_id, recipient_kind, recipient, idempotency_key, category, title, body, channels, priority,
                                           expires_at)
         select $2, 'member', 'nobody', gen_random_uuid()::text, 'general', 'T', 'B', '{email}', 9, now() + interval '1 day'
           from generate_series(1, $1) returning *)
       insert into notify.parts (notification_id, channel, state, workspace_id, recipient_kind, recipient, priority, due_at, expires_at)
       select id, 'email', 'held', workspace_id, recipient_kind, recipient, priority, now() + $3::interval, expires_at from told`,
      [count, workspace, due],
    );

  test("one workspace's backlog holds up nobody else", async () => {
    const member = await somebody(db);
    await fill(30, "globex", "-1 hour");
    await held(member);
    await makeDue(db, member);
    await rowsOf(db, "select * from notify.release(5)");
    expect(await stages(db, member)).toEqual(["A title email waiting"]);
    await rowsOf(db, "select notify.send_due()");
  });

  test("due notifications are handled without a pause, even where many of them are dropped", async () => {
    const member = await somebody(db);
    await fill(1_200, "acme", "-1 hour");
    await held(member);
    await rowsOf(db, "update notify.parts set due_at = now(), priority = 0 where recipient = $1", [member]);
    const connectionString = workflow.db.as("headroom_executor").url;
    const dispatcher = startDispatcher({ connectionString, everyMs: 60_000, atLeastEveryMs: 60_000 });
    onTestFinished(() => dispatcher.stop());
    await until(
      () => stages(db, member),
      ([stage]) => stage === "A title email waiting",
      "the message",
    );
    const left = "select count(*)::integer as n from notify.parts where state = 'held' and due_at <= now()";
    await until(
      () => oneOf<{ n: number }>(db, left),
      ({ n }) => n === 0,
      "all of it",
    );
  });

  test("what a person switched off while it was held is dropped", async () => {
    const member = await somebody(db);
    await held(member);
    const off = { choices: { reviews: { email: "off" } } };
    await rowsOf(db, "select public.set_notification_preferences($1, $2, 'acme')", [off, member]);
    await makeDue(db, member);
    await rowsOf(db, release);
    expect(await stages(db, member)).toEqual(["A title email preference"]);
  });

  test("what is checked late, at night, waits for the morning or for its own expiry, unless it is critical", async () => {
    const member = await somebody(db);
    const tellUntil = (title: string, hours: number, category: string) =>
      rowsOf(
        db,
        `select notify.tell(notify.recipient('acme', 'member', $1), $2, jsonb_populate_record(
                  notify.content($3, $4, 'B', '{email}', p_about => 'CR-1'),
                  jsonb_build_object('expires_at', now() + $5 * interval '1 hour')))`,
        [member, randomUUID(), category, title, hours],
      );
    await tellUntil("Soon over", 1, "reviews");
    await tellUntil("Can wait", 48, "reviews");
    await quiet(member, -3_600, 7_200);
    await makeDue(db, member);
    await tellUntil("Critical", 48, "operations");
    await rowsOf(db, release);
    expect(await stages(db, member)).toEqual(["Soon over email held", "Can wait email held", "Critical email waiting"]);
    const due = `select due_at = expires_at as "atItsEnd", due_at > now() + interval '1 hour' as later
                   from notify.parts where recipient = $1 and state = 'held' order by due_at`;
    expect(await rowsOf(db, due, [member])).toEqual([
      { atItsEnd: true, later: false },
      { atItsEnd: false, later: true },
    ]);
  });

  test("what comes just before quiet hours is not sent during them because it waits to be merged", async () => {
    const member = await somebody(db);
    await quiet(member, 5, 7_200);
    await held(member);
    const due = "select due_at > now() + interval '1 hour' as later from notify.parts where recipient = $1";
    expect(await oneOf(db, due, [member])).toEqual({ later: true });
  });

  test("while a function is being replaced nothing is dropped", async () => {
    const member = await somebody(db);
    await held(member);
    await makeDue(db, member);
    await rowsOf(db, "alter function notify.email_plain(jsonb) rename to email_plain_replaced");
    try {
      await expect(rowsOf(db, release)).rejects.toThrow(/does not exist/);
    } finally {
      await rowsOf(db, "alter function notify.email_plain_replaced(jsonb) rename to email_plain");
    }
    expect(await stages(db, member)).toEqual(["A title email held"]);
    await rowsOf(db, release);
    expect(await stages(db, member)).toEqual(["A title email waiting"]);
  });

  test("a session with plans from when there was little to do does not read everything that is held for each message", async () => {
    const people = await Promise.all(Array.from({ length: 20 }, () => somebody(db)));
    const client = await workflow.db.superuser.connect();
    onTestFinished(() => client.end());
    // Otherwise the plan would be from whenever the server happened to read them.
    await rowsOf(db, "alter table notify.parts set (autovacuum_enabled = false)");
    const once = async (): Promise<number> => {
      for (const member of people) await held(member);
      for (const member of people) await makeDue(db, member);
      await client.query("begin");
      expect(await oneOf(client, "select released from notify.release()")).toEqual({ released: people.length });
      const read =
        "select (seq_tup_read + idx_tup_fetch)::integer as n from pg_stat_xact_user_tables where relid = 'notify.parts'::regclass";
      const { n } = await oneOf<{ n: number }>(client, read);
      await client.query("commit");
      return n;
    };
    for (let each = 0; each < 3; each += 1) await once();
    await fill(5_000, "acme", "1 hour");
    // A check may read it a few times, as the planner sees fit.
    expect(await once()).toBeLessThan(5 * 5_000);
  });

  test("a message whose archive was collected is no longer in flight", async () => {
    const member = await somebody(db);
    await tell(db, member, { channels: ["email"] });
    const rows = "where outbox_id = (select outbox_id from notify.deliveries where recipient = $1)";
    for (const table of ["pending_unordered", "payloads"])
      await rowsOf(db, `delete from outbox.${table} ${rows}`, [member]);
    expect(await stages(db, member)).toEqual(["A title email past"]);
    const status = "select status from public.notification_outbox where user_id = $1";
    expect(await oneOf(db, status, [member])).toEqual({ status: "sent" });
  });
});
