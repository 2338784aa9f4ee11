/** The seeder writes what the workflow itself could have written, and explains a bad call. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { seedCapacity } from "../../../../scripts/seed-capacity/seed.ts";
import { getRequest, requestStates, verify } from "../../../../src/capacity/index.ts";
import { createTestDatabase, POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { assertInvariants } from "../../../helpers/invariants.ts";
import { oneOf, rowsOf } from "../../outbox/queries.ts";

const script = fileURLToPath(new URL("../../../../scripts/seed-capacity.ts", import.meta.url));

async function run(...parameters: string[]): Promise<{ status: number | null; said: string }> {
  const child = spawn(process.execPath, [script, ...parameters], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"] },
  });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { status: child.exitCode, said: out + err };
}

describe.each(POSTGRES_VERSIONS)("the seeder on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version });

  test("writes as the migrating role, in slices, and verification finds nothing wrong", async () => {
    const client = await db.connect();
    const told: number[] = [];
    const seeded = await seedCapacity(client, {
      requests: 1_000,
      eventsPerRequest: 7,
      workspaceId: "seed",
      deliveries: true,
      sliceSize: 400,
      onProgress: (done) => told.push(done),
    });
    expect(seeded).toEqual({ requests: 1_000, events: 7_000, deliveries: 7_000 });
    expect(told).toEqual([400, 800, 1_000]);
    for await (const batch of verify(db.as("headroom_auditor").pool)) expect(batch.findings).toEqual([]);
    await assertInvariants(await db.superuser.connect());
  });

  test("makes requests in every visible state, none of them from the future or past its deadline", async () => {
    const states = await rowsOf<{ state: string }>(
      db.superuser.pool,
      "select distinct state::text from capacity.requests",
    );
    expect(states.map(({ state }) => state).toSorted()).toEqual(
      requestStates.filter((state) => state !== "SUBMITTED").toSorted(),
    );
    expect(
      await rowsOf(
        db.superuser.pool,
        "select id from capacity.requests where updated_at > now() or next_deadline_at <= now()",
      ),
    ).toEqual([]);
  });

  test("leaves requests that the workflow can continue", async () => {
    const { id } = await oneOf<{ id: string }>(
      db.superuser.pool,
      "select id from capacity.requests where state = 'UNDER_REVIEW' and commercial_approved_at is null limit 1",
    );
    const found = await getRequest(db.as("headroom_control").pool, id);
    if (found.outcome === "refused") throw new Error(found.message);
    const [pending] = found.story.pendingApprovals;
    await rowsOf(
      db.as("headroom_control").pool,
      "select public.apply_capacity_event($1, 'COMMERCIAL_REJECTED', 'user', $2, $3)",
      [id, pending?.reviewers[0]?.id, { reason: "no" }],
    );
    for await (const batch of verify(db.as("headroom_auditor").pool)) expect(batch.findings).toEqual([]);
  });
});

describe("as a script", async () => {
  const db = await createTestDatabase();

  test("says what it wrote", async () => {
    const { status, said } = await run("--database-url", db.url, "--requests", "20", "--events", "3");
    expect(said).toMatch(/^20 requests, 60 events, 0 deliveries in [\d.]+ s\.$/m);
    expect(status).toBe(0);
  });

  test.each([
    [["--requests", "0"], "--requests is a whole number"],
    [["--events", "many"], "--events is a whole number"],
  ])("%j is called wrongly", async (parameters, message) => {
    const { status, said } = await run("--database-url", db.url, ...parameters);
    expect(status).toBe(1);
    expect(said).toContain(message);
  });

  test("a login that does not own the tables is refused", async () => {
    const { status, said } = await run("--database-url", db.as("headroom_control").url);
    expect(status).toBe(1);
    expect(said).toContain("headroom_owner");
  });
});
