import { describe, expect, test } from "vitest";
import { refusalStatuses } from "../../../src/db/refusals.gen.ts";
import { createTestDatabase, POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { oneOf, refusalOf, rowsOf } from "../outbox/queries.ts";

describe.each(POSTGRES_VERSIONS)("refusals on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version });

  test("the database and TypeScript have the same list, with each code once", async () => {
    const listed = await rowsOf<{ code: string; status: number }>(
      db.superuser.pool,
      "select code, status from headroom.refusals()",
    );
    expect(listed.map(({ code, status }) => [code, status])).toEqual(Object.entries(refusalStatuses));
  });

  test.each(Object.entries(refusalStatuses))("%s is raised with the status %i and its code", async (code, status) => {
    const refusal = await refusalOf(rowsOf(db.superuser.pool, "select headroom.fail($1, 'No.', 'why')", [code]));
    expect(refusal).toMatchObject({ code: `PT${status}`, message: "No.", detail: `${code}: why` });
  });

  test("every code that a function names is listed", async () => {
    const named = await rowsOf<{ code: string }>(
      db.superuser.pool,
      String.raw`select distinct m[1] as code
         from pg_proc p cross join lateral regexp_matches(p.prosrc, 'headroom\.fail\(\s*''([a-z_]+)''', 'g') m
        where p.proowner = 'headroom_owner'::regrole order by 1`,
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(({ code }) => !Object.hasOwn(refusalStatuses, code))).toEqual([]);
  });

  test("an unlisted code is a fault of ours, not the caller's", async () => {
    expect(await refusalOf(rowsOf(db.superuser.pool, "select headroom.fail('no_such_code', 'No.')"))).toMatchObject({
      code: "PT500",
    });
  });

  test("none of our functions raises except through headroom.fail(), and the archive in its own way", async () => {
    const { raising } = await oneOf<{ raising: string[] }>(
      db.superuser.pool,
      String.raw`select array_agg(p.oid::regproc::text order by 1) as raising
         from pg_proc p where p.proowner = 'headroom_owner'::regrole and p.prosrc ~* 'raise\s+(exception|sqlstate)'`,
    );
    expect(raising).toEqual(["headroom.fail", "outbox.refuse_change"]);
  });
});
