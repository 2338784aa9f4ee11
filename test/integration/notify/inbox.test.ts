/** A person's inbox: their own, and nobody else's, whatever roles they have. */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { memberSession, overHttp, service, type Session } from "../capacity/gateway.ts";
import { codeOf, oneOf, rowsOf, startWorkflow } from "../capacity/harness.ts";
import { somebody, tell } from "./harness.ts";

describe.each(POSTGRES_VERSIONS)("the inbox on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const db = workflow.superuser;
  const as = <T extends object>(session: Session, text: string, values: unknown[] = []): Promise<T[]> =>
    overHttp(workflow.db, session, (client) => rowsOf<T>(client, text, values));
  const inbox = async (member: string): Promise<string[]> =>
    (
      await as<{ title: string }>(memberSession(member), "select title from public.notifications order by created_at")
    ).map(({ title }) => title);
  const unread = async (member: string): Promise<number> =>
    (await as<{ unread: number }>(memberSession(member), "select * from public.unread_notifications()"))[0]?.unread ??
    -1;

  test("holds a member's notifications, and counts the unread ones", async () => {
    const member = await somebody(db);
    await tell(db, member, { title: "One" });
    const second = await tell(db, member, { title: "Two", channels: ["in-app", "email"] });
    await tell(db, member, { title: "By mail alone", channels: ["email"] });
    expect(await inbox(member)).toEqual(["One", "Two"]);
    expect(await as(memberSession(member), "select * from public.unread_notifications()")).toEqual([
      { unread: 2, latest: second },
    ]);
    const [row] = await as(memberSession(member), "select * from public.notifications where id = $1", [second]);
    expect(Object.keys(row ?? {})).toEqual([
      "id",
      "title",
      "body",
      "action_url",
      "category",
      "about",
      "priority",
      "created_at",
      "read_at",
    ]);
  });

  test("one is marked read once; all others up to a time, and later ones stay unread", async () => {
    const member = await somebody(db);
    const first = await tell(db, member, { title: "One" });
    await tell(db, member, { title: "Two" });
    const mark = "select public.mark_notification_read($1) as was_unread";
    expect(await as(memberSession(member), mark, [first])).toEqual([{ was_unread: true }]);
    expect(await as(memberSession(member), mark, [first])).toEqual([{ was_unread: false }]);
    const { now } = await oneOf<{ now: Date }>(db, "select clock_timestamp() as now");
    await rowsOf(db, "update notify.notifications set created_at = $2 where id <> $1 and recipient = $3", [
      first,
      new Date(now.getTime() - 60_000),
      member,
    ]);
    await tell(db, member, { title: "Three" });
    const all = "select public.mark_all_notifications_read($1) as marked";
    expect(await as(memberSession(member), all, [new Date(now.getTime() - 30_000)])).toEqual([{ marked: 1 }]);
    expect(await unread(member)).toBe(1);
    expect(await as(memberSession(member), all, [null])).toEqual([{ marked: 1 }]);
    expect(await unread(member)).toBe(0);
  });

  test("shows nothing of a category that the member switched off for the inbox", async () => {
    const member = await somebody(db);
    await as(memberSession(member), "select public.set_notification_preferences($1)", [
      { choices: { general: { "in-app": "off" } } },
    ]);
    await tell(db, member, { title: "Unwanted" });
    expect([await inbox(member), await unread(member)]).toEqual([[], 0]);
  });

  test.each(["admin", "auditor", "operator", "requester"])("an %s reads nobody else's", async (role) => {
    const [member, curious] = [await somebody(db), await somebody(db, [role])];
    const id = await tell(db, member, { title: "Private" });
    expect(await inbox(curious)).toEqual([]);
    expect(await unread(curious)).toBe(0);
    expect(await codeOf(as(memberSession(curious), "select public.mark_notification_read($1)", [id]))).toBe(
      "not_found",
    );
    await as(memberSession(curious), "select public.mark_all_notifications_read()");
    expect(await unread(member)).toBe(1);
  });

  test("nobody writes to it, and a machine has none", async () => {
    const member = await somebody(db);
    await tell(db, member);
    await expect(
      as(memberSession(member), "update public.notifications set read_at = now() where true"),
    ).rejects.toThrow(/permission denied|cannot update view/);
    await expect(as(service, "select from public.notifications")).rejects.toThrow(/permission denied/);
    await expect(as(service, "select public.unread_notifications()")).rejects.toThrow(/permission denied/);
  });

  test("only our own server asks who was notified lately", async () => {
    const member = await somebody(db);
    const ask = "select workspace_id, member_id from public.recently_told($1)";
    const { since } = await oneOf<{ since: string }>(
      db,
      "select floor(extract(epoch from clock_timestamp()) * 1000000)::bigint::text as since",
    );
    const ours: Session = { role: "service_role", claims: { role: "service_role", purpose: "events" } };
    expect(await as(ours, ask, [since])).toEqual([]);
    const id = await tell(db, member);
    expect(await as(ours, ask, [since])).toEqual([{ workspace_id: "acme", member_id: member }]);
    await rowsOf(db, "update notify.notifications set created_at = created_at - interval '1 hour' where id = $1", [id]);
    expect(await as(ours, ask, [since])).toEqual([]);
    await as(memberSession(member), "select public.mark_notification_read($1)", [id]);
    expect(await as(ours, ask, [since])).toEqual([{ workspace_id: "acme", member_id: member }]);
    expect(await codeOf(as(service, ask, [since]))).toBe("not_allowed");
  });
});
