/**
 * Turns: work that one transaction at a time may do. They are rows, so that only the owner of our objects can take one; anybody else who
 * could would stop relays and timers without a trace.
 */
import { describe, expect, onTestFinished, test } from "vitest";
import { createTestDatabase, POSTGRES_VERSIONS, type TestClient } from "../../helpers/database.ts";

const roles = [
  "headroom_ingest",
  "headroom_executor",
  "headroom_control",
  "headroom_auditor",
  "anon",
  "authenticated",
  "service_role",
  "authenticator",
  "stranger",
];

const tryTurn = async (client: TestClient, name: string): Promise<boolean> =>
  (await client.query<{ taken: boolean }>("select headroom.try_turn($1) as taken", [name])).rows[0]!.taken;

const takeTurn = (client: TestClient, name: string): Promise<unknown> =>
  client.query("select headroom.take_turn($1)", [name]);

const lock = async (client: TestClient, wait: boolean): Promise<boolean> =>
  (await client.query<{ taken: boolean }>("select provisioning.lock_turn('w', '\\x01', $1) as taken", [wait])).rows[0]!
    .taken;

const busy = async (client: TestClient): Promise<unknown> =>
  (await client.query("select outbox.gc() -> 'busy' as busy")).rows[0].busy;

describe.each(POSTGRES_VERSIONS)("turns, on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version, template: "whole" });

  async function begin(): Promise<TestClient> {
    const client = await db.superuser.connect();
    onTestFinished(() => client.end());
    await client.query("begin");
    return client;
  }

  test("a turn that one transaction has cannot be taken by another, not even while it is first made", async () => {
    for (const ending of ["rollback", "commit"]) {
      const name = `first:${ending}`;
      const [one, other] = [await begin(), await begin()];
      expect(await tryTurn(one, name)).toBe(true);
      expect(await tryTurn(one, name)).toBe(true);
      expect(await tryTurn(other, name)).toBe(false);
      await one.query(ending);
      expect(await tryTurn(other, name)).toBe(true);
      await other.query("commit");
      await one.query("begin");
      expect(await tryTurn(one, name)).toBe(true);
      await other.query("begin");
      expect(await tryTurn(other, name)).toBe(false);
      expect(await tryTurn(other, `${name}, another`)).toBe(true);
    }
  });

  test.each(["commit", "rollback"])(
    "a turn that is waited for is granted when its maker ends with a %s",
    async (end) => {
      const [one, other] = [await begin(), await begin()];
      await takeTurn(one, `waited:${end}`);
      const waiting = takeTurn(other, `waited:${end}`);
      await db.waitUntilBlocked(other);
      await one.query(end);
      await waiting;
      await one.query("begin");
      expect(await tryTurn(one, `waited:${end}`)).toBe(false);
    },
  );

  test("a turn whose holder dies is free", async () => {
    const [one, other] = [await begin(), await begin()];
    one.on("error", () => undefined);
    await takeTurn(one, "died:1");
    const waiting = takeTurn(other, "died:1");
    await db.waitUntilBlocked(other);
    await db.superuser.pool.query("select pg_terminate_backend($1)", [one.pid]);
    await waiting;
    expect(await tryTurn(other, "died:1")).toBe(true);
  });

  test("turns of single persons are removed after a day, even while a transaction waits, but not while one has them", async () => {
    await db.superuser.pool.query(
      `insert into headroom.turns (name, made_at)
       values ('old:1', now() - interval '2 days'), ('old:2', now() - interval '2 days'), ('old', now() - interval '2 days'), ('new:1', now())`,
    );
    const [one, other, third] = [await begin(), await begin(), await begin()];
    await takeTurn(one, "old:2");
    await other.query("select headroom.forget_turns(100)");
    const waiting = takeTurn(third, "old:1");
    await db.waitUntilBlocked(third);
    await other.query("commit");
    await waiting;
    await third.query("commit");
    const left = await db.superuser.pool.query(
      "select name from headroom.turns where name like 'old%' or name like 'new%' order by name",
    );
    expect(left.rows.map(({ name }) => name)).toEqual(["new:1", "old", "old:1", "old:2"]);
    const remade = await db.superuser.pool.query(
      "select name from headroom.turns where name like 'old:%' and made_at > now() - interval '1 hour'",
    );
    expect(remade.rows).toEqual([{ name: "old:1" }]);
  });

  test("a customer's jobs are moved one after the other, and a sweep skips those that are being moved", async () => {
    const [one, other] = [await begin(), await begin()];
    expect(await lock(one, true)).toBe(true);
    expect(await lock(other, false)).toBe(false);
    const waiting = lock(other, true);
    await db.waitUntilBlocked(other);
    await one.query("rollback");
    expect(await waiting).toBe(true);
  });

  test("only one transaction at a time collects", async () => {
    const [one, other] = [await begin(), await begin()];
    expect(await busy(one)).toBe(false);
    expect(await busy(other)).toBe(true);
    await one.query("commit");
    expect(await busy(other)).toBe(false);
  });

  test("no function uses an advisory lock", async () => {
    const found = await db.superuser.pool.query(
      `select p.oid::regprocedure::text as function from pg_proc p
        where p.proowner = 'headroom_owner'::regrole and p.prosrc ~ 'pg_(try_)?advisory'`,
    );
    expect(found.rows).toEqual([]);
  });

  test("no login can lock a row or a table of ours", async () => {
    const client = await begin();
    await client.query("create role stranger");
    await client.query(
      `create function pg_temp.lockable() returns setof text language plpgsql as $$
       declare
         v_table record;
         v_statement text;
       begin
         for v_table in select c.oid::regclass as name from pg_class c
                         where c.relowner = 'headroom_owner'::regrole and c.relkind in ('r', 'p', 'v', 'm') loop
           foreach v_statement in array array['select from %s for update', 'select from %s for no key update', 'select from %s for share',
                                              'select from %s for key share', 'lock table only %s in share mode',
                                              'lock table only %s in access exclusive mode'] loop
             begin
               execute format(v_statement, v_table.name);
               return next format(v_statement, v_table.name);
             exception when insufficient_privilege or feature_not_supported or wrong_object_type then
               null;
             end;
           end loop;
         end loop;
       end $$`,
    );
    // The schemas are closed to most of them; this tests what holds if one is opened.
    await client.query(
      `do $$ declare v_schema name; begin
         for v_schema in select nspname from pg_namespace where nspowner = 'headroom_owner'::regrole loop
           execute format('grant usage on schema %I to public', v_schema);
         end loop;
       end $$`,
    );
    for (const role of roles) {
      await client.query(`set local role ${role}`);
      expect([role, (await client.query("select pg_temp.lockable()")).rows]).toEqual([role, []]);
      await client.query("reset role");
    }
    // A role that may update could lock, so this test would notice it.
    await client.query("grant select, update on headroom.turns to stranger; set local role stranger");
    expect((await client.query("select pg_temp.lockable() as it")).rows).toContainEqual({
      it: "select from headroom.turns for update",
    });
  });
});
