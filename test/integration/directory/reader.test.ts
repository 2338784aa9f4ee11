/**
 * The reader is looked up once per transaction and kept for policies. The kept one is valid only for the login, the role, the claims and
 * the snapshot that it was made from; a change of the directory in the same transaction ends it; and where nobody verifies tokens it has no
 * effect.
 *
 * Transactions here read one snapshot wherever keeping matters: in others the next query may look the reader up again.
 */
import type { ClientBase } from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { enter, memberSession, service, type Session } from "../capacity/gateway.ts";
import { codeOf, oneOf, rowsOf, startWorkflow } from "../capacity/harness.ts";

const withClaims = (session: Session, claims: object): Session => ({
  role: session.role,
  claims: { ...(session.claims as object), ...claims },
});

const readings = {
  requests: "select * from public.capacity_requests order by created_at desc limit 50",
  events: "select * from public.capacity_request_events order by created_at desc limit 50",
  notifications: "select * from public.notifications",
} as const;

/** Overwrites what the session of the transaction kept. */
const forge = `
  select set_config('headroom.reader', $1, true),
         set_config('headroom.reader_made_from',
           concat_ws(' ', session_user, current_setting('role'), pg_current_snapshot()) || ' ' || current_setting('request.jwt.claims'), true)`;
const admin = "(acme,ada,Ada,U0ADA,{admin},{},{},{},t)";

async function enterAs(client: ClientBase, session: Session, login = "authenticator"): Promise<void> {
  await client.query(`set local session authorization ${login}`);
  await enter(client, session);
}

async function seen(client: ClientBase): Promise<number> {
  return (await oneOf<{ n: number }>(client, "select count(*)::integer as n from public.capacity_requests")).n;
}

async function seenBy(client: ClientBase, session: Session): Promise<number> {
  await enterAs(client, session);
  return seen(client);
}

async function asOwner(client: ClientBase, text: string): Promise<void> {
  await client.query("set local session authorization default");
  await client.query(text);
}

/** How often the work called each of the functions. */
async function callsOf(client: ClientBase, work: () => Promise<unknown>): Promise<Record<string, number>> {
  const names = ["standing_of", "signed_in_member", "revocation", "reader"];
  const counted = async (): Promise<Map<string, number>> => {
    const rows = await rowsOf<{ name: string; calls: number }>(
      client,
      `select funcname as name, calls::integer from pg_stat_xact_user_functions
        where schemaname = 'directory' and funcname = any ($1)`,
      [names],
    );
    return new Map(rows.map(({ name, calls }) => [name, calls]));
  };
  const before = await counted();
  await work();
  const after = await counted();
  return Object.fromEntries(names.map((name) => [name, (after.get(name) ?? 0) - (before.get(name) ?? 0)]));
}

describe.each(POSTGRES_VERSIONS)("the reader on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const { db } = workflow;

  beforeAll(async () => {
    await db.superuser.pool.query(`alter database ${db.name} set track_functions = 'all'`);
    for (let made = 0; made < 50; made++) await workflow.create({ owner: "carl", group: "infra-eu" });
    await workflow.create({ requester: "rob", owner: "cora", group: "infra" });
    await workflow.create({ owner: "glen", workspace: "globex" });
    await rowsOf(db.superuser.pool, "select public.notify('acme', 'rita', 'reader', 'Title', 'Body')");
  });

  /** One transaction of a superuser, in which sessions of any login can be entered and left; rolled back. */
  async function within<T>(work: (client: ClientBase) => Promise<T>): Promise<T> {
    const client = await db.superuser.pool.connect();
    try {
      await client.query("begin isolation level repeatable read; set local track_functions = 'all'");
      return await work(client);
    } finally {
      await client.query("rollback");
      client.release();
    }
  }

  const once = { standing_of: 1, signed_in_member: 1, revocation: 1 };

  test.each(Object.entries(readings))("a list of %s looks the member up once", async (what, query) => {
    const client = await db.as("authenticator").connect();
    await client.query("begin");
    await enter(client, memberSession("rita"));
    let rows = 0;
    const calls = await callsOf(client, async () => (rows = (await rowsOf(client, query)).length));
    expect(rows).toBe(what === "notifications" ? 1 : 50);
    expect(calls).toMatchObject(once);
    expect(calls["reader"]).toBeGreaterThan(1);
    await client.query("commit");
    await client.end();
  });

  test("all lists of a transaction look the member up once, and an unknown member no more often", async () => {
    for (const [member, calls] of [
      ["rita", once],
      ["nobody", { ...once, standing_of: 0 }],
    ] as const) {
      await within(async (client) => {
        await enterAs(client, memberSession(member));
        const all = async (): Promise<void> => {
          for (const query of Object.values(readings)) await client.query(query);
        };
        expect([member, await callsOf(client, all)]).toMatchObject([member, calls]);
      });
    }
  });

  test("the key of a machine is looked up once", async () => {
    await within(async (client) => {
      await enterAs(client, withClaims(service, { key_id: "reader-ci" }));
      let rows = 0;
      const calls = await callsOf(client, async () => (rows = (await rowsOf(client, readings.requests)).length));
      expect(rows).toBe(50);
      expect(calls).toMatchObject({ standing_of: 0, signed_in_member: 0, revocation: 1 });
    });
  });

  test("what was kept for one role and one set of claims is not used for another, nor lost on the way back", async () => {
    const readers = [
      [memberSession("rita"), 50],
      [memberSession("ada"), 51],
      [service, 52],
      [memberSession("rita", "globex"), 1],
      [withClaims(service, { app_metadata: { workspace_id: "acme", member_id: "ada" } }), 52],
      [memberSession("nobody"), 0],
      [{ role: "authenticated", claims: "[" }, 0],
      [{ role: "authenticated", claims: "" }, 0],
    ] as const;
    await within(async (client) => {
      for (const [first, firstSees] of readers) {
        for (const [second, secondSees] of readers) {
          expect([first, await seenBy(client, first)]).toEqual([first, firstSees]);
          expect([second, await seenBy(client, second)]).toEqual([second, secondSees]);
        }
      }
      // The same claims, under another role and another login.
      const asAda = memberSession("ada");
      expect(await seenBy(client, asAda)).toBe(51);
      expect(await seenBy(client, { ...asAda, role: "service_role" })).toBe(52);
      expect(await seenBy(client, asAda)).toBe(51);
      await client.query("set local session authorization default");
      await enter(client, asAda);
      expect(await seen(client)).toBe(0);
    });
  });

  test("what a savepoint kept goes with it, and what was kept before is valid again", async () => {
    await within(async (client) => {
      await enterAs(client, memberSession("rita"));
      await client.query("savepoint s");
      expect(await seen(client)).toBe(50);
      expect(await seenBy(client, memberSession("ada"))).toBe(51);
      await client.query("rollback to s");
      expect(await seen(client)).toBe(50);
      await asOwner(client, "savepoint s; update directory.members set roles = '{admin}' where id = 'rita'");
      expect(await seenBy(client, memberSession("rita"))).toBe(51);
      await client.query("rollback to s");
      expect(await seenBy(client, memberSession("rita"))).toBe(50);
    });
  });

  test("what another transaction commits is seen by the next query", async () => {
    const client = await db.as("authenticator").connect();
    await client.query("begin");
    await enter(client, memberSession("tess"));
    expect(await seen(client)).toBe(1);
    await rowsOf(db.superuser.pool, "select directory.put_group('acme', 'infra-eu', null, '{tess}')");
    expect(await seen(client)).toBe(51);
    await rowsOf(db.superuser.pool, "select directory.put_group('acme', 'infra-eu', null, '{}', '{tess}')");
    expect(await seen(client)).toBe(1);
    await client.query("commit");
    await client.end();
  });

  const away = "away_from = now() - interval '1 hour', away_until = now() + interval '1 hour'";
  const byKey = (session: Session): Session => withClaims(session, { key_id: "reader-key" });
  const since = Math.floor(Date.now() / 1000) - 60;
  const inBrowser = withClaims(memberSession("rita"), { via: "web", signed_in_at: since });

  test.each<readonly [what: string, reader: Session, before: number, change: string, after: number]>([
    [
      "a role given",
      memberSession("dora"),
      0,
      `select directory.put_member('acme', 'dora', '{"roles": ["auditor"]}')`,
      51,
    ],
    ["a role taken", memberSession("ada"), 51, `select directory.put_member('acme', 'ada', '{"roles": []}')`, 0],
    [
      "a member added to a group",
      memberSession("tess"),
      1,
      "select directory.put_group('acme', 'infra-eu', null, '{tess}')",
      51,
    ],
    [
      "a member removed from a group",
      memberSession("tess"),
      1,
      "select directory.put_group('acme', 'infra', null, '{}', '{tess}')",
      0,
    ],
    [
      "a group deleted",
      memberSession("tess"),
      1,
      "delete from directory.groups where workspace_id = 'acme' and id = 'infra'",
      0,
    ],
    [
      "an absence with a delegate",
      memberSession("dora"),
      0,
      `update directory.members set ${away} where id = 'cora'`,
      1,
    ],
    ["a member removed", memberSession("rita"), 50, "select directory.remove_member('acme', 'rita')", 0],
    ["a member signed out", inBrowser, 50, "update directory.members set signed_out_at = now() where id = 'rita'", 0],
    ["a member's key revoked", byKey(memberSession("rita")), 50, "select directory.revoke_api_key('reader-key')", 0],
    ["a machine's key revoked", byKey(service), 52, "select directory.revoke_api_key('reader-key')", 0],
    ["all groups emptied", memberSession("tess"), 1, "truncate directory.group_members", 0],
  ])("%s is seen by the next query of the same transaction", async (_what, reader, before, change, after) => {
    await within(async (client) => {
      expect(await seenBy(client, reader)).toBe(before);
      await asOwner(client, change);
      expect(await seenBy(client, reader)).toBe(after);
    });
  });

  test("a query that began before a change of the directory keeps nothing from before it", async () => {
    await within(async (client) => {
      await enterAs(client, memberSession("dora"));
      await client.query("declare c cursor for select id from public.capacity_requests");
      await asOwner(
        client,
        "update directory.members set roles = '{admin}' where workspace_id = 'acme' and id = 'dora'",
      );
      await enterAs(client, memberSession("dora"));
      await client.query("fetch c");
      expect(await seen(client)).toBe(51);
    });
  });

  test("a member may be called anything", async () => {
    await within(async (client) => {
      for (const name of [`"Ann", (née) O'Neil {x}`, "\\\\", '"', ",", " ", "NULL", "(,)", "日本 🙂"]) {
        await asOwner(client, "set local search_path = pg_catalog");
        await client.query(
          "update directory.members set display_name = $1 where workspace_id = 'acme' and id = 'rita'",
          [name],
        );
        await enterAs(client, memberSession("rita"));
        expect([name, await seen(client), await seen(client)]).toEqual([name, 50, 50]);
      }
    });
  });

  test("a login that verifies no tokens is nobody, whatever it sets", async () => {
    await within(async (client) => {
      await client.query("create role reader_stranger; grant authenticated to reader_stranger");
      await enterAs(client, memberSession("ada"), "reader_stranger");
      expect(await seen(client)).toBe(0);
      await client.query(forge, [admin]);
      expect(await seen(client)).toBe(0);
      // Where tokens are verified, a caller who can set this can set the claims too; unreadable values are looked up again.
      await enterAs(client, memberSession("dora"));
      expect(await seen(client)).toBe(0);
      await client.query(forge, [admin]);
      expect(await seen(client)).toBe(51);
      for (const garbage of ["(", "x", "(a,b)", "valid"]) {
        await client.query(forge, [garbage]);
        expect([garbage, await seen(client)]).toEqual([garbage, 0]);
      }
    });
  });

  test("no decision uses what is kept for reading", async () => {
    const { id } = await oneOf<{ id: string }>(
      db.superuser.pool,
      "select id from capacity.requests where workspace_id = 'acme' limit 1",
    );
    await within(async (client) => {
      await enterAs(client, memberSession("dora"));
      await client.query(forge, [admin]);
      expect(await seen(client)).toBe(51);
      for (const call of [
        `select public.get_capacity_request('${id}')`,
        `select public.decide_capacity_request('${id}', 'CANCEL_APPROVED', p_payload => '{"reason": "because"}')`,
      ]) {
        await client.query("savepoint s");
        expect([call, await codeOf(client.query(call))]).toEqual([call, "not_found"]);
        await client.query("rollback to s");
      }
      expect(await oneOf(client, "select public.who_am_i() ->> 'member_id' as id")).toEqual({ id: "dora" });
    });
  });
});
