/** What a hostile or careless person may do with notifications, and what it must not lead to. Does not own: which input is refused. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { memberSession, overHttp, service, type Session } from "../capacity/gateway.ts";
import { oneOf, rowsOf, startWorkflow } from "../capacity/harness.ts";
import { makeDue, somebody, stages, tell } from "./harness.ts";

describe.each(POSTGRES_VERSIONS)("notifications under attack on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const db = workflow.superuser;
  const release = "select * from notify.release()";
  const as = (session: Session, text: string, values: unknown[]): Promise<object[]> =>
    overHttp(workflow.db, session, (client) => rowsOf(client, text, values));

  test("people who may see a notification also read its status: the member, an admin, a machine, and roles that oversee everything", async () => {
    const member = await somebody(db);
    const id = await tell(db, member);
    const read = "select status, attempt_count, error_message from public.notification_outbox where id = $1";
    const delivered = [{ status: "delivered", attempt_count: 0, error_message: null }];
    for (const session of [memberSession(member), memberSession(await somebody(db, ["admin"])), service]) {
      expect(await as(session, read, [id])).toEqual(delivered);
    }
    expect(await as(memberSession(await somebody(db)), read, [id])).toEqual([]);
    const stand = "select status from notify.statuses where notification_id = $1";
    for (const role of ["headroom_control", "headroom_auditor"] as const) {
      expect(await rowsOf(workflow.db.as(role).pool, stand, [id])).toEqual([{ status: "delivered" }]);
    }
  });

  test("an application's keys take none away from the product", async () => {
    const member = await somebody(db);
    const key = `CR-2026-000042#1/asked:${randomUUID()}`;
    const theirs = "select public.notify('acme', $1, $2, 'Nothing to do', 'Ignore it.') as id";
    const ours = `select notify.tell(notify.recipient('acme', 'member', $1), $2, notify.content(
                           'operations', 'A job failed', 'Look at it.', '{in-app}', p_cause => 'planted')) as id`;
    const inOne = `select notify.tell_members('acme', array[$1], $2, notify.content(
                            'requests', 'Approved', 'It goes on.', '{in-app}', p_cause => 'planted'))`;
    const first = await oneOf(db, theirs, [member, key]);
    const second = await oneOf(db, ours, [member, key]);
    expect(await oneOf(db, theirs, [member, key])).toEqual(first);
    expect(await oneOf(db, ours, [member, key])).toEqual(second);
    const other = `${key}:2`;
    await oneOf(db, theirs, [member, other]);
    await rowsOf(db, inOne, [member, other]);
    await rowsOf(db, inOne, [member, other]);
    expect(await stages(db, member)).toEqual([
      "Nothing to do in-app shown",
      "A job failed in-app shown",
      "Nothing to do in-app shown",
      "Approved in-app shown",
    ]);
  });

  test.each([
    ["many paragraphs", 1, "x\n\n".repeat(6_600)],
    ["quotes without end", 1, '"'.repeat(20_000)],
    ["fifty long ones together", 50, '"'.repeat(20_000)],
    ["fifty of many paragraphs together", 50, "x\n\n".repeat(6_600)],
  ])("a mail can be made of any notification: %s", async (_, count, body) => {
    const member = await somebody(db);
    const url = `https://example.org/?${"&".repeat(1_900)}`;
    for (let n = 1; n <= count; n += 1) {
      await rowsOf(
        db,
        `select notify.tell(notify.recipient('acme', 'member', $1), $2, notify.content(
                  'reviews', $3, $4, '{email}', p_about => 'CR-1', p_cause => 'planted', p_action_url => $5))`,
        [member, randomUUID(), '"'.repeat(200), body, url],
      );
    }
    await makeDue(db, member);
    await rowsOf(db, release);
    expect(new Set((await stages(db, member)).map((line) => line.split(" ").at(-1)))).toEqual(new Set(["waiting"]));
  });

  test("a time zone that the server no longer knows is treated as UTC, and holds nobody up", async () => {
    const [member, other] = [await somebody(db), await somebody(db)];
    const held = { category: "reviews", channels: ["email"], about: "CR-1" };
    await tell(db, member, held);
    await rowsOf(
      db,
      `insert into notify.people (workspace_id, member_id, time_zone, quiet_from, quiet_until)
       values ('acme', $1, 'Gone/Zone', (now() at time zone 'UTC')::time + interval '2 hours', (now() at time zone 'UTC')::time + interval '3 hours')`,
      [member],
    );
    await rowsOf(
      db,
      `insert into notify.preferences (workspace_id, whose, category, channel, choice)
       values ('acme', 'member:' || $1, 'general', 'email', 'digest')`,
      [member],
    );
    await tell(db, member, { channels: ["email"], title: "For the digest" });
    await tell(db, other, held);
    await makeDue(db, member);
    await makeDue(db, other);
    await rowsOf(db, release);
    expect(await stages(db, other)).toEqual(["A title email waiting"]);
    expect(await stages(db, member)).toEqual(["A title email waiting", "For the digest email waiting"]);
  });

  test.each(["customer", "member"])(
    "a message that was sent again to a %s is erased with the first one",
    async (kind) => {
      const about = `CR-${randomUUID()}`;
      const recipient = kind === "member" ? await somebody(db) : about;
      const { id } = await oneOf<{ id: string }>(
        db,
        `select notify.tell(notify.recipient('acme', $1, $2, 'customer@example.org'), 'k', notify.content(
                  'progress', 'Of the customer', 'A body.', '{email}', p_about => $3, p_cause => 'planted')) as id`,
        [kind, recipient, about],
      );
      await makeDue(db, recipient);
      await rowsOf(db, release);
      const sent = "update notify.deliveries set outcome = 'delivered', outcome_at = now() where recipient = $1";
      await rowsOf(db, sent, [recipient]);
      await rowsOf(db, "select notify.resend($1, 'email', 'ada')", [id]);
      const messages = await rowsOf(db, "select outbox_id from notify.deliveries where recipient = $1 order by 1", [
        recipient,
      ]);
      expect(messages).toHaveLength(2);
      const found = await rowsOf(
        db,
        `select unnest(e.to_customer || e.to_members) as outbox_id from notify.erase_about($1, clock_timestamp(), '{}') e order by 1`,
        [about],
      );
      expect(found).toEqual(messages);
    },
  );
});
