/** When a relay refuses to start, and what it says then. */
import { Pool } from "pg";
import { describe, expect, test } from "vitest";
import { HeadroomError } from "../../../../src/db/errors.ts";
import { createDrainer, createRelay, type RelayOptions } from "../../../../src/outbox/index.ts";
import { createEmptyDatabase } from "../../../helpers/database.ts";
import { probeRail } from "./rails.ts";
import { createStage, until } from "./stage.ts";

const stage = await createStage();

async function failureOf(work: Promise<unknown>): Promise<HeadroomError> {
  const error: unknown = await work.then(
    () => new Error("It did not fail."),
    (reason: unknown) => reason,
  );
  if (error instanceof HeadroomError) return error;
  throw error;
}

test("a stream that does not exist: the known ones are listed", async () => {
  const error = await failureOf(stage.relay({ rails: [probeRail()], streams: ["no-such-stream"] }).start());
  expect(error).toMatchObject({ code: "unknown_stream", hint: expect.stringContaining("create_stream") });
  expect(error.detail).toContain("payments");
});

describe("a lease that a call could outlive", () => {
  test("is refused, with both numbers", async () => {
    const stream = await stage.stream({ leaseSeconds: 6 });
    const error = await failureOf(stage.relay({ rails: [probeRail({ timeoutMs: 1_000 })], streams: [stream] }).start());
    expect(error).toMatchObject({ code: "lease_too_short", hint: expect.stringContaining("lease_seconds") });
    expect(error.message).toContain("6000 ms");
  });

  test("adds a lookup and the send after it", async () => {
    const stream = await stage.stream({ leaseSeconds: 7 });
    const blind = probeRail({ name: "blind", capability: "blind", timeoutMs: 1_500 });
    await stage.run({ rails: [blind], streams: [stream] });
    const asking = probeRail({
      name: "asking",
      capability: "lookup",
      timeoutMs: 1_500,
      lookup: () => ({ kind: "absent" }),
    });
    expect(await failureOf(stage.relay({ rails: [asking], streams: [stream] }).start())).toMatchObject({
      code: "lease_too_short",
    });
  });

  test("does not matter on a stream that is not served", async () => {
    await stage.stream({ leaseSeconds: 1 });
    const stream = await stage.stream();
    await stage.run({ rails: [probeRail()], streams: [stream] });
  });
});

test("a database without our schema: says to migrate", async () => {
  await using empty = await createEmptyDatabase();
  const relay = createRelay({ connectionString: empty.url, rails: [probeRail()], streams: [] });
  expect(await failureOf(relay.start())).toMatchObject({ code: "schema_missing", hint: "Run: headroom migrate" });
});

test("a read-only database", async () => {
  const url = new URL(stage.db.as("headroom_executor").url);
  url.searchParams.set("options", "-c default_transaction_read_only=on");
  const error = await failureOf(
    stage.relay({ connectionString: url.toString(), rails: [probeRail()], streams: [] }).start(),
  );
  expect(error).toMatchObject({ code: "database_read_only", hint: expect.stringMatching(/reset|primary/) });
});

test("a database that cannot be reached, without repeating the password", async () => {
  const relay = createRelay({
    connectionString: "postgresql://u:secret-word@127.0.0.1:1/none",
    rails: [probeRail()],
    streams: [],
  });
  const error = await failureOf(relay.start());
  expect(error).toMatchObject({ code: "database_unreachable" });
  expect(`${error.message} ${error.detail} ${error.hint}`).not.toContain("secret-word");
  await relay.stop();
});

test("a role that may not run relays", async () => {
  const relay = stage.relay({
    connectionString: stage.db.as("headroom_ingest").url,
    rails: [probeRail()],
    streams: [],
  });
  expect(await failureOf(relay.start())).toMatchObject({
    code: "permission_denied",
    hint: expect.stringContaining("headroom_"),
  });
});

test("a pool that is too small for what a relay needs", async () => {
  const pool = new Pool({ connectionString: stage.db.as("headroom_executor").url, max: 3 });
  expect(await failureOf(stage.relay({ pool, rails: [probeRail()], streams: [] }).start())).toMatchObject({
    code: "usage",
  });
  await pool.end();
});

test("a pool of exactly four connections is enough for everything, metrics included", async () => {
  const rail = probeRail();
  const stream = await stage.stream();
  const pool = new Pool({ connectionString: stage.db.as("headroom_executor").url, max: 4 });
  const relay = await stage.run({ pool, rails: [rail], streams: [stream] });
  const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
  await stage.untilState(outboxId, "DISPATCHED");
  expect(await relay.metrics()).toContain("outbox_pending_depth");
  await relay.stop();
  // The pool is the caller's: it still works.
  await pool.query("select 1");
  await pool.end();
});

test.each([
  [{ concurrency: 0 }, "concurrency"],
  [{ pollMs: 10 }, "pollMs"],
  [{ pollMs: 5_000 }, "pollMs"],
  [{ reapMs: Number.NaN }, "reapMs"],
  [{ maxClaimRows: -1 }, "maxClaimRows"],
])("the option %j is out of range", (options, name) => {
  expect(() => stage.relay({ rails: [probeRail()], streams: [], ...options })).toThrow(name);
});

test("neither or both of connectionString and pool", async () => {
  expect(() => createRelay({ rails: [], streams: [] })).toThrow(/connectionString or a pool/);
  const pool = new Pool({ connectionString: stage.db.url });
  expect(() => createRelay({ rails: [], streams: [], pool, connectionString: stage.db.url })).toThrow(/not both/);
  await pool.end();
});

test("without streams a relay does not serve all of them: it asks to name them", () => {
  const { streams: _, ...options } = { connectionString: stage.db.url, rails: [], streams: [] };
  const usage = expect.objectContaining({ code: "usage", hint: expect.stringContaining('streams: ["orders"]') });
  expect(() => createRelay(options as unknown as RelayOptions)).toThrow(usage);
  expect(() => createDrainer(options as unknown as RelayOptions)).toThrow(usage);
});

test("two programs whose rails have the same name each send the rows of their own streams", async () => {
  const [mine, theirs] = [probeRail({ name: "mail" }), probeRail({ name: "mail" })];
  const [orders, invoices] = [await stage.stream(), await stage.stream()];
  await stage.declare(mine);
  const order = await stage.enqueue({ stream: orders, rail: "mail" });
  const invoice = await stage.enqueue({ stream: invoices, rail: "mail" });
  await stage.run({ rails: [mine], streams: [orders] });
  await stage.run({ rails: [theirs], streams: [invoices] });
  await stage.untilStates([order.outboxId, invoice.outboxId], "DISPATCHED");
  expect(mine.sent).toMatchObject([{ outboxId: order.outboxId }]);
  expect(theirs.sent).toMatchObject([{ outboxId: invoice.outboxId }]);
});

test("@built-in stands for the streams of the migrations, and a relay that uses it is told which are left out", async () => {
  const stream = await stage.stream();
  const relay = await stage.run({ rails: [probeRail()], streams: ["@built-in"] });
  expect(relay.log).toContainEqual(
    expect.objectContaining({ event: "streams_not_served", message: expect.stringContaining(stream) }),
  );
  const { n } = (await stage.query<{ n: number }>("select count(*)::int as n from outbox.streams where built_in"))[0]!;
  expect(n).toBeGreaterThan(0);
  expect(relay.log).toContainEqual(expect.objectContaining({ event: "relay_started", streams: n }));
  const both = await stage.run({ rails: [probeRail()], streams: ["@built-in", stream, "ledger"] });
  expect(both.log).toContainEqual(expect.objectContaining({ event: "relay_started", streams: n + 1 }));
});

test("two rails of one name", () => {
  expect(() => stage.relay({ rails: [probeRail(), probeRail()], streams: [] })).toThrow(/registered already/);
});

test("a second start", async () => {
  const relay = await stage.run({ rails: [], streams: [] });
  expect(() => relay.start()).toThrow(/started only once/);
});

test("stopping without starting, twice, and after a start that failed, are harmless", async () => {
  const never = createRelay({ connectionString: stage.db.url, rails: [], streams: [] });
  await never.stop();
  await never.stop();
  const failed = createRelay({ connectionString: stage.db.url, rails: [], streams: ["no-such-stream"] });
  await failureOf(failed.start());
  await failed.stop();
});

test("a stop during the start leaves nothing behind", async () => {
  const name = `brief-${Date.now()}`;
  const relay = stage.relay({ rails: [probeRail()], streams: [], name });
  const starting = relay.start().catch(() => undefined);
  await relay.stop();
  await starting;
  expect(await stage.query("select from outbox.relays where name = $1", [name])).toEqual([]);
});

test("a relay is listed while it runs, under its name", async () => {
  const relay = await stage.run({ rails: [], streams: [], name: "relay-seven" });
  const listed = (): Promise<object[]> => stage.query("select name from outbox.relays where name = 'relay-seven'");
  await until(listed, (rows) => rows.length === 1, "the relay to be listed");
  await relay.stop();
  expect(await listed()).toEqual([]);
});

test("connections carry a name that says what they are", async () => {
  await stage.run({ rails: [], streams: [] });
  const named = (): Promise<object[]> =>
    stage.query(
      "select from pg_stat_activity where datname = current_database() and application_name = 'headroom relay'",
    );
  await until(named, (rows) => rows.length >= 3, "connections that claim, listen and look after things");
});
