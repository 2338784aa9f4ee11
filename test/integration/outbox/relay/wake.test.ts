/** How a sleeping relay finds out about work. The first two tests are the last line of the list of proofs: either way suffices. */
import { Pool } from "pg";
import { expect, test } from "vitest";
import { startTransactionPooler } from "../../../helpers/transaction-pooler.ts";
import { probeRail } from "./rails.ts";
import { createStage, until } from "./stage.ts";

const stage = await createStage();

/** The relay has checked and found nothing: it is listed, and asks when something is due. */
async function untilAsleep(name: string): Promise<void> {
  await until(
    () =>
      stage.query(
        `select from pg_stat_activity
          where application_name = $1 and state = 'idle' and query like '%outbox.next_due%'`,
        [name],
      ),
    (rows) => rows.length > 0,
    `relay ${name} to sleep`,
  );
}

async function namedPool(
  name: string,
  role: "headroom_executor" = "headroom_executor",
): Promise<Pool & AsyncDisposable> {
  const pool = new Pool({ connectionString: stage.db.as(role).url, application_name: name, max: 4 });
  pool.on("error", () => undefined);
  return Object.assign(pool, { [Symbol.asyncDispose]: () => pool.end() });
}

test("NOTIFY wakeup drives processing", async () => {
  const rail = probeRail();
  const stream = await stage.stream();
  await stage.declare(rail);
  await using pool = await namedPool("notified");
  const relay = await stage.run({ pool, rails: [rail], streams: [stream], pollMs: 1_000 });
  // Each row comes while the relay sleeps, so that something has to wake it each time.
  for (let turn = 0; turn < 20; turn += 1) {
    await untilAsleep("notified");
    const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
    await stage.untilState(outboxId, "DISPATCHED");
  }
  expect(relay.counters.notifyWakeups).toBeGreaterThanOrEqual(15);
  await relay.stop();
});

test("poll fallback drives processing: without LISTEN nothing is missing", async () => {
  const rail = probeRail();
  const stream = await stage.stream();
  await stage.declare(rail);
  await using pool = await namedPool("polling");
  const relay = await stage.run({ pool, rails: [rail], streams: [stream], listen: false, pollMs: 250 });
  for (let turn = 0; turn < 3; turn += 1) {
    await untilAsleep("polling");
    const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
    await stage.untilState(outboxId, "DISPATCHED");
  }
  expect(relay.counters.notifyWakeups).toBe(0);
  const listeners = await stage.query(
    "select from pg_stat_activity where application_name = 'polling' and query ilike 'listen %'",
  );
  expect(listeners).toEqual([]);
  await relay.stop();
});

test("a row that is due later is sent on time, without a notification", async () => {
  const rail = probeRail();
  const stream = await stage.stream();
  await stage.declare(rail);
  await stage.run({ rails: [rail], streams: [stream], pollMs: 1_000 });
  const { outboxId } = await stage.enqueue({ stream, rail: rail.name, notBefore: new Date(Date.now() + 1_500) });
  const lines = await stage.untilState(outboxId, "DISPATCHED");
  const [row] = await stage.query<{ early: boolean }>(
    "select a.recorded_at < p.created_at + interval '1 s' as early from outbox.attempts a join outbox.payloads p using (outbox_id) where a.outbox_id = $1 and a.attempt_no = 1",
    [outboxId],
  );
  expect(row).toEqual({ early: false });
  expect(lines).toHaveLength(2);
});

test("a rolled-back enqueue wakes nobody and leaves nothing", async () => {
  const rail = probeRail();
  const stream = await stage.stream();
  await stage.declare(rail);
  await stage.run({ rails: [rail], streams: [stream] });
  const client = await stage.db.as("headroom_ingest").connect();
  await client.query("begin");
  await client.query("select outbox.enqueue($1, 'k', 'i', 'only', $2, '{}')", [stream, rail.name]);
  await client.query("rollback");
  const { outboxId, seq } = await stage.enqueue({ stream, rail: rail.name, key: "k" });
  await stage.untilState(outboxId, "DISPATCHED");
  expect(seq).toBe(1);
  expect(rail.sent).toHaveLength(1);
});

test("behind a transaction pooler it polls, says so, and delivers", async () => {
  const rail = probeRail();
  const stream = await stage.stream();
  await stage.declare(rail);
  const pooler = await startTransactionPooler(stage.db.as("headroom_executor").url, 6);
  try {
    const relay = await stage.run({ connectionString: pooler.url, rails: [rail], streams: [stream], pollMs: 250 });
    expect(relay.server).toMatchObject({ pooler: "transaction", listen: false, preparedStatements: false });
    expect(relay.log.find((entry) => entry.event === "transaction_pooler")).toMatchObject({ level: "warn" });
    const rows = await stage.enqueueMany(
      Array.from({ length: 50 }, (_, index) => ({ stream, rail: rail.name, key: `k${index % 5}` })),
    );
    await stage.untilStates(
      rows.map((row) => row.outboxId),
      "DISPATCHED",
    );
    expect(relay.counters.notifyWakeups).toBe(0);
    await relay.stop();
  } finally {
    await pooler.stop();
  }
});
