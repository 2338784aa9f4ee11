/** What Supabase's databases have in addition to plain ones, and what the migrator must cope with there. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withConnection } from "../../../../src/db/connect.ts";
import { migrate, type MigrationResult } from "../../../../src/db/migrate.ts";
import { migratorRole, everyVersion } from "../../../helpers/clusters.ts";
import { createEmptyDatabase, createTestDatabase, type EmptyDatabase } from "../../../helpers/database.ts";

/**
 * As in Supabase's own set-up until August 2026: meant for pg_graphql, it acts on every new function named `resolve`, in any schema, with
 * the rights of the function's creator, who may do nothing in graphql_public.
 */
const graphqlAccess = `
create schema extensions;
create schema graphql_public;
create function graphql_public.graphql(query text default null) returns jsonb language sql as 'select null::jsonb';
create function extensions.grant_pg_graphql_access() returns event_trigger language plpgsql as $trigger$
declare
  func_is_graphql_resolve bool;
begin
  func_is_graphql_resolve = (
    select n.proname = 'resolve' from pg_event_trigger_ddl_commands() as ev left join pg_catalog.pg_proc as n on ev.objid = n.oid
  );
  if func_is_graphql_resolve then
    drop function if exists graphql_public.graphql;
    create or replace function graphql_public.graphql(query text default null) returns jsonb language sql
    as 'select graphql.resolve(query := query)';
    grant usage on schema graphql_public to anon, authenticated, service_role;
  end if;
end
$trigger$;
create event trigger issue_pg_graphql_access on ddl_command_end when tag in ('CREATE FUNCTION')
  execute function extensions.grant_pg_graphql_access();
`;

/** Enough of pg_cron to schedule a job, and to see in which transaction that was. */
const cron = `
create schema cron;
grant usage on schema cron to ${migratorRole};
create table cron.calls (jobname text, txid bigint);
create function cron.schedule(job_name text, schedule text, command text) returns bigint language sql security definer as $$
  insert into cron.calls values (job_name, pg_current_xact_id()::text::bigint) returning 1::bigint $$;
`;

/**
 * Enough of Realtime to send, with row-level security to decide who receives. Its table belongs to the migrating role, which stands for
 * what Supabase lets that role do on it.
 */
const realtime = `
create schema realtime;
grant usage on schema realtime to ${migratorRole}, authenticated;
create table realtime.messages (topic text, event text, payload jsonb, private boolean);
alter table realtime.messages enable row level security;
alter table realtime.messages owner to ${migratorRole};
grant select on realtime.messages to authenticated;
do $$ begin create role supabase_realtime_admin noinherit; exception when duplicate_object then null; end $$;
grant authenticated to supabase_realtime_admin;
create function realtime.topic() returns text language sql stable as $$ select current_setting('realtime.topic', true) $$;
create function realtime.send(payload jsonb, event text, topic text, private boolean default true) returns void language sql as $$
  insert into realtime.messages (topic, event, payload, private) values (topic, event, payload, private) $$;
`;

describe.each(everyVersion)("a database with everything that Supabase adds, on PostgreSQL %i", (version) => {
  let db: EmptyDatabase;
  let first: MigrationResult;
  beforeAll(async () => {
    db = await createEmptyDatabase(version);
    for (const part of [graphqlAccess, cron, realtime])
      await withConnection(db.superuserUrl, (client) => client.query(part));
    await withConnection(db.url, async (client) => {
      await expect(
        client.query("create function public.resolve() returns integer language sql as 'select 1'"),
      ).rejects.toThrow("permission denied for schema graphql_public");
      first = await migrate(client);
    });
  });
  afterAll(() => db[Symbol.asyncDispose]());

  test("is migrated although its event trigger acts on every function named resolve", () => {
    expect(first.applied.length).toBeGreaterThan(0);
  });

  test("schedules the timers in small transactions after the large one, which pg_cron's launcher would not notice", async () => {
    await withConnection(db.superuserUrl, async (client) => {
      const scheduled = await client.query(`
        select jobname, count(distinct txid) > 1 as again, bool_and(txid > (select max(xmin::text::bigint) from headroom.migrations)) as afterwards
          from cron.calls group by jobname order by jobname`);
      expect(scheduled.rows).toEqual([
        { jobname: "capacity-request-timers", again: true, afterwards: true },
        { jobname: "capacity-timer-history", again: true, afterwards: true },
        { jobname: "process-notifications", again: true, afterwards: true },
        { jobname: "process-notifications-history", again: true, afterwards: true },
      ]);
    });
  });

  test("has Realtime tell each member of new notifications, and nobody else; a failure there holds up nobody", async () => {
    await withConnection(db.url, (client) => migrate(client));
    await withConnection(db.superuserUrl, async (client) => {
      await client.query(`
        insert into directory.workspaces (id, name) values ('acme', 'Acme');
        insert into directory.members (workspace_id, id, display_name) values ('acme', 'rita', 'Rita'), ('acme', 'tim', 'Tim')`);
      const tell = async (key: string): Promise<string> =>
        (await client.query<{ id: string }>("select public.notify('acme', 'rita', $1, 'Title', 'Body') as id", [key]))
          .rows[0]?.id ?? "";
      const id = await tell("1");
      expect(await tell("1")).toBe(id);
      const sent = await client.query("select topic, event, payload, private from realtime.messages");
      expect(sent.rows).toEqual([
        { topic: "headroom:inbox:acme:rita", event: "notification", payload: { id }, private: true },
      ]);
      const hears = async (member: string, topic: string): Promise<number> => {
        await client.query(
          "begin; set local session authorization supabase_realtime_admin; set local role authenticated",
        );
        const claims = { app_metadata: { workspace_id: "acme", member_id: member } };
        await client.query(
          "select set_config('request.jwt.claims', $1, true), set_config('realtime.topic', $2, true)",
          [JSON.stringify(claims), topic],
        );
        const { rows } = await client.query("select from realtime.messages");
        await client.query("rollback");
        return rows.length;
      };
      expect(await hears("rita", "headroom:inbox:acme:rita")).toBe(1);
      expect(await hears("tim", "headroom:inbox:acme:rita")).toBe(0);
      expect(await hears("rita", "headroom:inbox:acme:tim")).toBe(0);
      expect(await hears("nobody", "headroom:inbox::")).toBe(0);
      await client.query("alter table realtime.messages add check (false) not valid");
      expect(await tell("2")).not.toBe(id);
    });
  });
});

describe.each(everyVersion)("a Supabase database on PostgreSQL %i", async (version) => {
  const migrated = await createTestDatabase({ version });

  test("with an event trigger in the way: the error names it, and nothing of the migration is kept", async () => {
    await using db = await createEmptyDatabase(version);
    await withConnection(db.superuserUrl, (client) => client.query(graphqlAccess.replace("'resolve'", "'claim'")));
    await withConnection(db.url, async (client) => {
      await expect(migrate(client)).rejects.toMatchObject({
        message: "functions/outbox/claim/claim.sql: permission denied for schema graphql_public",
        detail: expect.stringContaining("grant_pg_graphql_access()"),
        hint: expect.stringContaining("event trigger"),
      });
      expect((await client.query("select to_regnamespace('outbox') as schema")).rows).toEqual([{ schema: null }]);
    });
  });

  test("gets its timers from the next migration, even where pg_cron came later and nothing else needs doing", async () => {
    await withConnection(migrated.superuserUrl, (client) => client.query(cron));
    const calls = async (): Promise<unknown> =>
      withConnection(
        migrated.superuserUrl,
        async (client) => (await client.query("select jobname from cron.calls")).rows,
      );
    await withConnection(migrated.url, (client) => migrate(client, { dryRun: true }));
    expect(await calls()).toEqual([]);
    await withConnection(migrated.url, (client) => migrate(client));
    expect(await calls()).toEqual([
      { jobname: "process-notifications" },
      { jobname: "process-notifications-history" },
      { jobname: "capacity-request-timers" },
      { jobname: "capacity-timer-history" },
    ]);
  });

  test("is migrated although pg_cron would not schedule anything, which is reported", async () => {
    await using db = await createEmptyDatabase(version);
    await withConnection(db.superuserUrl, (client) => client.query(`${cron} alter table cron.calls add check (false)`));
    await withConnection(db.url, async (client) => {
      await expect(migrate(client)).rejects.toMatchObject({
        code: "timers_not_scheduled",
        message: expect.stringContaining("The schema is in place"),
      });
      expect(await migrate(client, { dryRun: true })).toMatchObject({ applied: [], reapplied: [] });
    });
  });
});
