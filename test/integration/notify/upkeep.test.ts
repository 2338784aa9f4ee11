/** Old notifications are deleted after their category's retention; a member's notifications and preferences are deleted with the member. */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { memberSession, overHttp } from "../capacity/gateway.ts";
import { oneOf, rowsOf, startWorkflow } from "../capacity/harness.ts";
import { somebody, stages, tell } from "./harness.ts";

describe.each(POSTGRES_VERSIONS)("upkeep of notifications on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const db = workflow.superuser;
  const forget = async (most: number): Promise<number> =>
    (await oneOf<{ n: number }>(workflow.db.as("headroom_executor").pool, "select notify.forget_old($1) as n", [most]))
      .n;
  const age = (member: string, days: number) =>
    rowsOf(db, "update notify.notifications set created_at = now() - $2 * interval '1 day' where recipient = $1", [
      member,
      days,
    ]);

  test.each([
    ["general", 89, 1],
    ["general", 91, 0],
    ["reviews", 364, 1],
    ["reviews", 366, 0],
  ])("%s of %i days: %i is left", async (category, days, left) => {
    const member = await somebody(db);
    await tell(db, member, { category });
    await age(member, days);
    await forget(1_000);
    expect(await stages(db, member)).toHaveLength(left);
  });

  test("a batch takes no more than its limit, and what is still held stays", async () => {
    const member = await somebody(db);
    for (let each = 0; each < 5; each += 1) await tell(db, member, { title: `${each}` });
    await tell(db, member, { title: "Held", category: "requests", channels: ["email"], about: "CR-1" });
    await age(member, 1_000);
    expect([await forget(3), await forget(3), await forget(3)]).toEqual([3, 2, 0]);
    expect(await stages(db, member)).toEqual(["Held email held"]);
  });

  test("messages are deleted when nothing that they carried is left, and their archive is up to the outbox", async () => {
    const member = await somebody(db);
    await tell(db, member, { channels: ["email"] });
    await age(member, 100);
    await rowsOf(db, "update notify.deliveries set released_at = now() - interval '100 days' where recipient = $1", [
      member,
    ]);
    expect(await forget(100)).toBe(2);
    expect(await rowsOf(db, "select from notify.deliveries where recipient = $1", [member])).toEqual([]);
  });

  test("when a member is removed, their notifications and preferences are erased, and waiting messages are not sent", async () => {
    const member = await somebody(db);
    await overHttp(workflow.db, memberSession(member), (client) =>
      rowsOf(client, "select public.set_notification_preferences($1)", [
        { time_zone: "Europe/Rome", choices: { general: { slack: "off" } } },
      ]),
    );
    const secret = { title: "Salary", body: "A secret body." };
    await tell(db, member, { ...secret, channels: ["in-app", "email"] });
    await tell(db, member, { ...secret, category: "requests", channels: ["email"], about: "CR-1" });
    const outbox = await rowsOf<{ id: string }>(
      db,
      "select outbox_id as id from notify.deliveries where recipient = $1",
      [member],
    );
    await rowsOf(workflow.db.as("headroom_control").pool, "select directory.remove_member('acme', $1)", [member]);
    expect(await stages(db, member)).toEqual([
      "(erased) email given_up",
      "(erased) in-app shown",
      "(erased) email nobody",
    ]);
    for (const table of [
      "notify.people",
      "notify.preferences",
      "notify.notifications",
      "notify.deliveries",
      "notify.parts",
    ]) {
      const rows = await rowsOf<{ row: string }>(db, `select t::text as row from ${table} t`);
      expect(rows.filter(({ row }) => /Salary|secret body|Europe\/Rome/.test(row))).toEqual([]);
    }
    const payloads = await rowsOf(db, "select payload from outbox.payloads where outbox_id = any ($1)", [
      outbox.map(({ id }) => id),
    ]);
    expect(payloads).toEqual([{ payload: null }]);
    expect(await rowsOf(db, "select from notify.preferences where whose = 'member:' || $1", [member])).toEqual([]);
    expect(await rowsOf(db, "select from notify.deliveries where to_erase")).toEqual([]);
  });

  test("the next person with a removed member's id starts with an empty inbox", async () => {
    const member = await somebody(db);
    await tell(db, member);
    const control = workflow.db.as("headroom_control").pool;
    await rowsOf(control, "select directory.remove_member('acme', $1)", [member]);
    await rowsOf(control, "select directory.put_member('acme', $1, '{\"active\": true}')", [member]);
    const { role, claims } = memberSession(member);
    const issued = { role, claims: { ...(claims as object), iat: Math.floor(Date.now() / 1000) + 60 } };
    const seen = await overHttp(workflow.db, issued, (client) =>
      rowsOf(
        client,
        "select id from public.notifications union all select latest from public.unread_notifications() where latest is not null",
      ),
    );
    expect(seen).toEqual([]);
  });
});
