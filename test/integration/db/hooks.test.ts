/** Hooks between layers: answers are merged, never hidden, and a point that is declared again keeps its registrations. */
import { describe, expect, test } from "vitest";
import { withConnection } from "../../../src/db/connect.ts";
import { migrate } from "../../../src/db/migrate.ts";
import { createEmptyDatabase, createTestDatabase, POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { refusalOf, rowsOf } from "../outbox/queries.ts";

const allHooks = "select point, layer, function_name from headroom.hooks order by 1, 2";

test("a layer whose registrations changed removes no hook of the layers above it", async () => {
  await using db = await createEmptyDatabase(18);
  await withConnection(db.url, async (client) => {
    await migrate(client);
    await client.query("set role headroom_owner");
    const hooks = await rowsOf(client, allHooks);
    expect(hooks.length).toBeGreaterThan(5);
    await client.query("select headroom.declare_hooks('outbox', '{}')");
    await client.query("update headroom.recreatables set checksum = 'another' where path = 'registrations/outbox.sql'");
    await client.query("reset role");
    expect((await migrate(client)).reapplied).toContain("registrations/capacity.sql");
    await client.query("set role headroom_owner");
    expect(await rowsOf(client, allHooks)).toEqual(hooks);
  });
});

describe.each(POSTGRES_VERSIONS)("hooks on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version });

  test("answers are one object, and two hooks do not answer the same field", async () => {
    const client = await db.superuser.connect();
    await client.query("begin");
    await client.query("select headroom.declare_hooks('headroom', '{\"headroom.tried\": \"For this test.\"}')");
    for (const [layer, answer] of [
      ["one", '{"a": 1}'],
      ["two", '{"b": 2}'],
      ["three", '{"b": 3}'],
    ]) {
      await client.query(
        `create function pg_temp.${layer}(jsonb) returns jsonb language sql as $$ select '${answer}'::jsonb $$`,
      );
    }
    const schema = (await rowsOf<{ name: string }>(client, "select pg_my_temp_schema()::regnamespace::text as name"))[0]
      ?.name;
    // Names of temporary schemas have digits, which no layer of ours has.
    await client.query("alter table headroom.hooks drop constraint hooks_function_name_check");
    const register = (layer: string): Promise<unknown> =>
      client.query("insert into headroom.hooks (point, layer, function_name) values ('headroom.tried', $1, $2)", [
        layer,
        `${schema ?? ""}.${layer}`,
      ]);
    const run = "select headroom.run_hooks('headroom.tried', '{}') as answer";
    expect(await rowsOf(client, run)).toEqual([{ answer: {} }]);
    await register("one");
    await register("two");
    expect(await rowsOf(client, run)).toEqual([{ answer: { a: 1, b: 2 } }]);
    await register("three");
    expect(await refusalOf(rowsOf(client, run))).toMatchObject({ code: "PT409" });
    await client.query("rollback");
  });

  test("a new workspace does not take over endpoints that were made for a tenant of its name", async () => {
    const client = await db.superuser.connect();
    await client.query("begin");
    await client.query("delete from headroom.hooks where point = 'webhooks.tenant_named'");
    await client.query("select set_config('headroom.secret_key', $1, true)", ["k".repeat(40)]);
    await client.query(
      `select webhooks.put_endpoint('x', '{"url": "https://example.com/"}', p_tenant_id => 'a-stranger')`,
    );
    const refusal = await refusalOf(rowsOf(client, "select directory.put_workspace('a-stranger')"));
    expect(refusal).toMatchObject({ code: "PT409", message: expect.stringContaining("a-stranger") });
    await client.query("rollback");
  });
});
