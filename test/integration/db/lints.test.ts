/** What Supabase's advisor checks in every project, through the catalogue: an installation should add nothing to its list. */
import { describe, expect, test } from "vitest";
import { createTestDatabase, POSTGRES_VERSIONS } from "../../helpers/database.ts";

/** Everything except the server's own, as in the advisor's queries. */
const notOurs = "('pg_catalog', 'information_schema', 'auth', 'storage', 'vault', 'extensions', 'cron', 'net')";

describe.each(POSTGRES_VERSIONS)("the lints of Supabase on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version, template: "whole" });

  test("every function has a fixed search_path, aggregates included", async () => {
    const found = await db.superuser.pool.query(
      `select p.oid::regprocedure::text as function
         from pg_proc p join pg_namespace n on n.oid = p.pronamespace
        where n.nspname not in ${notOurs}
          and not exists (select from unnest(coalesce(p.proconfig, '{}')) setting where setting like 'search_path=%')
        order by 1`,
    );
    expect(found.rows).toEqual([]);
  });

  test("every foreign key has an index that begins with its columns", async () => {
    const found = await db.superuser.pool.query(
      `select c.conrelid::regclass::text as "table", c.conname as key
         from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_namespace n on n.oid = t.relnamespace
        where c.contype = 'f' and n.nspname not in ${notOurs}
          and not exists (
                select from pg_index i
                 where i.indrelid = c.conrelid and i.indisvalid
                   and (string_to_array(i.indkey::text, ' ')::smallint[])[1:cardinality(c.conkey)] = c.conkey)
        order by 1, 2`,
    );
    expect(found.rows).toEqual([]);
  });
});
