/**
 * Removing a member: every way to act as that member ends immediately, and the next person with the id begins with nothing but what is
 * given to them. The log still names who decided.
 */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS, waitUntilBlocked } from "../../helpers/database.ts";
import { enter, memberSession, overHttp, type Session } from "../capacity/gateway.ts";
import { codeOf, oneOf, refusalOf, rowsOf, startWorkflow } from "../capacity/harness.ts";

const issuer = "https://id.example.org";
const ofServer: Session = { role: "service_role", claims: { role: "service_role", purpose: "sign_in" } };
const seconds = (): number => Math.floor(Date.now() / 1000);

/** A member's token, with its other claims. */
const token = (member: string, claims: object = {}): Session => ({
  role: "authenticated",
  claims: { ...(memberSession(member).claims as object), ...claims },
});

describe.each(POSTGRES_VERSIONS)("removing a member on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const { db, superuser } = workflow;
  const control = db.as("headroom_control").pool;

  const put = (id: string, changes: object) =>
    oneOf<Record<string, unknown>>(control, "select m.* from directory.put_member('acme', $1, $2) m", [
      id,
      JSON.stringify(changes),
    ]);
  const remove = (id: string) => oneOf(control, "select * from directory.remove_member('acme', $1)", [id]);
  const back = (id: string, changes: object = {}) => put(id, { ...changes, active: true });
  const link = (id: string, subject: string) =>
    control.query("select directory.put_identity('acme', $1, $2, $3)", [id, issuer, subject]);
  const signIn = (subject: string, email: string | null = null) =>
    overHttp(db, ofServer, async (client) => {
      const { who } = await oneOf<{ who: { member_id: string; signed_in_at: number } }>(
        client,
        "select public.sign_in_member($1, $2, $3, $4) as who",
        [issuer, subject, email, email !== null],
      );
      return who;
    });
  const bySlack = (user: string) =>
    oneOf<{ id: string }>(superuser, "select (directory.member_for_slack('acme', $1, 'Somebody')).id", [user]);
  /** One request over HTTP: the pre-request check, then who is signed in. */
  const ask = (session: Session) =>
    overHttp(db, session, async (client) => {
      await client.query("select public.check_request()");
      const { me } = await oneOf<{ me: { roles: string[]; groups: string[] } }>(
        client,
        "select public.who_am_i() as me",
      );
      return me;
    });
  const visible = (session: Session) =>
    overHttp(db, session, (client) => rowsOf(client, "select id from public.capacity_requests"));

  test("ends accounts, keys, sessions, roles, groups, delegations and the Slack user immediately, and says so", async () => {
    await put("lea", {
      display_name: "Lea",
      email: "lea@acme.example",
      slack_user_id: "U0LEA",
      roles: ["commercial", "vp"],
    });
    await put("lea", { delegate_id: "dora", away_from: "2030-01-01", away_until: "2030-02-01" });
    await put("hal", { delegate_id: "lea" });
    await control.query("select directory.put_group('acme', 'infra', p_add => '{lea}')");
    await link("lea", "sub-lea");
    await control.query("select directory.put_api_key('lea-laptop', 'authenticated', 'acme', 'lea')");
    const { id } = await workflow.create({ owner: "lea" });
    await workflow.apply(id, "COMMERCIAL_APPROVED", "lea");

    expect(await remove("lea")).toEqual({
      member_id: "lea",
      left_groups: ["infra"],
      roles: ["commercial", "vp"],
      slack_user_id: "U0LEA",
      accounts: 1,
      api_keys: ["lea-laptop"],
      delegators: ["hal"],
      left_behind: { open_requests: 1, policies: [] },
    });
    expect(await oneOf(superuser, "select * from directory.members where id = 'lea'")).toMatchObject({
      display_name: "Lea",
      email: null,
      slack_user_id: null,
      roles: [],
      delegate_id: null,
      away_from: null,
      away_until: null,
      active: false,
    });
    expect(await oneOf(superuser, "select delegate_id from directory.members where id = 'hal'")).toEqual({
      delegate_id: null,
    });
    expect(
      await oneOf(
        superuser,
        "select revoked_at is not null as revoked from directory.api_keys where id = 'lea-laptop'",
      ),
    ).toEqual({ revoked: true });
    // The log is unchanged, and so is the name by which people know who decided.
    expect(await workflow.row(id)).toMatchObject({ commercial_approved_by: "lea" });
    await workflow.expectWhole([id]);
  });

  test("leaves nothing to the next person with the id", async () => {
    await put("kim", { email: "kim@acme.example", slack_user_id: "U0KIM", roles: ["admin"], delegate_id: "dora" });
    await control.query("select directory.put_group('acme', 'infra', p_add => '{kim}')");
    await link("kim", "sub-kim");
    await control.query("select directory.put_api_key('kim-laptop', 'authenticated', 'acme', 'kim')");
    const { signed_in_at } = await signIn("sub-kim");
    const before = [
      token("kim", { via: "web", signed_in_at }),
      token("kim", { key_id: "kim-laptop", iat: seconds() }),
      token("kim", { key_id: "never-registered", iat: seconds() - 60 }),
      token("kim", { iat: seconds() - 60 }),
      token("kim"),
    ];
    for (const session of before) expect((await ask(session)).roles).toEqual(["admin"]);

    await remove("kim");
    expect(await back("kim", { display_name: "Kimberly" })).toMatchObject({
      display_name: "Kimberly",
      email: null,
      slack_user_id: null,
      roles: ["requester"],
      delegate_id: null,
      active: true,
    });
    for (const session of before) {
      expect(await codeOf(ask(session))).toBe("not_signed_in");
      expect(await visible(session)).toEqual([]);
    }
    expect(await codeOf(signIn("sub-kim"))).toBe("not_allowed");
    expect(await codeOf(bySlack("U0KIM"))).toBe("not_allowed");

    // What is given to them now is theirs immediately.
    await link("kim", "sub-kimberly");
    const again = await signIn("sub-kimberly");
    expect(await ask(token("kim", { via: "web", signed_in_at: again.signed_in_at }))).toMatchObject({
      roles: ["requester"],
      groups: [],
    });
    await control.query("select directory.put_api_key('kim-desk', 'authenticated', 'acme', 'kim')");
    await ask(token("kim", { key_id: "kim-desk", iat: seconds() }));
    await ask(token("kim", { iat: seconds() + 2 }));
  });

  test("without a new name, the next person with the id does not have the previous one's", async () => {
    await put("max", { display_name: "Maximilian" });
    await remove("max");
    expect(await back("max")).toMatchObject({ display_name: "max" });
  });

  test("odd times in a token admit nobody, and break nothing", async () => {
    await put("odd", {});
    await remove("odd");
    await back("odd");
    for (const iat of ["x", null, -1, -1e300, [], "1e400"]) {
      expect(await visible(token("odd", { iat }))).toEqual([]);
    }
    const huge = `{"role": "authenticated", "iat": 1e9999, "app_metadata": {"workspace_id": "acme", "member_id": "odd"}}`;
    await ask({ role: "authenticated", claims: huge });
  });

  test("has the same effect when put_member sets a member inactive", async () => {
    await put("ned", { email: "ned@acme.example", slack_user_id: "U0NED", roles: ["vp"] });
    await control.query("select directory.put_group('acme', 'infra', p_add => '{ned}')");
    await link("ned", "sub-ned");
    await control.query("select directory.put_api_key('ned-laptop', 'authenticated', 'acme', 'ned')");
    expect(await put("ned", { active: false })).toMatchObject({
      active: false,
      email: null,
      slack_user_id: null,
      roles: [],
    });
    expect(await put("ned", { active: false })).toMatchObject({ active: false });
    const left = await oneOf(
      superuser,
      `select (select count(*)::int from directory.identities where member_id = 'ned') as accounts,
              (select count(*)::int from directory.group_members where member_id = 'ned') as groups,
              (select count(*)::int from directory.api_keys where member_id = 'ned' and revoked_at is null) as keys`,
    );
    expect(left).toEqual({ accounts: 0, groups: 0, keys: 0 });
    expect(await codeOf(bySlack("U0NED"))).toBe("not_allowed");
    expect(await codeOf(put("rob", { active: false, display_name: "Robert" }))).toBe("invalid_input");
    expect(await codeOf(put("nobody", { active: false }))).toBe("not_found");
  });

  test("is not undone by another change: bringing an id back must be requested", async () => {
    await put("pat", { roles: ["vp"] });
    await remove("pat");
    const refusal = await refusalOf(put("pat", { email: "pat@acme.example" }));
    expect(refusal).toMatchObject({ code: "PT409", hint: expect.stringContaining("--back") });
    expect(await oneOf(superuser, "select active, email from directory.members where id = 'pat'")).toEqual({
      active: false,
      email: null,
    });
  });

  test("leaves no rule to the next person with the id: rules that name it must be changed first", async () => {
    await put("quinn", { roles: ["commercial"] });
    const rule = (changes: object) =>
      control.query("select capacity.put_policy('acme', 'quinn-decides', $1)", [JSON.stringify(changes)]);
    await rule({ kind: "escalation", approver_id: "quinn", sizes: ["99XL"] });
    expect(await remove("quinn")).toMatchObject({ left_behind: { policies: ["quinn-decides"] } });
    const refusal = await refusalOf(back("quinn"));
    expect(refusal).toMatchObject({ code: "PT409", message: expect.stringContaining("quinn-decides") });
    await rule({ enabled: false });
    await back("quinn");
    await rule({ enabled: true });
    await remove("quinn");
    await rule({ approver_id: "vera" });
    await back("quinn");
    await control.query("select capacity.remove_policy('acme', 'quinn-decides')");
  });

  test("a member who was removed before this feature existed brings nothing along either", async () => {
    // Gus left when leaving only set a flag.
    await superuser.query(
      `insert into directory.identities (issuer, subject, workspace_id, member_id) values ('${issuer}', 'sub-gus', 'acme', 'gus');
       insert into directory.api_keys (id, role, workspace_id, member_id) values ('gus-laptop', 'authenticated', 'acme', 'gus')`,
    );
    expect(await codeOf(bySlack("U0GUS"))).toBe("not_allowed");
    expect(await back("gus")).toMatchObject({ roles: ["requester"], slack_user_id: null });
    expect(await codeOf(signIn("sub-gus"))).toBe("not_allowed");
    expect(await codeOf(ask(token("gus", { key_id: "gus-laptop" })))).toBe("not_signed_in");
    expect(await codeOf(bySlack("U0GUS"))).toBe("not_allowed");
    expect(await rowsOf(superuser, "select from directory.group_members where member_id = 'gus'")).toEqual([]);
  });

  describe("an account of a removed member", () => {
    test("is not linked again by a rule for its domain, not even to the same id with the same address", async () => {
      await control.query("select directory.put_identity_domain('acme', $1, 'acme.example')", [issuer]);
      await put("sue", { email: "sue@acme.example" });
      expect(await signIn("sub-sue", "sue@acme.example")).toMatchObject({ member_id: "sue" });
      await remove("sue");
      expect(await codeOf(signIn("sub-sue", "sue@acme.example"))).toBe("not_allowed");
      await back("sue", { email: "sue@acme.example" });
      expect(await codeOf(signIn("sub-sue", "sue@acme.example"))).toBe("not_allowed");
      expect(await signIn("sub-next-sue", "sue@acme.example")).toMatchObject({ member_id: "sue" });
    });

    test("is linked again by an admin", async () => {
      await put("uma", {});
      await link("uma", "sub-uma");
      await remove("uma");
      await back("uma");
      await link("uma", "sub-uma");
      expect(await signIn("sub-uma")).toMatchObject({ member_id: "uma" });
    });
  });

  test("an account that an admin unlinked is not linked again by a rule for its domain", async () => {
    await put("wes", { email: "wes@acme.example" });
    expect(await signIn("sub-wes", "wes@acme.example")).toMatchObject({ member_id: "wes" });
    await control.query("select directory.remove_identity($1, 'sub-wes')", [issuer]);
    expect(await codeOf(signIn("sub-wes", "wes@acme.example"))).toBe("not_allowed");
    await link("wes", "sub-wes");
    expect(await signIn("sub-wes")).toMatchObject({ member_id: "wes" });
  });

  test("a removed Slack user does not become a requester by returning, and an admin can give the user to a member", async () => {
    expect(await bySlack("U0NEW")).toEqual({ id: "U0NEW" });
    await remove("U0NEW");
    expect(await codeOf(bySlack("U0NEW"))).toBe("not_allowed");
    await back("U0NEW");
    expect(await codeOf(bySlack("U0NEW"))).toBe("not_allowed");
    await put("U0NEW", { slack_user_id: "U0NEW" });
    expect(await bySlack("U0NEW")).toEqual({ id: "U0NEW" });

    await put("xena", { slack_user_id: "U0XENA" });
    await remove("xena");
    await put("xena2", { slack_user_id: "U0XENA" });
    expect(await bySlack("U0XENA")).toEqual({ id: "xena2" });
  });

  test.each([
    ["is given another", { slack_user_id: "U0NEXT" }],
    ["gives it up", { slack_user_id: null }],
    ["has none any more", { slack_user_id: null, without_slack: true }],
  ])("the Slack user of a member who %s does not become a member again by returning", async (_what, changes) => {
    await put("quin", { slack_user_id: "U0QUIN", roles: ["commercial"] });
    await put("quin", changes);
    expect(await codeOf(bySlack("U0QUIN"))).toBe("not_allowed");
    expect(await put("quin", { slack_user_id: "U0QUIN" })).toMatchObject({ slack_user_id: "U0QUIN" });
    expect(await bySlack("U0QUIN")).toEqual({ id: "quin" });
  });

  test("nobody is given the account of a removed member, or moves it, while that member has open requests", async () => {
    await put("zed", { slack_user_id: "U0ZED" });
    await put("zoe", {});
    await link("zoe", "sub-zoe");
    const theirs = [await workflow.create({ requester: "zed" }), await workflow.create({ requester: "zoe" })];
    await put("zed2", { roles: ["vp"] });
    expect((await refusalOf(link("zed2", "sub-zoe"))).message).toContain(theirs[1]?.id);
    await remove("zed");
    await remove("zoe");
    expect((await refusalOf(put("zed2", { slack_user_id: "U0ZED" }))).message).toContain(theirs[0]?.id);
    expect((await refusalOf(link("zed2", "sub-zoe"))).message).toContain(theirs[1]?.id);
    await put("boss", { roles: ["admin"] });
    for (const { id } of theirs) await workflow.apply(id, "CANCEL_APPROVED", "boss");
    expect(await put("zed2", { slack_user_id: "U0ZED" })).toMatchObject({ slack_user_id: "U0ZED" });
    await link("zed2", "sub-zoe");
  });

  test("a removal waits for a submission by the member, or the submission finds the member removed", async () => {
    await put("zia", { slack_user_id: "U0ZIA" });
    const client = await db.superuser.connect();
    const other = await db.as("headroom_control").connect();
    try {
      await client.query("begin");
      await workflow.create({ requester: "zia" }, client);
      const { pid } = await oneOf<{ pid: number }>(other, "select pg_backend_pid() as pid");
      const given = other.query("select directory.remove_member('acme', 'zia')");
      await waitUntilBlocked(superuser, pid);
      await client.query("commit");
      await given;
      expect(await codeOf(put("zed3", { slack_user_id: "U0ZIA" }))).toBe("conflict");
      await put("zac", {});
      await other.query("begin");
      await other.query("select directory.remove_member('acme', 'zac')");
      const begun = await oneOf<{ pid: number }>(client, "select pg_backend_pid() as pid");
      const asked = codeOf(workflow.create({ requester: "zac" }, client));
      await waitUntilBlocked(superuser, begun.pid);
      await other.query("commit");
      expect(await asked).toBe("not_allowed");
    } finally {
      await client.end();
      await other.end();
    }
  });

  test("a request that began earlier sees nothing more", async () => {
    await put("yan", { roles: ["auditor"] });
    await workflow.create();
    const client = await db.as("authenticator").connect();
    const seen = "select count(*)::int as n from public.capacity_requests";
    await client.query("begin");
    await enter(client, token("yan"));
    expect((await oneOf<{ n: number }>(client, seen)).n).toBeGreaterThan(0);
    await remove("yan");
    expect(await oneOf(client, seen)).toEqual({ n: 0 });
    await back("yan", { roles: ["auditor"] });
    expect(await oneOf(client, seen)).toEqual({ n: 0 });
    await client.query("rollback");
    await client.end();
  });

  test.each([
    ["an account that is being linked", "select directory.put_identity('acme', $1, $2, $1 || '-late')"],
    [
      "a key that is being handed out",
      "select directory.put_api_key($1 || '-late', 'authenticated', 'acme', $1, p_note => $2)",
    ],
    ["a group that is being filled", "select directory.put_group('acme', 'infra', p_name => $2, p_add => array[$1])"],
    [
      "a delegation that is being made",
      "select directory.put_member('acme', 'rob', jsonb_build_object('delegate_id', $1::text, 'email', replace($2, 'https://', 'rob@')))",
    ],
  ])("waits for %s, and ends it", async (what, text) => {
    const id = `late-${what.split(" ")[1]!}`;
    await put(id, {});
    const [giver, remover] = await db.twoConnections("headroom_control");
    await giver.query("begin");
    await giver.query(text, [id, issuer]);
    const removed = oneOf<Record<string, unknown>>(remover, "select * from directory.remove_member('acme', $1)", [id]);
    await db.waitUntilBlocked(remover);
    await giver.query("commit");
    const { accounts, api_keys, left_groups, delegators } = await removed;
    expect(
      [accounts, api_keys, left_groups, delegators].map(String).filter((each) => each !== "" && each !== "0"),
    ).toHaveLength(1);
    // And nothing is given to a member who is being removed.
    await back(id);
    await remover.query("begin");
    await remover.query("select directory.remove_member('acme', $1)", [id]);
    const late = giver.query(text.replaceAll("-late", "-later"), [id, issuer]).then(
      () => "given",
      (error: { code: string }) => error.code,
    );
    await db.waitUntilBlocked(giver);
    await remover.query("commit");
    expect(await late).toMatch(/^PT40[04]$/);
  });
});
