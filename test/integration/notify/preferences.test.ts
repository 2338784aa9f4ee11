/** How people want to be notified: what may be chosen, by whom, and that it is stored as chosen or refused with a clear explanation. */
import { describe, expect, test } from "vitest";
import { getPreferences, setPreferences, type PreferenceChanges } from "../../../src/notify/index.ts";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { anonymous, memberSession, overHttp, service, type Session } from "../capacity/gateway.ts";
import { codeOf, oneOf, rowsOf, startWorkflow } from "../capacity/harness.ts";
import { somebody, stages, tell } from "./harness.ts";

const zones: readonly (readonly [string, string | null])[] = [
  ["Europe/Berlin", "Europe/Berlin"],
  ["europe/berlin", "Europe/Berlin"],
  ["America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"],
  ["UTC", "UTC"],
  ["Mars/Olympus", null],
  ["+02:00", null],
  ["posix/Europe/Berlin", null],
  ["../../etc/passwd", null],
  ["", null],
  ["x".repeat(10_000), null],
];

const refused: readonly (readonly [string, unknown, string])[] = [
  ["what is critical", { choices: { operations: { email: "off" } } }, "not_allowed"],
  ["delaying critical notifications", { choices: { operations: { slack: "digest" } } }, "not_allowed"],
  ["a category for customers", { choices: { payments: { email: "off" } } }, "invalid_input"],
  ["an unknown category", { choices: { pigeons: { email: "off" } } }, "invalid_input"],
  ["an unknown channel", { choices: { reviews: { pigeon: "off" } } }, "invalid_input"],
  ["an unknown choice", { choices: { reviews: { email: "maybe" } } }, "invalid_input"],
  ["a digest in the inbox", { choices: { reviews: { "in-app": "digest" } } }, "invalid_input"],
  ["a choice of nothing", { choices: { reviews: { email: null } } }, "invalid_input"],
  ["choices that are a list", { choices: [] }, "invalid_input"],
  ["a category that is a word", { choices: { reviews: "off" } }, "invalid_input"],
  ["an unknown field", { colour: "red" }, "invalid_input"],
  ["quiet hours without an end", { quiet_from: "22:00" }, "invalid_input"],
  ["quiet hours of no length", { quiet_from: "22:00", quiet_until: "22:00" }, "invalid_input"],
  ["an invalid time", { digest_at: "25:00" }, "invalid_input"],
  ["a time in words", { digest_at: "in the morning" }, "invalid_input"],
  ["changes that are a list", [], "invalid_input"],
];

describe.each(POSTGRES_VERSIONS)("preferences on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const db = workflow.superuser;
  const control = workflow.db.as("headroom_control").pool;
  const set = (session: Session, changes: unknown, member: string | null = null, workspace: string | null = null) =>
    overHttp(workflow.db, session, (client) =>
      rowsOf(client, "select public.set_notification_preferences($1, $2, $3)", [
        JSON.stringify(changes),
        member,
        workspace,
      ]),
    );
  const get = async (member: string) => {
    const found = await getPreferences(control, { workspaceId: "acme", member });
    if (found.outcome === "refused") throw new Error(found.message);
    return found.preferences;
  };

  test("a member without choices gets everything immediately, in UTC", async () => {
    const member = await somebody(db);
    const { categories, ...rest } = await get(member);
    expect(rest).toEqual({
      workspaceId: "acme",
      memberId: member,
      name: "Somebody",
      timeZone: "UTC",
      quietFrom: null,
      quietUntil: null,
      digestAt: "09:00",
      reached: { "in-app": true, email: true, slack: false },
    });
    expect(categories.map(({ category, critical }) => [category, critical])).toEqual([
      ["requests", false],
      ["reviews", false],
      ["operations", true],
      ["general", false],
    ]);
    expect(new Set(categories.flatMap(({ choices }) => Object.values(choices)))).toEqual(new Set(["on"]));
  });

  test("a member's choices are stored, omitted ones stay, and the default leaves no row", async () => {
    const member = await somebody(db);
    await set(memberSession(member), {
      time_zone: "Asia/Kolkata",
      quiet_from: "22:00",
      quiet_until: "7:00",
      choices: { reviews: { email: "digest", slack: "off" } },
    });
    await set(memberSession(member), { digest_at: "18:30" });
    expect(await get(member)).toMatchObject({
      timeZone: "Asia/Kolkata",
      quietFrom: "22:00",
      quietUntil: "07:00",
      digestAt: "18:30",
    });
    await set(memberSession(member), {
      quiet_from: null,
      quiet_until: null,
      choices: { reviews: { email: "on", slack: "off" } },
    });
    expect(await get(member)).toMatchObject({ timeZone: "Asia/Kolkata", quietFrom: null, quietUntil: null });
    const kept = "select category, channel, choice from notify.preferences where whose = 'member:' || $1";
    expect(await rowsOf(db, kept, [member])).toEqual([{ category: "reviews", channel: "slack", choice: "off" }]);
  });

  test("choices take effect: off is not sent, a digest is held, critical passes", async () => {
    const member = await somebody(db);
    await set(memberSession(member), {
      choices: { reviews: { email: "off" }, requests: { email: "digest" }, general: { "in-app": "off" } },
    });
    for (const category of ["reviews", "requests", "operations"])
      await tell(db, member, { category, title: category, channels: ["email"] });
    await tell(db, member, { title: "general" });
    expect(await stages(db, member)).toEqual([
      "reviews email preference",
      "requests email held",
      "operations email waiting",
      "general in-app preference",
    ]);
  });

  test.each(zones)("the time zone %.40s", async (name, kept) => {
    const member = await somebody(db);
    const done = await codeOf(set(memberSession(member), { time_zone: name })).catch(() => "kept");
    expect([done, (await get(member)).timeZone]).toEqual(kept === null ? ["invalid_input", "UTC"] : ["kept", kept]);
  });

  test.each(refused)("refuses %s, and changes nothing", async (_, changes, code) => {
    const member = await somebody(db);
    const before = await get(member);
    // Valid changes before it are undone too.
    const all = Array.isArray(changes) ? changes : { time_zone: "Europe/Paris", ...(changes as object) };
    expect(await codeOf(set(memberSession(member), all))).toBe(code);
    expect(await get(member)).toEqual(before);
  });

  test("members choose for themselves, admins for others of their workspace, machines for the member they name", async () => {
    const [member, admin, other] = [await somebody(db), await somebody(db, ["admin"]), await somebody(db)];
    const changes = { digest_at: "10:00" };
    const asked: readonly (readonly [Session, string | null, string | null, string])[] = [
      [memberSession(member), null, null, "done"],
      [memberSession(member), member, "acme", "done"],
      [memberSession(member), other, null, "not_allowed"],
      [memberSession(member), "nobody-at-all", null, "not_allowed"],
      [memberSession(member), member, "globex", "not_allowed"],
      [memberSession(admin), other, null, "done"],
      [memberSession(admin), "nobody-at-all", null, "not_found"],
      [memberSession(admin), "glen", "globex", "not_found"],
      [memberSession(admin), "glen", "nowhere", "not_found"],
      [service, other, "acme", "done"],
      [service, null, null, "invalid_input"],
      [service, "gus", "acme", "not_found"],
    ];
    for (const [session, whose, workspace, expected] of asked) {
      const done = await codeOf(set(session, changes, whose, workspace)).catch(() => "done");
      expect([whose, workspace, done]).toEqual([whose, workspace, expected]);
    }
    await expect(set(anonymous, changes)).rejects.toThrow(/permission denied/);
  });

  test("the library changes what is named, and returns refusals", async () => {
    const member = await somebody(db);
    const person = { workspaceId: "acme", member };
    const changes: PreferenceChanges = { timeZone: "Europe/Berlin", choices: { general: { "in-app": "off" } } };
    expect(await setPreferences(control, changes, person)).toMatchObject({
      outcome: "found",
      preferences: { timeZone: "Europe/Berlin" },
    });
    expect(await setPreferences(control, { timeZone: "Nowhere" }, person)).toMatchObject({
      outcome: "refused",
      code: "invalid_input",
      message: "There is no time zone of that name.",
    });
    expect(await oneOf(db, "select count(*)::integer as n from notify.people where member_id = $1", [member])).toEqual({
      n: 1,
    });
  });

  test("held notifications follow the current schedule: quiet hours that end release them, and a digest comes at its new hour", async () => {
    const member = await somebody(db);
    const choose = (changes: object): Promise<unknown> =>
      rowsOf(db, "select notify.choose_when(m, $2) from directory.members m where m.id = $1", [
        member,
        JSON.stringify(changes),
      ]);
    // From an hour ago until two hours ago: quiet nearly all day, and now.
    const [from = "", until = "", digest = ""] = [-1, -2, 3].map((hours) =>
      new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16),
    );
    await choose({ quiet_from: from, quiet_until: until });
    await rowsOf(
      db,
      "insert into notify.preferences (workspace_id, whose, category, channel, choice) values ('acme', 'member:' || $1::text, 'general', 'email', 'digest')",
      [member],
    );
    await tell(db, member, { title: "Held", category: "reviews", channels: ["email"] });
    await tell(db, member, { title: "Digest", channels: ["email"] });
    const due = (title: string): Promise<{ now: boolean; at: string }> =>
      oneOf(
        db,
        `select p.due_at <= clock_timestamp() as now, to_char(p.due_at at time zone 'UTC', 'HH24:MI') as at from notify.parts p
           join notify.notifications n on n.id = p.notification_id where n.recipient = $1 and n.title = $2`,
        [member, title],
      );
    expect(await due("Held")).toEqual({ now: false, at: until });
    await choose({ quiet_from: null, quiet_until: null, digest_at: digest });
    expect(await due("Held")).toMatchObject({ now: true });
    expect(await due("Digest")).toEqual({ now: false, at: digest });
    await rowsOf(db, "select * from notify.release()");
    expect(await stages(db, member)).toEqual(["Held email waiting", "Digest email held"]);
  });
});
