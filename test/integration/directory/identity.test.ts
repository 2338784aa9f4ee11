/**
 * Who a caller is, as far as a connection proves it. No role may execute the functions under test, so each database here has its own
 * entrance to them, made like the real ones: a definer function of the owner.
 */
import type { ClientBase } from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { oneOf, refusalOf, rowsOf, type Queryable } from "../outbox/queries.ts";
import { anonymous, memberSession, overHttp, service, type Session } from "../capacity/gateway.ts";

const entrances = `
create function public.test_caller() returns jsonb language plpgsql stable security definer set search_path = pg_catalog, pg_temp
  as $$ declare c record := directory.caller(); begin return to_jsonb(c); end $$;
create function public.test_acting(p_type public.capacity_request_actor_type, p_id text, p_workspace text) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
  as $$ begin return to_jsonb(capacity.acting(p_type, p_id, p_workspace)); end $$;
alter function public.test_caller() owner to headroom_owner;
alter function public.test_acting(public.capacity_request_actor_type, text, text) owner to headroom_owner;
grant execute on function public.test_caller(), public.test_acting(public.capacity_request_actor_type, text, text) to public;
`;

const directory = `
insert into directory.workspaces (id, name) values ('acme', 'Acme'), ('globex', 'Globex');
insert into directory.workspaces (id, name, slack_users_become_requesters) values ('closed', 'Closed', false);
insert into directory.members (workspace_id, id, display_name, slack_user_id, roles, active) values
  ('acme', 'ann', 'Ann', 'U0ANN', '{requester,admin}', true),
  ('acme', 'bob', 'Bob', 'U0BOB', '{requester}', true),
  ('acme', 'gone', 'Gone', 'U0GONE', '{requester,admin}', false),
  ('acme', 'U0TWO', 'Two by id', null, '{requester}', true),
  ('acme', 'two', 'Two by Slack', 'U0TWO', '{requester}', true),
  ('acme', 'U0TAKEN', 'Has an id like a Slack id', 'U0OTHER', '{requester}', true),
  ('globex', 'ann', 'Another Ann', null, '{requester}', true),
  ('globex', 'gil', 'Gil', 'U0GIL', '{admin}', true);
`;

const withClaims = (claims: unknown): Session => ({ role: "authenticated", claims });

const callerIn = async (client: ClientBase): Promise<unknown> =>
  (await oneOf<{ caller: unknown }>(client, "select public.test_caller() as caller")).caller;

const named = (key_id: unknown): Session => ({ role: "service_role", claims: { key_id } });

/** Sets claims as any session can. */
async function forge(client: ClientBase, session: Session): Promise<void> {
  await client.query("select set_config('request.jwt.claims', $1, false)", [JSON.stringify(session.claims)]);
}

const memberForSlack = (client: Queryable, workspace: string, slackId: string | null, name: string | null) =>
  oneOf<{ id: string; display_name: string; roles: string[]; slack_user_id: string }>(
    client,
    "select * from directory.member_for_slack($1, $2, $3)",
    [workspace, slackId, name],
  );

describe.each(POSTGRES_VERSIONS)("identity on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version });
  const superuser = db.superuser.pool;

  beforeAll(async () => {
    await superuser.query(entrances);
    await superuser.query(directory);
  });

  const callerOf = (session: Session): Promise<unknown> => overHttp(db, session, callerIn);
  const actingAs = (session: Session, type: string | null, id: string | null, workspace: string | null) =>
    overHttp(db, session, async (client) => {
      const answer = await oneOf<{ actor: unknown }>(client, "select public.test_acting($1, $2, $3) as actor", [
        type,
        id,
        workspace,
      ]);
      return answer.actor;
    });

  describe("the caller", () => {
    test("is the member whom the token names, in the workspace that it names", async () => {
      expect(await callerOf(memberSession("ann"))).toEqual({
        kind: "member",
        workspace_id: "acme",
        member_id: "ann",
        via: "api",
      });
      expect(await callerOf(memberSession("ann", "globex"))).toMatchObject({
        workspace_id: "globex",
        member_id: "ann",
      });
    });

    test("comes from the web when the gateway's own session says so, and otherwise from the API", async () => {
      const claims = memberSession("ann").claims as object;
      expect(await callerOf(withClaims({ ...claims, via: "web" }))).toMatchObject({ via: "web" });
      expect(await callerOf(withClaims({ ...claims, via: "cron" }))).toMatchObject({ via: "api" });
    });

    test.each([
      ["no claims at all", ""],
      ["claims that are no JSON", "{not json"],
      ["claims that are no object", '["ann"]'],
      ["claims nested without end", "[".repeat(100_000)],
      ["null", "null"],
      ["no member", { app_metadata: { workspace_id: "acme" } }],
      ["no workspace", { app_metadata: { member_id: "ann" } }],
      ["an unknown member", memberSession("nobody").claims],
      ["a member of another workspace", memberSession("bob", "globex").claims],
      ["a member who was deactivated", memberSession("gone").claims],
      ["a Slack id in place of a member id", memberSession("U0ANN").claims],
      ["claims that its holder can write", { user_metadata: { workspace_id: "acme", member_id: "ann" } }],
      ["fields beside app_metadata", { workspace_id: "acme", member_id: "ann", sub: "ann" }],
      ["app_metadata that is a text", { app_metadata: JSON.stringify({ workspace_id: "acme", member_id: "ann" }) }],
      ["names that are lists", { app_metadata: { workspace_id: ["acme"], member_id: ["ann"] } }],
    ])("a token with %s belongs to nobody", async (_what, claims) => {
      expect(await refusalOf(callerOf(withClaims(claims)))).toMatchObject({ code: "PT401", detail: "not_signed_in" });
    });

    test("is a service with a machine's key, named when the key has a name that can be recorded", async () => {
      expect(await callerOf(service)).toEqual({
        kind: "service",
        workspace_id: null,
        member_id: null,
        via: "service:key",
      });
      expect(await callerOf(named("ci-7"))).toMatchObject({ via: "service:ci-7" });
      for (const bad of ["", "a b", "x".repeat(65), "new\nline", 7.5, { a: 1 }]) {
        const { via } = (await callerOf(named(bad))) as { via: string };
        expect(via).toMatch(/^service:(key|7\.5)$/);
      }
    });

    test("is nobody as anon, whatever the claims say", async () => {
      expect(await callerOf(anonymous)).toMatchObject({ kind: "anon", member_id: null });
      expect(await callerOf({ role: "anon", claims: memberSession("ann").claims })).toMatchObject({
        kind: "anon",
        member_id: null,
      });
    });

    test("is nobody while the gateway has taken on no role", async () => {
      const client = await db.as("authenticator").connect();
      await client.query("select set_config('request.jwt.claims', $1, false)", [
        JSON.stringify(memberSession("ann").claims),
      ]);
      expect(await callerIn(client)).toMatchObject({ kind: "anon" });
    });

    test("is believed in a session of our own gateway as in PostgREST's", async () => {
      const client = await db.superuser.connect();
      await client.query("grant authenticated to headroom_gateway");
      await client.query("set session authorization headroom_gateway");
      expect(await callerIn(client)).toMatchObject({ kind: "anon" });
      await client.query("set role authenticated");
      await client.query("select set_config('request.jwt.claims', $1, false)", [
        JSON.stringify(memberSession("bob").claims),
      ]);
      expect(await callerIn(client)).toMatchObject({ kind: "member", member_id: "bob" });
    });
  });

  describe("in a plain SQL session", () => {
    test("claims are not believed, not even together with the role that goes with them", async () => {
      const client = await db.superuser.connect();
      await forge(client, memberSession("ann"));
      await client.query("set role authenticated");
      expect(await refusalOf(callerIn(client))).toMatchObject({ code: "PT401" });
      await client.query("set role anon");
      expect(await callerIn(client)).toMatchObject({ kind: "anon" });
    });

    test("a login of control is itself, and claims add nothing", async () => {
      const client = await db.as("headroom_control").connect();
      await forge(client, memberSession("ann"));
      expect(await callerIn(client)).toEqual({
        kind: "sql",
        workspace_id: null,
        member_id: null,
        via: "cli:login_headroom_control",
      });
    });

    test("the migrating role and a superuser are themselves", async () => {
      expect(await callerIn(await db.as("migrator").connect())).toMatchObject({ kind: "sql", via: "cli:migrator" });
      expect(await callerIn(await db.superuser.connect())).toMatchObject({ kind: "sql", via: "cli:postgres" });
    });

    test("a key id is not believed either", async () => {
      const client = await db.superuser.connect();
      await client.query("select set_config('request.jwt.claims', $1, false)", [JSON.stringify({ key_id: "billing" })]);
      await client.query("set role service_role");
      expect(await callerIn(client)).toMatchObject({ kind: "service", via: "cli:postgres" });
    });

    test.each(["headroom_ingest", "headroom_executor", "headroom_auditor"] as const)(
      "a login of %s is nobody who could act, even where it may execute",
      async (role) => {
        const client = await db.as(role).connect();
        await forge(client, memberSession("ann"));
        expect(await callerIn(client)).toMatchObject({ kind: "anon" });
      },
    );

    test("a login that inherits what members may do is nobody either", async () => {
      const client = await db.superuser.connect();
      await client.query("begin");
      await client.query("create role heir login in role authenticated");
      await client.query("set local session authorization heir");
      await forge(client, memberSession("ann"));
      expect(await callerIn(client)).toMatchObject({ kind: "anon" });
      await client.query("rollback");
    });
  });

  describe("the actor", () => {
    test("of a member is that member, named or not, by id or by Slack id", async () => {
      const ann = { type: "user", id: "ann", via: "api" };
      for (const [type, id, workspace] of [
        ["user", null, null],
        ["user", "ann", "acme"],
        ["user", "U0ANN", "acme"],
        ["user", null, "acme"],
      ] as const) {
        expect(await actingAs(memberSession("ann"), type, id, workspace)).toEqual(ann);
      }
    });

    test.each([
      ["another member", "user", "bob", "acme", "PT403"],
      ["another member's Slack id", "user", "U0BOB", "acme", "PT403"],
      ["an unknown member", "user", "nobody", "acme", "PT403"],
      ["themselves in another workspace", "user", "ann", "globex", "PT404"],
      ["themselves in a workspace that does not exist", "user", "ann", "nowhere", "PT404"],
      ["the system", "system", "ann", "acme", "PT403"],
      ["the clock", "cron", "ann", "acme", "PT403"],
      ["the customer", "customer", "ann", "acme", "PT403"],
    ] as const)("of a member, even an admin, is not %s", async (_what, type, id, workspace, code) => {
      expect(await refusalOf(actingAs(memberSession("ann"), type, id, workspace))).toMatchObject({ code });
    });

    test("of a service is any active member, whom it names", async () => {
      expect(await actingAs(service, "user", "bob", "acme")).toEqual({ type: "user", id: "bob", via: "service:key" });
      expect(await actingAs(service, "user", "U0BOB", "acme")).toEqual({ type: "user", id: "bob", via: "service:key" });
      expect(await actingAs(service, "user", "gil", "globex")).toMatchObject({ id: "gil" });
    });

    test.each([
      ["nobody", "user", null, "acme", "PT400"],
      ["an unknown member", "user", "nobody", "acme", "PT403"],
      ["a member of another workspace", "user", "gil", "acme", "PT403"],
      ["a Slack user of another workspace", "user", "U0GIL", "acme", "PT403"],
      ["a deactivated member", "user", "gone", "acme", "PT403"],
      ["a deactivated member by Slack id", "user", "U0GONE", "acme", "PT403"],
      ["two members at the same time", "user", "U0TWO", "acme", "PT403"],
      ["the system", "system", "system", "acme", "PT403"],
      ["the clock", "cron", "pg_cron", "acme", "PT403"],
      ["the customer", "customer", "customer", "acme", "PT403"],
    ] as const)("of a service is not %s", async (_what, type, id, workspace, code) => {
      expect(await refusalOf(actingAs(service, type, id, workspace))).toMatchObject({ code });
    });

    test("of a call that does not name its actor is nobody", async () => {
      for (const session of [memberSession("ann"), service]) {
        expect(await refusalOf(actingAs(session, null, "ann", "acme"))).toMatchObject({
          code: "PT400",
          detail: "invalid_input",
        });
      }
      expect(await refusalOf(actingAs(anonymous, null, "ann", "acme"))).toMatchObject({ code: "PT401" });
    });

    test("of an operator's SQL session is also any active member, and the log will name the login", async () => {
      const client = await db.as("headroom_control").connect();
      const answer = await oneOf(client, "select public.test_acting('user', 'U0BOB', 'acme') as actor");
      expect(answer).toEqual({ actor: { type: "user", id: "bob", via: "cli:login_headroom_control" } });
      expect(await refusalOf(client.query("select public.test_acting('system', 'system', 'acme')"))).toMatchObject({
        code: "PT403",
      });
    });

    test("of nobody does not exist", async () => {
      expect(await refusalOf(actingAs(anonymous, "user", "ann", "acme"))).toMatchObject({ code: "PT401" });
      const executor = await db.as("headroom_executor").connect();
      expect(await refusalOf(executor.query("select public.test_acting('user', 'ann', 'acme')"))).toMatchObject({
        code: "PT401",
      });
    });
  });

  describe("a definer function", () => {
    test("is not misled by its caller's objects in pg_temp or on the search_path", async () => {
      const client = await db.as("headroom_control").connect();
      await client.query("create temp table members (workspace_id text, id text, active boolean)");
      await client.query("insert into pg_temp.members values ('acme', 'mallory', true)");
      await client.query(
        `create function pg_temp.current_setting(text, boolean) returns text language sql as $$ select 'service_role' $$;
         create function pg_temp.caller() returns jsonb language sql as $$ select '{"kind": "service"}'::jsonb $$;
         create function pg_temp.spring(value pg_catalog.text) returns boolean language plpgsql as $$ begin raise exception 'sprung'; end $$;
         create domain pg_temp.text as pg_catalog.text check (pg_temp.spring(value));
         create domain pg_temp.name as pg_catalog.name check (pg_temp.spring(value::pg_catalog.text))`,
      );
      await client.query("set search_path = pg_temp, pg_catalog, capacity, public");
      expect(await callerIn(client)).toMatchObject({ kind: "sql" });
      expect(await refusalOf(client.query("select public.test_acting('user', 'mallory', 'acme')"))).toMatchObject({
        code: "PT403",
      });
      expect(await oneOf(client, "select public.test_acting('user', 'bob', 'acme') ->> 'id' as id")).toEqual({
        id: "bob",
      });
    });
  });

  describe("a Slack user", () => {
    test("that the directory knows is that member, whatever the name in Slack", async () => {
      expect(await memberForSlack(superuser, "acme", "U0ANN", "Somebody Else")).toMatchObject({
        id: "ann",
        display_name: "Ann",
      });
    });

    test("that it does not know becomes a requester on first use, once, and nothing more", async () => {
      const first = await memberForSlack(superuser, "acme", "U0NEW", "New \u0007\n Person");
      expect(first).toMatchObject({
        id: "U0NEW",
        slack_user_id: "U0NEW",
        display_name: "New Person",
        roles: ["requester"],
      });
      expect(await memberForSlack(superuser, "acme", "U0NEW", "Renamed")).toEqual(first);
    });

    test.each([
      ["no name", null, "U0NONAME"],
      ["a name of blanks", " \n ", "U0BLANK"],
      ["a name that is too long", "n".repeat(5000), "U0LONG"],
    ])("with %s gets one that can be shown", async (_what, name, slackId) => {
      const member = await memberForSlack(superuser, "acme", slackId, name);
      expect(member.display_name).toMatch(/^(U0NONAME|U0BLANK|n{200})$/);
    });

    test("whose id is another member's id gets a different one", async () => {
      expect(await memberForSlack(superuser, "acme", "U0TAKEN", "Newcomer")).toMatchObject({ id: "slack-U0TAKEN" });
      expect(await refusalOf(actingAs(service, "user", "U0TAKEN", "acme"))).toMatchObject({ code: "PT403" });
    });

    test("is one member after two first uses at the same moment", async () => {
      const [one, other] = await db.twoConnections("headroom_owner");
      await one.query("begin");
      const first = await memberForSlack(one, "acme", "U0RACE", "Racer");
      const second = memberForSlack(other, "acme", "U0RACE", "Racer");
      await db.waitUntilBlocked(other);
      await one.query("commit");
      expect((await second).id).toBe(first.id);
      expect(await rowsOf(superuser, "select from directory.members where slack_user_id = 'U0RACE'")).toHaveLength(1);
    });

    test.each([
      ["who is unknown, where the workspace wants nobody new", "closed", "U0NEW", "PT403"],
      ["of a workspace that does not exist", "nowhere", "U0NEW", "PT403"],
      ["who was deactivated", "acme", "U0GONE", "PT403"],
      ["without an id", "acme", null, "PT400"],
      ["with an invalid id", "acme", "ann", "PT400"],
    ] as const)("%s is refused", async (_what, workspace, slackId, code) => {
      expect(await refusalOf(memberForSlack(superuser, workspace, slackId, "X"))).toMatchObject({ code });
    });
  });
});
