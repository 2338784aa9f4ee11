/** What Supabase's databases have and plain ones have not, and what the migrator has to live with there. */
import { describe, expect, test } from "vitest";
import { withConnection } from "../../../src/db/connect.ts";
import { migrate } from "../../../src/db/migrate.ts";
import { POSTGRES_VERSIONS } from "../../helpers/clusters.ts";
import { createEmptyDatabase } from "../../helpers/database.ts";

/**
 * As in Supabase's own set-up until August 2026: meant for pg_graphql, it acts on every new function named `resolve`, in any schema, as whoever
 * made the function, who may do nothing in graphql_public.
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

describe.each(POSTGRES_VERSIONS)("a database of Supabase's on PostgreSQL %i", (version) => {
  test("is migrated although its event trigger acts on every function named resolve", async () => {
    await using db = await createEmptyDatabase(version);
    await withConnection(db.superuserUrl, (client) => client.query(graphqlAccess));
    await withConnection(db.url, async (client) => {
      await expect(
        client.query("create function public.resolve() returns integer language sql as 'select 1'"),
      ).rejects.toThrow("permission denied for schema graphql_public");
      expect((await migrate(client)).applied.length).toBeGreaterThan(0);
    });
  });

  test("whose event trigger stands in the way is said to have one, and keeps nothing of the migration", async () => {
    await using db = await createEmptyDatabase(version);
    await withConnection(db.superuserUrl, (client) => client.query(graphqlAccess.replace("'resolve'", "'claim'")));
    await withConnection(db.url, async (client) => {
      await expect(migrate(client)).rejects.toMatchObject({
        message: "functions/outbox/claim.sql: permission denied for schema graphql_public",
        detail: expect.stringContaining("grant_pg_graphql_access()"),
        hint: expect.stringContaining("event trigger"),
      });
      expect((await client.query("select to_regnamespace('outbox') as schema")).rows).toEqual([{ schema: null }]);
    });
  });
});
