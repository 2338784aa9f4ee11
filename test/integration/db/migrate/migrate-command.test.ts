/** `headroom migrate`, run as a user runs it. */
import { expect, test } from "vitest";
import { createEmptyDatabase, createTestDatabase } from "../../../helpers/database.ts";
import { headroom, headroomProcess } from "../../cli/harness.ts";

const migrated = await createTestDatabase();

test("migrates an empty database, says what it did and what comes next", async () => {
  await using db = await createEmptyDatabase();
  const outcome = await headroom(["migrate", "--database-url", db.url]);
  // On a busy machine it takes long enough to report its progress.
  expect({ ...outcome, err: outcome.err.replaceAll(/^Migrating .*\n/gm, "") }).toMatchObject({ status: 0, err: "" });
  expect(outcome.out).toContain("applied    migrations/0001_headroom_roles.sql");
  expect(outcome.out).toContain("Next:");
  expect(outcome.out).not.toContain(new URL(db.url).password);
});

test("takes the database from the environment, and prints one JSON object with --json", async () => {
  const outcome = await headroom(["migrate", "--json"], { env: { DATABASE_URL: migrated.url } });
  expect(outcome.status).toBe(0);
  expect(JSON.parse(outcome.out)).toMatchObject({ applied: [], reapplied: [], missing: [], dryRun: false });
});

test("changes nothing in a dry run", async () => {
  await using db = await createEmptyDatabase();
  for (let turn = 0; turn < 2; turn += 1) {
    const outcome = await headroom(["migrate", "--dry-run", "--database-url", db.url]);
    expect(outcome.status).toBe(0);
    expect(outcome.out).toContain("would be applied    migrations/0001_headroom_roles.sql");
    expect(outcome.out).toContain("Nothing was changed");
  }
});

test("without a database it is called wrongly, and says how to call it", async () => {
  const outcome = await headroom(["migrate"]);
  expect(outcome).toMatchObject({ status: 2, out: "" });
  expect(outcome.err).toContain("DATABASE_URL");
});

test("with a database that cannot be reached fails with a way out, also as JSON", async () => {
  const url = "postgresql://nobody:secret-word@127.0.0.1:1/none";
  const plain = await headroom(["migrate", "--database-url", url]);
  expect(plain).toMatchObject({ status: 1, out: "" });
  expect(plain.err).toContain("hint:");
  const json = await headroom(["migrate", "--json", "--database-url", url]);
  expect(json.status).toBe(1);
  expect(JSON.parse(json.out)).toMatchObject({ error: { code: "database_unreachable", hint: expect.any(String) } });
  expect(plain.err + json.out + json.err).not.toContain("secret-word");
});

test.each([[["no-such-command"]], [["migrate", "--no-such-option"]]])("%j is called wrongly", async (parameters) => {
  const outcome = await headroomProcess(parameters);
  expect(outcome).toMatchObject({ status: 2, out: "" });
  expect(outcome.err).toContain("error: unknown");
});

test("help and version are not failures", async () => {
  expect(await headroomProcess(["--help"])).toMatchObject({ status: 0, err: "" });
  expect(await headroomProcess(["--version"])).toMatchObject({
    status: 0,
    out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
  });
});
