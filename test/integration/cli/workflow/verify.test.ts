/** `headroom verify`: its output, its side effects, and its exit code. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seedCapacity } from "../../../../scripts/seed-capacity/seed.ts";
import { createTestDatabase } from "../../../helpers/database.ts";
import { oneOf } from "../../outbox/queries.ts";
import { headroom, type Outcome } from "../harness.ts";

const db = await createTestDatabase();
const env = { DATABASE_URL: db.as("headroom_auditor").url };
const folder = await mkdtemp(join(tmpdir(), "headroom-verify-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

async function verify(...parameters: string[]): Promise<Outcome> {
  return headroom(["verify", ...parameters], { env });
}

async function verifyJson(...parameters: string[]) {
  const outcome = await verify(...parameters, "--json");
  return { status: outcome.status, answer: JSON.parse(outcome.out) };
}

/** Makes a forbidden change, verifies, and undoes it. */
async function whileTampered(deed: string, undo: string, look: () => Promise<void>): Promise<void> {
  const client = await db.superuser.connect();
  await client.query("set session_replication_role = replica");
  await client.query(deed);
  try {
    await look();
  } finally {
    await client.query(undo);
  }
}

const fewer = "update capacity.requests set quantity = quantity - 1 where id = ";
const more = "update capacity.requests set quantity = quantity + 1 where id = ";
let id = "";

beforeAll(async () => {
  const client = await db.connect();
  await seedCapacity(client, { requests: 60, eventsPerRequest: 5, workspaceId: "seed", deliveries: true });
  ({ id } = await oneOf<{ id: string }>(
    db.superuser.pool,
    "select id from capacity.requests order by id offset 30 limit 1",
  ));
});

test("a sound database is reported as such, with counts", async () => {
  const plain = await verify();
  expect(plain).toMatchObject({ status: 0, err: "" });
  expect(plain.out.split("\n")).toEqual([
    "Checked 60 requests, 300 events and 300 side effects.",
    "Checked 0 routes of events to endpoints.",
    "Checked 0 provisioning jobs and 0 payments.",
    "Checked 300 deliveries, 600 lines of their archive, and 60 lanes.",
    "All is well.",
    "",
  ]);
  expect(await verifyJson()).toEqual({
    status: 0,
    answer: {
      ok: true,
      checked: {
        requests: 60,
        events: 300,
        effects: 300,
        deliveries: 300,
        lines: 600,
        keys: 300,
        lanes: 60,
        routes: 0,
        jobs: 0,
        payments: 0,
      },
      findings: [],
      findingCount: 0,
      compared: null,
      exported: null,
      workspace: null,
    },
  });
});

test("an edited projection is found: named, explained, exit code 1", async () => {
  await whileTampered(`${more}'${id}'`, `${fewer}'${id}'`, async () => {
    const plain = await verify();
    expect(plain.status).toBe(1);
    expect(plain.out).toMatch(
      new RegExp(`^I1 +projection_differs +${id} +quantity is \\d+, the events say \\d+$`, "m"),
    );
    expect(plain.out).toContain("I1: A request differs from its log.");
    expect(plain.out).toContain("1 findings.");
    const { status, answer } = await verifyJson();
    expect(status).toBe(1);
    expect(answer).toMatchObject({
      ok: false,
      findingCount: 1,
      findings: [
        { invariant: "I1", code: "projection_differs", subject: id, detail: expect.stringContaining("quantity") },
      ],
    });
  });
});

test("a disaster is counted in full and listed in part", async () => {
  await whileTampered(
    "update capacity.requests set quantity = quantity + 1; update outbox.attempts set attempt_no = attempt_no + 10",
    "update capacity.requests set quantity = quantity - 1; update outbox.attempts set attempt_no = attempt_no - 10",
    async () => {
      const plain = await verify();
      expect(plain.status).toBe(1);
      expect(plain.out).toMatch(/^… and \d+ more \(--json lists up to 1000\)$/m);
      expect(plain.out).toMatch(/^360 findings\.$/m);
    },
  );
});

test("a workspace is verified alone, and the output says what is left out", async () => {
  const plain = await verify("--workspace", "seed");
  expect(plain.out).toContain("Checked 60 requests");
  expect(plain.out).toContain("Deliveries were left out");
  expect((await verifyJson("--workspace", "default")).answer).toMatchObject({
    workspace: "default",
    checked: { requests: 0 },
  });
});

describe("heads", () => {
  const file = join(folder, "heads.txt");

  test("are written into a new file, one line for each request", async () => {
    const plain = await verify("--export-head", file);
    expect(plain).toMatchObject({ status: 0 });
    expect(plain.out).toContain(`Wrote 60 heads to ${file}.`);
    const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
    expect(lines).toHaveLength(61);
    expect(lines[0]).toMatch(/^# Heads of all workspaces, /);
    for (const line of lines.slice(1)) expect(line).toMatch(/^CR-\d{4}-\d{6} 5 [0-9a-f]{64}$/);
  });

  test("are never overwritten, nor written while something is wrong", async () => {
    const again = await verify("--export-head", file);
    expect(again).toMatchObject({ status: 2, out: "" });
    expect(again.err).toContain("already exists");
    const other = join(folder, "other.txt");
    await whileTampered(`${more}'${id}'`, `${fewer}'${id}'`, async () => {
      expect((await verifyJson("--export-head", other)).answer).toMatchObject({ ok: false, exported: null });
    });
    await expect(readFile(other)).rejects.toThrow("ENOENT");
  });

  test("on record are compared: all match, or the rewritten one is named", async () => {
    expect((await verify("--against", file)).out).toContain("Compared 60 heads");
    const forged = join(folder, "forged.txt");
    const text = await readFile(file, "utf8");
    await writeFile(forged, text.replace(new RegExp(`^(${id} 5 )[0-9a-f]{8}`, "m"), "$100000000"));
    const { status, answer } = await verifyJson("--against", forged);
    expect(status).toBe(1);
    expect(answer.findings).toEqual([
      { invariant: "I2", code: "history_rewritten", subject: `${id}#5`, detail: expect.any(String) },
    ]);
    expect(answer.compared).toEqual({ file: forged, requests: 60 });
  });

  test.each([
    ["a file that does not exist", "none.txt", null, "Cannot read"],
    ["a file with other content", "else.txt", "hello\n", "Line 1 of"],
  ])("%s is refused", async (_name, name, content, message) => {
    const path = join(folder, name);
    if (content !== null) await writeFile(path, content);
    const outcome = await verify("--against", path);
    expect(outcome).toMatchObject({ status: 2, out: "" });
    expect(outcome.err).toContain(message);
  });

  test("a folder that does not exist is refused before anything is printed", async () => {
    const outcome = await verify("--export-head", join(folder, "no", "where.txt"));
    expect(outcome).toMatchObject({ status: 2, out: "" });
    expect(outcome.err).toContain("Cannot write");
  });
});

test("a login without the right to verify is refused with an explanation", async () => {
  const outcome = await headroom(["verify"], { env: { DATABASE_URL: db.as("headroom_ingest").url } });
  expect(outcome.status).toBe(1);
  expect(outcome.err).toContain("permission denied");
});
