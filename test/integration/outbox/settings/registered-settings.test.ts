/** A registration that changes in an installed database is applied, except where an operator has set something. */
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { withConnection } from "../../../../src/db/connect.ts";
import { migrate } from "../../../../src/db/migrate.ts";
import { ownSqlDir } from "../../../../src/db/migrate/files.ts";
import { createTestDatabase, POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { refusalOf, rowsOf } from "../harness.ts";

const scratch = await mkdtemp(join(tmpdir(), "headroom-registered-"));
afterAll(() => rm(scratch, { recursive: true, force: true }));

const capacity = '"max_tries": 12, "backoff_factor": 3, "backoff_cap_ms": 28800000';
const slackLimit = '{"slack:": {"min_interval_ms": 1000}}';

/** As the release before migration 0124 left a database. */
const lastRelease = `
drop table outbox.registered_settings;
alter table outbox.stream_rails drop column registered;
delete from headroom.migrations where number >= 124;
update headroom.recreatables set checksum = 'outdated'`;

describe.each(POSTGRES_VERSIONS)("registrations on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version });
  const superuser = db.superuser.pool;
  const control = db.as("headroom_control").pool;

  const sqlDir = join(scratch, String(version));
  beforeAll(() => cp(ownSqlDir, sqlDir, { recursive: true }));

  /** Back to what this release registers, whatever the test before has left. */
  beforeEach(async () => {
    await cp(join(ownSqlDir, "registrations"), join(sqlDir, "registrations"), { recursive: true });
    await rowsOf(superuser, "delete from outbox.relays");
    await rowsOf(superuser, "update headroom.recreatables set checksum = 'another' where path like 'registrations/%'");
    await migrated();
    await rowsOf(superuser, "select outbox.reset_stream(name) from outbox.registered_settings where kind = 'stream'");
    await rowsOf(superuser, "select outbox.reset_limits(name) from outbox.registered_settings where kind = 'limit'");
    await rowsOf(
      superuser,
      `update outbox.rails r set timeout_ms = (g.settings ->> 'timeout_ms')::integer from outbox.registered_settings g
        where g.kind = 'rail' and g.name = r.name`,
    );
  });

  async function edit(path: string, from: string, to: string): Promise<void> {
    const file = join(sqlDir, path);
    const text = await readFile(file, "utf8");
    expect(text).toContain(from);
    await writeFile(file, text.replace(from, to));
  }
  const register = (from: string, to: string): Promise<void> => edit("registrations/capacity.sql", from, to);

  const migrated = async (): Promise<readonly string[]> =>
    (await withConnection(db.url, (client) => migrate(client, { sqlDir }))).reapplied;
  const settingsOf = async (kind: string, name: string): Promise<Record<string, unknown>> =>
    (
      await rowsOf<{ settings: Record<string, unknown> }>(superuser, "select outbox.settings_of($1, $2) as settings", [
        kind,
        name,
      ])
    )[0]!.settings;
  const changed = (): Promise<unknown[]> => rowsOf(control, "select * from outbox.list_changed_settings()");

  test("a new backoff reaches the stream, even where an operator has set its tries, which stay", async () => {
    expect(await changed()).toEqual([]);
    await rowsOf(control, `select outbox.change_stream('capacity', '{"max_tries": 30}')`);
    await register(capacity, '"max_tries": 15, "backoff_base_ms": 750, "backoff_cap_ms": 60000');
    expect(await migrated()).toContain("registrations/capacity.sql");
    expect(await settingsOf("stream", "capacity")).toMatchObject({
      max_tries: 30,
      backoff_base_ms: 750,
      backoff_factor: 2,
      backoff_cap_ms: 60_000,
    });
    expect(await changed()).toEqual([
      { kind: "stream", name: "capacity", setting: "max_tries", registered: 15, value: 30 },
    ]);

    // The next change still leaves the operator's value, and a reset makes the setting follow again.
    await register('"max_tries": 15', '"max_tries": 16');
    await migrated();
    expect(await settingsOf("stream", "capacity")).toMatchObject({ max_tries: 30 });
    await rowsOf(control, "select outbox.reset_stream('capacity', '{max_tries}')");
    expect(await changed()).toEqual([]);
    await register('"max_tries": 16', '"max_tries": 17');
    await migrated();
    expect(await settingsOf("stream", "capacity")).toMatchObject({ max_tries: 17 });
  });

  test("a limit and a rail's time-out follow their registration, unless an operator has set them", async () => {
    await rowsOf(control, "select outbox.limit_destination('slack:', p_open_base_ms => 5000)");
    await register(slackLimit, '{"slack:": {"min_interval_ms": 1500, "open_base_ms": 9000}}');
    await register(
      '"slack": {"capability": "lookup", "timeout_ms": 15000',
      '"slack": {"capability": "lookup", "timeout_ms": 14000',
    );
    await register(
      '"email": {"capability": "blind", "timeout_ms": 30000',
      '"email": {"capability": "blind", "timeout_ms": 29000',
    );
    await rowsOf(control, "select outbox.register_rail('email', 'blind', 20000)");
    await migrated();
    expect(await settingsOf("limit", "slack:")).toEqual({
      min_interval_ms: 1500,
      failure_threshold: null,
      open_base_ms: 5000,
    });
    expect(await settingsOf("rail", "slack")).toEqual({ timeout_ms: 14_000 });
    expect(await changed()).toEqual([
      { kind: "limit", name: "slack:", setting: "open_base_ms", registered: 9000, value: 5000 },
      { kind: "rail", name: "email", setting: "timeout_ms", registered: 29_000, value: 20_000 },
    ]);
    await rowsOf(control, "select outbox.reset_limits('slack:')");
    expect(await settingsOf("limit", "slack:")).toMatchObject({ open_base_ms: 9000 });
  });

  test("a limit that an operator set before anything was registered for it stays", async () => {
    await rowsOf(control, "select outbox.limit_destination('linear', 250)");
    await register(
      slackLimit,
      '{"slack:": {"min_interval_ms": 1000}, "linear": {"min_interval_ms": 100, "failure_threshold": 9}}',
    );
    await migrated();
    expect(await settingsOf("limit", "linear")).toEqual({
      min_interval_ms: 250,
      failure_threshold: 9,
      open_base_ms: null,
    });
  });

  test("grants, kinds and credentials that are no longer registered are gone, and an operator's grant stays", async () => {
    const grants = `select s.name || ' ' || r.name as grant from outbox.stream_rails g
      join outbox.streams s using (stream_id) join outbox.rails r using (rail_id) where r.name in ('linear', 'slack') order by 1`;
    await rowsOf(control, "select outbox.grant_rail('notifications', 'linear')");
    await register('"linear": ["capacity"], ', "");
    await register(', "guarded": true, "credentials": ["LINEAR_API_KEY"]', ', "guarded": true');
    await register(",linear}'", "}'");
    await migrated();
    expect((await rowsOf<{ grant: string }>(superuser, grants)).map(({ grant }) => grant)).toEqual([
      "capacity slack",
      "interactions slack",
      "notifications linear",
      "people slack",
    ]);
    expect(await rowsOf(superuser, "select guarded, credentials from outbox.rails where name = 'linear'")).toEqual([
      { guarded: true, credentials: [] },
    ]);
    expect(await rowsOf(superuser, "select kind from outbox.reserved_kinds where kind = 'linear'")).toEqual([]);
    await rowsOf(superuser, "delete from outbox.stream_rails where not registered");
  });

  test.each([
    ["order", capacity, `"ordered": false, ${capacity}`, "another order or retention class than registered"],
    ["retention", capacity, `"retention": "week", ${capacity}`, "another order or retention class than registered"],
    [
      "what a rail can prove",
      '"email": {"capability": "blind"',
      '"email": {"capability": "idempotent"',
      "registered as blind",
    ],
  ])(
    "a registration that changes %s is refused with what to do, and nothing is changed",
    async (_what, from, to, message) => {
      const before = await rowsOf(superuser, "select * from outbox.registered_settings order by kind, name");
      await register(slackLimit, '{"slack:": {"min_interval_ms": 1500}}');
      await register(from, to);
      await expect(migrated()).rejects.toMatchObject({
        message: expect.stringContaining(message),
        hint: expect.stringMatching(/another name/),
      });
      expect(await settingsOf("limit", "slack:")).toMatchObject({ min_interval_ms: 1000 });
      expect(await rowsOf(superuser, "select * from outbox.registered_settings order by kind, name")).toEqual(before);
    },
  );

  test("when an operator's setting contradicts a registered one, the migration says how to go back", async () => {
    await rowsOf(control, `select outbox.change_stream('payments', '{"carries_money": false}')`);
    await rowsOf(control, `select outbox.change_stream('payments', '{"resend_blind": true}')`);
    await edit(
      "registrations/payments.sql",
      '"carries_money": true, "max_tries": 8',
      '"carries_money": true, "max_tries": 9',
    );
    await migrated();
    expect(await settingsOf("stream", "payments")).toMatchObject({
      carries_money: false,
      resend_blind: true,
      max_tries: 9,
    });
    await rowsOf(control, "select outbox.reset_stream('payments')");
    await rowsOf(control, `select outbox.change_stream('capacity', '{"resend_blind": true}')`);
    await register('"resend_blind": true, "max_tries"', '"max_tries"');
    await migrated();
    await rowsOf(control, `select outbox.change_stream('capacity', '{"resend_blind": true}')`);
    await register('"max_tries": 12', '"carries_money": true, "max_tries": 12');
    await expect(migrated()).rejects.toMatchObject({
      message: expect.stringContaining('Stream "capacity" was not changed'),
      hint: expect.stringContaining("headroom outbox stream capacity --reset-all"),
    });
  });

  test("a shorter lease waits while relays run, and is listed until it is reset", async () => {
    await rowsOf(db.as("headroom_executor").pool, "select outbox.start_relay('one', '{slack}', false)");
    await register(capacity, `"lease_seconds": 60, "run_length": 7, ${capacity}`);
    await migrated();
    expect(await settingsOf("stream", "capacity")).toMatchObject({ lease_seconds: 90, run_length: 7 });
    expect(await changed()).toEqual([
      { kind: "stream", name: "capacity", setting: "lease_seconds", registered: 60, value: 90 },
    ]);
    const reset = "select outbox.reset_stream('capacity', '{lease_seconds}')";
    expect(await refusalOf(rowsOf(control, reset))).toMatchObject({ code: "PT409" });
    await rowsOf(superuser, "delete from outbox.relays");
    await rowsOf(control, reset);
    expect(await settingsOf("stream", "capacity")).toMatchObject({ lease_seconds: 60 });
  });

  test("of several that migrate at the same time, one applies it, and an operator's concurrent change of the stream is kept", async () => {
    await register(capacity, '"max_tries": 15, "backoff_base_ms": 750');
    const operator = await db.as("headroom_control").connect();
    await operator.query("begin");
    await operator.query(`select outbox.change_stream('capacity', '{"max_tries": 30}')`);
    const migrator = await db.connect();
    const first = migrate(migrator, { sqlDir });
    await db.waitUntilBlocked(migrator);
    const second = migrated();
    await operator.query("commit");
    expect((await first).reapplied).toContain("registrations/capacity.sql");
    expect(await second).toEqual([]);
    expect(await settingsOf("stream", "capacity")).toMatchObject({ max_tries: 30, backoff_base_ms: 750 });
  });

  test("a migration that fails later has applied nothing", async () => {
    await register(capacity, '"max_tries": 15, "backoff_base_ms": 750');
    await edit("registrations/provisioning.sql", '"max_tries": 20', '"max_tries": 0');
    await expect(migrated()).rejects.toMatchObject({
      message: expect.stringContaining('Stream "provisioning" was not changed'),
    });
    expect(await settingsOf("stream", "capacity")).toMatchObject({ max_tries: 12, backoff_base_ms: 2000 });
    expect(await changed()).toEqual([]);
  });

  test("in a database of the last release, a value that it did not register was set by an operator", async () => {
    await rowsOf(control, `select outbox.change_stream('capacity', '{"max_tries": 30}')`);
    await rowsOf(control, "select outbox.limit_destination('*', p_failure_threshold => 7)");
    await rowsOf(control, "select outbox.grant_rail('payments', 'stripe')");
    // Of an earlier test.
    await rowsOf(superuser, "delete from outbox.registered_settings where name = 'linear' and kind = 'limit'");
    const registered = await rowsOf(superuser, "select * from outbox.registered_settings order by kind, name");
    const grants = await rowsOf(superuser, "select * from outbox.stream_rails order by 1, 2");
    const { rows } = await superuser.query("select * from outbox.streams order by stream_id");
    await withConnection(db.superuserUrl, (client) =>
      client.query(`begin; set local role headroom_owner; ${lastRelease}; commit`),
    );
    for (const file of await readdir(join(sqlDir, "migrations")))
      if (file > "0125") await rm(join(sqlDir, "migrations", file));

    // Unchanged, the upgrade changes nothing and ends up equal to a new database.
    const upgraded = await withConnection(db.url, (client) => migrate(client, { sqlDir }));
    expect(upgraded.applied).toContain("migrations/0124_outbox_registered_settings.sql");
    expect(await rowsOf(superuser, "select * from outbox.registered_settings order by kind, name")).toEqual(registered);
    expect(await rowsOf(superuser, "select * from outbox.stream_rails order by 1, 2")).toEqual(grants);
    expect((await superuser.query("select * from outbox.streams order by stream_id")).rows).toEqual(rows);

    // And where the first release with this feature already registers other values, they are applied.
    await withConnection(db.superuserUrl, (client) =>
      client.query(`begin; set local role headroom_owner; ${lastRelease}; commit`),
    );
    await register(capacity, '"max_tries": 15, "backoff_base_ms": 750');
    await edit(
      "registrations/outbox.sql",
      '"failure_threshold": 5, "open_base_ms": 15000',
      '"failure_threshold": 4, "open_base_ms": 20000',
    );
    await withConnection(db.url, (client) => migrate(client, { sqlDir }));
    expect(await settingsOf("stream", "capacity")).toMatchObject({
      max_tries: 30,
      backoff_base_ms: 750,
      backoff_factor: 2,
    });
    expect(await settingsOf("limit", "*")).toEqual({ min_interval_ms: 0, failure_threshold: 7, open_base_ms: 20_000 });
    expect(await changed()).toEqual([
      { kind: "limit", name: "*", setting: "failure_threshold", registered: 4, value: 7 },
      { kind: "stream", name: "capacity", setting: "max_tries", registered: 15, value: 30 },
    ]);
  });

  test("only what Headroom registers can be reset, and only existing settings", async () => {
    await rowsOf(control, "select outbox.put_stream('mine', '{}')");
    expect(await refusalOf(rowsOf(control, "select outbox.reset_stream('mine')"))).toMatchObject({ code: "PT404" });
    expect(await refusalOf(rowsOf(control, "select outbox.reset_limits('mine')"))).toMatchObject({ code: "PT404" });
    expect(await refusalOf(rowsOf(control, "select outbox.reset_stream('capacity', '{ordered}')"))).toMatchObject({
      code: "PT400",
    });
    expect(await refusalOf(rowsOf(control, "select outbox.reset_stream('none')"))).toMatchObject({
      code: expect.stringMatching(/^PT4/),
    });
  });
});
