/** The migrator's rules, on a small schema of the tests' own. */
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { withConnection } from "../../../../src/db/connect.ts";
import { migrate, type MigrateOptions, type MigrationEvent } from "../../../../src/db/migrate.ts";
import { everyVersion } from "../../../helpers/clusters.ts";
import { createEmptyDatabase, waitUntilBlocked, type EmptyDatabase } from "../../../helpers/database.ts";
import { startTransactionPooler } from "../../../helpers/transaction-pooler.ts";

const fixture = fileURLToPath(new URL("../fixtures/notes/", import.meta.url));
const scratch = await mkdtemp(join(tmpdir(), "headroom-sql-"));
afterAll(() => rm(scratch, { recursive: true, force: true }));

let sqlDir: string;
let copies = 0;
beforeEach(async () => {
  sqlDir = join(scratch, String((copies += 1)));
  await cp(fixture, sqlDir, { recursive: true });
});

const edit = async (path: string, change: (text: string) => string): Promise<void> => {
  const file = join(sqlDir, path);
  await writeFile(file, change(await readFile(file, "utf8").catch(() => "")));
};

const migrateAt = (url: string, options: MigrateOptions = {}) =>
  withConnection(url, (client) => migrate(client, { sqlDir, ...options }));

const all = async (url: string, query: string): Promise<unknown[]> =>
  withConnection(url, async (client) => (await client.query(query)).rows);

const migrations = ["migrations/0001_roles.sql", "migrations/0002_notes.sql"];
const functions = ["functions/notes/add_note.sql", "functions/notes/clean_body.sql", "functions/notes/touch_note.sql"];
const recreatables = [...functions, "views/recent.sql", "triggers/touch.sql", "policies/notes.sql", "grants/notes.sql"];

describe.each(everyVersion)("migrating as an ordinary role on PostgreSQL %i", (version) => {
  test("an empty database gets everything, in order, and a second run does nothing", async () => {
    await using db = await createEmptyDatabase(version);
    const events: MigrationEvent[] = [];
    const first = await migrateAt(db.url, { onEvent: (event) => events.push(event) });
    expect(first).toMatchObject({
      applied: migrations,
      reapplied: recreatables,
      unchanged: [],
      missing: [],
      version: 2,
    });
    expect(events.flatMap((event) => (event.kind === "applying" ? [event.path] : []))).toEqual([
      ...migrations,
      ...recreatables,
    ]);
    const second = await migrateAt(db.url);
    expect(second).toMatchObject({
      applied: [],
      reapplied: [],
      unchanged: [...migrations, ...recreatables],
      version: 2,
    });
    expect(await all(db.url, "select notes.add_note('x') is not null as added")).toEqual([{ added: true }]);
  });

  test("every object belongs to the owner, and default privileges give nobody anything", async () => {
    await using db = await createEmptyDatabase(version);
    await migrateAt(db.url);
    const owners = `select distinct o from (
        select relowner::regrole::text as o from pg_class where relnamespace in ('notes'::regnamespace, 'headroom'::regnamespace)
        union all select proowner::regrole::text from pg_proc where pronamespace = 'notes'::regnamespace
        union all select nspowner::regrole::text from pg_namespace where nspname in ('notes', 'headroom')) x`;
    expect(await all(db.superuserUrl, owners)).toEqual([{ o: "headroom_owner" }]);
    const favoured = `select grantee::regrole from (
        select (aclexplode(relacl)).grantee from pg_class where relnamespace in ('notes'::regnamespace, 'headroom'::regnamespace)
        union all select (aclexplode(proacl)).grantee from pg_proc where pronamespace = 'notes'::regnamespace) x
        where grantee in ('anon'::regrole, 'authenticated'::regrole, 'service_role'::regrole)`;
    expect(await all(db.superuserUrl, favoured)).toEqual([]);
  });

  test("several that start at the same time all succeed, and one of them does the work", async () => {
    await using db = await createEmptyDatabase(version);
    const results = await Promise.all(Array.from({ length: 5 }, () => migrateAt(db.url)));
    expect(results.filter((result) => result.applied.length > 0)).toHaveLength(1);
    expect(await all(db.superuserUrl, "select count(*)::int as n from notes.notes")).toEqual([{ n: 1 }]);
  });

  test("several succeed although the database defaults to strict isolation", async () => {
    await using db = await createEmptyDatabase(version);
    await withConnection(db.superuserUrl, (client) =>
      client.query(`alter database ${db.name} set default_transaction_isolation = 'serializable'`),
    );
    const results = await Promise.all([migrateAt(db.url), migrateAt(db.url), migrateAt(db.url)]);
    expect(results.filter((result) => result.applied.length > 0)).toHaveLength(1);
  });

  test("another login's advisory lock does not hold it up", async () => {
    await using db = await createEmptyDatabase(version);
    await withConnection(db.superuserUrl, async (hostile) => {
      await hostile.query("select pg_advisory_lock(1215456082, 1)");
      const impatient = new URL(db.url);
      impatient.searchParams.set("options", "-c lock_timeout=2s");
      expect(await migrateAt(impatient.href)).toMatchObject({ version: 2 });
    });
  });

  test("one that starts while another migrates waits for it", async () => {
    await using db = await createEmptyDatabase(version);
    await migrateAt(db.url);
    await withConnection(db.superuserUrl, async (other) => {
      await other.query("begin; lock table headroom.migrations in share row exclusive mode");
      const done = withConnection(db.url, async (client) => {
        const { pid } = (await client.query<{ pid: number }>("select pg_backend_pid() as pid")).rows[0]!;
        const migrating = migrate(client, { sqlDir });
        await waitUntilBlocked(other, pid);
        await other.query("commit");
        return migrating;
      });
      expect(await done).toMatchObject({ applied: [], version: 2 });
    });
  });

  test("it works the same through a transaction pooler", async () => {
    await using db = await createEmptyDatabase(version);
    const pooler = await startTransactionPooler(db.url);
    try {
      const results = await Promise.all([migrateAt(pooler.url), migrateAt(pooler.url)]);
      expect(results.filter((result) => result.applied.length > 0)).toHaveLength(1);
    } finally {
      await pooler.stop();
    }
  });

  test("a superuser can continue where an ordinary role began", async () => {
    await using db = await createEmptyDatabase(version);
    await migrateAt(db.url);
    await edit("migrations/0003_more.sql", () => "alter table notes.notes add column author text;\n");
    expect(await migrateAt(db.superuserUrl)).toMatchObject({ applied: ["migrations/0003_more.sql"], version: 3 });
    const owner = "select relowner::regrole::text as o from pg_class where oid = 'notes.notes'::regclass";
    expect(await all(db.superuserUrl, owner)).toEqual([{ o: "headroom_owner" }]);
  });
});

describe("a changed file", () => {
  test("that is re-creatable is applied again, and all grants after it", async () => {
    await using db = await createEmptyDatabase();
    await migrateAt(db.url);
    await edit("functions/notes/clean_body.sql", (text) => text.replace("note: ", "noted: "));
    const result = await migrateAt(db.url);
    expect(result.reapplied).toEqual(["functions/notes/clean_body.sql", "grants/notes.sql"]);
    expect(await all(db.superuserUrl, "select notes.clean_body('x') as body")).toEqual([{ body: "noted: x" }]);
  });

  test("that replaces a function leaves it closed to everybody again", async () => {
    await using db = await createEmptyDatabase();
    await migrateAt(db.url);
    await edit("functions/notes/clean_body.sql", (text) => `drop function notes.clean_body(text);\n${text}`);
    await migrateAt(db.url);
    const open = "select has_function_privilege('anon', 'notes.clean_body(text)', 'execute') as open";
    expect(await all(db.superuserUrl, open)).toEqual([{ open: false }]);
  });

  test("that differs only in line endings is treated as unchanged", async () => {
    await using db = await createEmptyDatabase();
    await migrateAt(db.url);
    await edit("migrations/0002_notes.sql", (text) => text.replaceAll("\n", "\r\n"));
    await edit("views/recent.sql", (text) => text.replaceAll("\n", "\r\n"));
    expect(await migrateAt(db.url)).toMatchObject({ applied: [], reapplied: [] });
  });

  test("that is an applied migration is refused, and nothing is changed", async () => {
    await using db = await createEmptyDatabase();
    await migrateAt(db.url);
    await edit("migrations/0002_notes.sql", (text) => `${text}\n-- an afterthought\n`);
    await edit("functions/notes/clean_body.sql", (text) => text.replace("note: ", "noted: "));
    await expect(migrateAt(db.url)).rejects.toMatchObject({
      code: "migration_changed",
      message: expect.stringContaining("0002_notes.sql"),
      hint: expect.stringContaining("new migration"),
    });
    expect(await all(db.superuserUrl, "select notes.clean_body('x') as body")).toEqual([{ body: "note: x" }]);
  });

  test("that was deleted is reported once, and what it made stays", async () => {
    await using db = await createEmptyDatabase();
    await migrateAt(db.url);
    await rm(join(sqlDir, "views/recent.sql"));
    expect(await migrateAt(db.url)).toMatchObject({ missing: ["views/recent.sql"] });
    expect(await migrateAt(db.url)).toMatchObject({ missing: [] });
    expect(await all(db.superuserUrl, "select to_regclass('notes.recent') is not null as there")).toEqual([
      { there: true },
    ]);
  });
});

describe("a new migration", () => {
  test("is applied alone, and everything re-creatable after it", async () => {
    await using db = await createEmptyDatabase();
    await migrateAt(db.url);
    // Drops the trigger and the policy too; both must be back afterwards.
    await edit("migrations/0003_anew.sql", () => {
      return "drop table notes.notes cascade;\ncreate table notes.notes (note_id bigint, body text, changed_at timestamptz);\n";
    });
    const result = await migrateAt(db.url);
    expect(result).toMatchObject({ applied: ["migrations/0003_anew.sql"], reapplied: recreatables, version: 3 });
    const back = `select (select count(*)::int from pg_trigger where tgrelid = 'notes.notes'::regclass) as triggers,
                         (select count(*)::int from pg_policy where polrelid = 'notes.notes'::regclass) as policies`;
    expect(await all(db.superuserUrl, back)).toEqual([{ triggers: 1, policies: 1 }]);
  });

  test("whose number lies before applied ones is refused", async () => {
    await using db = await createEmptyDatabase();
    await rm(join(sqlDir, "migrations/0002_notes.sql"));
    for (const kind of ["functions", "views", "triggers", "policies", "grants"]) {
      await rm(join(sqlDir, kind), { recursive: true });
    }
    await edit("migrations/0005_later.sql", () => "create table notes.later (id int);\n");
    await migrateAt(db.url);
    await edit("migrations/0003_late.sql", () => "create table notes.late (id int);\n");
    await expect(migrateAt(db.url)).rejects.toMatchObject({ code: "migration_out_of_order" });
  });

  test("that fails leaves the database unchanged, and names file and line", async () => {
    await using db = await createEmptyDatabase();
    await edit(
      "migrations/0003_broken.sql",
      () => "create table notes.half (id int);\n\nselect nonsense from nowhere;\n",
    );
    await expect(migrateAt(db.url)).rejects.toMatchObject({
      message: expect.stringContaining("migrations/0003_broken.sql:3:"),
    });
    const there =
      "select to_regnamespace('notes') is not null as notes, to_regnamespace('headroom') is not null as books";
    expect(await all(db.superuserUrl, there)).toEqual([{ notes: false, books: false }]);
  });

  test("that ends the transaction is refused", async () => {
    await using db = await createEmptyDatabase();
    await edit("migrations/0003_commit.sql", () => "commit;\n");
    await expect(migrateAt(db.url)).rejects.toMatchObject({ code: "migration_ends_transaction" });
  });

  test("waits its turn for a lock, tries again, and succeeds when the holder is done", async () => {
    await using db = await createEmptyDatabase();
    await migrateAt(db.url);
    await edit("migrations/0003_column.sql", () => "alter table notes.notes add column author text;\n");
    await withConnection(db.superuserUrl, async (holder) => {
      await holder.query("begin; select * from notes.notes");
      const retried: MigrationEvent[] = [];
      const result = await migrateAt(db.url, {
        lockTimeoutMs: 50,
        onEvent: (event) => {
          if (event.kind !== "retrying") return;
          retried.push(event);
          void holder.query("commit");
        },
      });
      expect(retried.length).toBeGreaterThan(0);
      expect(result.version).toBe(3);
    });
  });
});

/** A database with three tables of ours, and a migration that changes two of them. */
async function threeTables(): Promise<EmptyDatabase> {
  const db = await createEmptyDatabase();
  await edit("migrations/0003_more.sql", () => "create table notes.more (id int);\n");
  await migrateAt(db.url);
  await edit(
    "migrations/0004_columns.sql",
    () => "alter table notes.more add column author text;\nalter table notes.notes add column author text;\n",
  );
  return db;
}

describe("an upgrade, while others use the tables that it changes", () => {
  test("deadlocks with nobody: it takes all locks first, and releases what it has while it waits", async () => {
    await using db = await threeTables();
    await withConnection(db.superuserUrl, async (holder) => {
      await holder.query("begin; select * from notes.notes");
      await withConnection(db.url, async (client) => {
        const { pid } = (await client.query<{ pid: number }>("select pg_backend_pid() as pid")).rows[0]!;
        const migrating = migrate(client, { sqlDir });
        await withConnection(db.superuserUrl, (observer) => waitUntilBlocked(observer, pid));
        await holder.query("select * from notes.more; commit");
        expect(await migrating).toMatchObject({ applied: ["migrations/0004_columns.sql"] });
      });
    });
    const deadlocks = "select deadlocks::int from pg_stat_database where datname = current_database()";
    expect(await all(db.superuserUrl, deadlocks)).toEqual([{ deadlocks: 0 }]);
  });

  test("names those who do not release the tables, and changes nothing", async () => {
    await using db = await threeTables();
    await withConnection(db.superuserUrl, async (holder) => {
      await holder.query("set application_name = 'report'; begin; select * from notes.notes");
      await expect(migrateAt(db.url, { lockTimeoutMs: 20 })).rejects.toMatchObject({
        code: "try_again",
        detail: expect.stringContaining("(report)") as string,
      });
      await holder.query("commit");
    });
    expect(await migrateAt(db.url)).toMatchObject({ applied: ["migrations/0004_columns.sql"] });
  });
});

describe("a database that a later release migrated", () => {
  test("is refused and left unchanged", async () => {
    await using db = await createEmptyDatabase();
    await edit("migrations/0003_future.sql", () => "create table notes.future (id int);\n");
    await migrateAt(db.url);
    await rm(join(sqlDir, "migrations/0003_future.sql"));
    await edit("functions/notes/clean_body.sql", (text) => text.replace("note: ", "old: "));
    await expect(migrateAt(db.url)).rejects.toMatchObject({
      code: "schema_newer_than_code",
      sqlState: "HR011",
      httpStatus: 409,
      detail: expect.stringContaining("0003_future.sql"),
    });
    expect(await all(db.superuserUrl, "select notes.clean_body('x') as body")).toEqual([{ body: "note: x" }]);
  });
});

describe("a dry run", () => {
  test("says what would be done, and does none of it", async () => {
    await using db = await createEmptyDatabase();
    expect(await migrateAt(db.url, { dryRun: true })).toMatchObject({ applied: migrations, dryRun: true, version: 0 });
    expect(await all(db.superuserUrl, "select to_regnamespace('notes') as there")).toEqual([{ there: null }]);
  });
});

describe("a folder of SQL files", () => {
  test("with two migrations of one number is refused", async () => {
    await using db = await createEmptyDatabase();
    await edit("migrations/0002_other.sql", () => "select 1;\n");
    await expect(migrateAt(db.url)).rejects.toMatchObject({ code: "migration_number_taken" });
  });

  test("with a misnamed migration is refused", async () => {
    await using db = await createEmptyDatabase();
    await edit("migrations/3_short.sql", () => "select 1;\n");
    await expect(migrateAt(db.url)).rejects.toMatchObject({ code: "migration_misnamed" });
  });

  test("with a template that names no language is refused", async () => {
    await using db = await createEmptyDatabase();
    await mkdir(join(sqlDir, "templates/notes"), { recursive: true });
    await edit("templates/notes/hello.txt", () => "Hello\n\nThere.\n");
    await expect(migrateAt(db.url)).rejects.toMatchObject({ code: "template_misnamed" });
  });

  test("without migrations is refused", async () => {
    await using db = await createEmptyDatabase();
    await expect(migrateAt(db.url, { sqlDir: join(scratch, "none") })).rejects.toMatchObject({ code: "sql_missing" });
  });
});
