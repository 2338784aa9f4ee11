/** Every migration rebuilds the routes from endpoints and subscriptions, even in databases from before there were routes. */
import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { withConnection } from "../../../../src/db/connect.ts";
import { ownSqlDir } from "../../../../src/db/migrate/files.ts";
import { migrate, type MigrateOptions } from "../../../../src/db/migrate.ts";
import { createEmptyDatabase, createTestDatabase, POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { rowsOf } from "../harness.ts";

const migrateAt = (url: string, options: MigrateOptions = {}) =>
  withConnection(url, (client) => migrate(client, options));

const workspaces = "insert into directory.workspaces (id, name) values ('acme', 'Acme')";
const endpoints = `
  insert into webhooks.endpoints (name, tenant_id, url, topics, enabled, disabled_at, disabled_code) values
    ('own', 'acme', 'https://x.example/', '{capacity.request.cancel_approved}', true, null, null),
    ('shared', null, 'https://x.example/', '{transfers.*,capacity.capacity.request.cancel_approved}', true, null, null),
    ('nameless', '', 'https://x.example/', '{*}', true, null, null),
    ('stranger', 'nobody', 'https://x.example/', '{capacity.request.cancel_approved}', true, null, null),
    ('money', null, 'https://x.example/', '{transfers.*}', true, null, null),
    ('stopped', 'acme', 'https://x.example/', '{*}', false, now(), 'operator')`;
const subscriptions = `
  insert into capacity.subscriptions (workspace_id, endpoint, event_types, enabled) values
    ('acme', 'billing', '{REQUEST_SUBMITTED}', true), ('acme', 'paused', null, false)`;
const routed = `
  select r.workspace_id as workspace, r.event_type::text as event, coalesce(e.name, r.name) as name
    from capacity.routes r left join webhooks.endpoints e on e.id::text = r.name order by name`;
const ofEndpoints = [
  { workspace: "acme", event: "CANCEL_APPROVED", name: "own" },
  { workspace: "", event: "CANCEL_APPROVED", name: "shared" },
  { workspace: "nobody", event: "CANCEL_APPROVED", name: "stranger" },
];
const ofSubscriptions = [{ workspace: "acme", event: "REQUEST_SUBMITTED", name: "file:billing" }];

describe.each(POSTGRES_VERSIONS)("routes after a migration on PostgreSQL %i", async (version) => {
  const before = await mkdtemp(join(tmpdir(), "headroom-before-routes-"));
  afterAll(() => rm(before, { recursive: true, force: true }));
  const db = await createTestDatabase({ version });

  beforeAll(async () => {
    const names = (await readdir(join(ownSqlDir, "migrations"))).filter(
      (name) => name < "0048" && name.endsWith(".sql"),
    );
    for (const name of names) await cp(join(ownSqlDir, "migrations", name), join(before, "migrations", name));
  });

  beforeEach(() => rowsOf(db.superuser.pool, "delete from webhooks.endpoints"));

  test("a database that had endpoints and subscriptions before there were routes has the routes of each", async () => {
    await using old = await createEmptyDatabase(version);
    expect(await migrateAt(old.url, { sqlDir: before })).toMatchObject({ version: 47 });
    await withConnection(old.superuserUrl, async (client) => {
      for (const text of [workspaces, endpoints, subscriptions]) await client.query(text);
    });
    expect((await migrateAt(old.url)).applied).toContain("migrations/0052_capacity_routes.sql");
    await withConnection(old.superuserUrl, async (client) => {
      expect(await rowsOf(client, routed)).toEqual([...ofSubscriptions, ...ofEndpoints]);
      expect(await rowsOf(client, "select findings from capacity.verify_routes()")).toEqual([{ findings: [] }]);
    });
  });

  test("an engine alone keeps endpoints without using them, and they are routed when the rest is added", async () => {
    await using alone = await createEmptyDatabase(version);
    await migrateAt(alone.url, { only: "outbox" });
    await withConnection(alone.superuserUrl, async (client) => {
      await client.query(endpoints);
      await client.query(
        "update webhooks.endpoints set topics = '{capacity.request.cancel_approved}' where name = 'own'",
      );
      await client.query("delete from webhooks.endpoints where name = 'money'");
    });
    await migrateAt(alone.url);
    await withConnection(alone.superuserUrl, async (client) => {
      expect(await rowsOf(client, routed)).toEqual(ofEndpoints);
      await client.query(workspaces);
      await client.query("delete from webhooks.endpoints where name <> 'shared'");
      expect(await rowsOf(client, routed)).toEqual([ofEndpoints[1]]);
    });
  });

  test("a migration waits for an endpoint that is just being made, and routes it", async () => {
    const person = await db.superuser.connect();
    const migrator = await db.connect();
    onTestFinished(async () => void (await person.query("rollback")));
    await rowsOf(person, "update headroom.recreatables set checksum = 'outdated'");
    // As before there was a trigger.
    await person.query("begin; set local session_replication_role = replica");
    await person.query(endpoints);
    const migrated = migrate(migrator);
    await db.waitUntilBlocked(migrator);
    await person.query("commit");
    await migrated;
    expect(await rowsOf(db.superuser.pool, routed)).toEqual(ofEndpoints);
  });

  test("a migration that changes nothing about them writes no route", async () => {
    await rowsOf(db.superuser.pool, endpoints);
    await rowsOf(db.superuser.pool, "update headroom.recreatables set checksum = 'outdated'");
    const written = "select ctid, xmin, * from capacity.routes order by name";
    const routes = await rowsOf(db.superuser.pool, written);
    expect(routes).toHaveLength(3);
    await migrateAt(db.url);
    expect(await rowsOf(db.superuser.pool, written)).toEqual(routes);
  });
});
