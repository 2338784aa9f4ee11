/** Lost connections, refused settles, missing partitions: nothing is lost, and the fault stays local. */
import { describe, expect, test } from "vitest";
import { assertInvariants } from "../../../helpers/invariants.ts";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { probeRail } from "./rails.ts";
import type { Relay } from "../../../../src/outbox/index.ts";
import { createStage, until, type Stage } from "./stage.ts";

/** Short enough that what was in flight when a connection broke comes back within the test. */
const shortLease = { leaseSeconds: 2 } as const;
const quick = { leaseMarginMs: 100, reapMs: 100, pollMs: 250 } as const;

async function relayBackends(stage: Stage): Promise<number[]> {
  const rows = await stage.query<{ pid: number }>(
    "select pid from pg_stat_activity where datname = current_database() and application_name = 'headroom relay' order by pid",
  );
  return rows.map((row) => row.pid);
}

describe.each(POSTGRES_VERSIONS)("on PostgreSQL %i", async (version) => {
  const stage = await createStage({ version });

  test("each connection cut in turn loses nothing and breaks no order", async () => {
    const rail = probeRail({ timeoutMs: 500 });
    const stream = await stage.stream({ ...shortLease, maxTries: 50 });
    await stage.declare(rail);
    const relay = await stage.run({ rails: [rail], streams: [stream], ...quick });
    const all: string[] = [];
    const cut = new Set<number>();
    for (let round = 0; round < 8; round += 1) {
      const victims = (await relayBackends(stage)).filter((pid) => !cut.has(pid));
      const rows = await stage.enqueueMany(
        Array.from({ length: 40 }, (_, index) => ({ stream, rail: rail.name, key: `k${index % 10}` })),
      );
      all.push(...rows.map((row) => row.outboxId));
      const victim = victims[round % Math.max(1, victims.length)];
      if (victim !== undefined) {
        cut.add(victim);
        await stage.query("select pg_terminate_backend($1)", [victim]);
      }
      await stage.untilStates(all, "DISPATCHED", 20_000);
    }
    expect(cut.size).toBeGreaterThanOrEqual(4);
    await relay.stop();
    await assertInvariants(await stage.db.superuser.connect());
  });

  test("all connections cut together, again and again, under load", async () => {
    const rail = probeRail({ timeoutMs: 500 });
    const stream = await stage.stream({ ...shortLease, maxTries: 50 });
    await stage.declare(rail);
    const relays = [
      await stage.run({ rails: [rail], streams: [stream], ...quick }),
      await stage.run({ rails: [rail], streams: [stream], ...quick }),
    ];
    const all: string[] = [];
    for (let round = 0; round < 6; round += 1) {
      const rows = await stage.enqueueMany(
        Array.from({ length: 100 }, (_, index) => ({ stream, rail: rail.name, key: `k${index % 25}` })),
      );
      all.push(...rows.map((row) => row.outboxId));
      await stage.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'headroom relay'",
      );
    }
    await stage.untilStates(all, "DISPATCHED", 25_000);
    for (const relay of relays) await relay.stop();
    // A row that was sent more than once has a mark that says why.
    const times = new Map<string, number>();
    for (const { outboxId } of rail.sent) times.set(outboxId, (times.get(outboxId) ?? 0) + 1);
    for (const [outboxId, sends] of times) {
      const marks = (await stage.lines(outboxId)).filter((line) => line.uncertain && line.state !== "DISPATCHING");
      expect(marks.length).toBeGreaterThanOrEqual(sends - 1);
    }
    await assertInvariants(await stage.db.superuser.connect());
  });
});

describe("a settle", async () => {
  const stage = await createStage();

  /** Makes the archive refuse lines of one row with the given SQLSTATE, that many times. */
  async function refuse(outboxId: string, sqlState: string, times: number): Promise<void> {
    const name = `public.refuse_${outboxId.replaceAll("-", "")}`;
    await stage.query(`create sequence ${name}_seq`);
    await stage.query(`
      create function ${name}() returns trigger language plpgsql security definer as $$
      begin
        if new.outbox_id = '${outboxId}' and new.state <> 'DISPATCHING' and nextval('${name}_seq') <= ${times} then
          raise exception 'planted' using errcode = '${sqlState}', schema = 'outbox', table = 'attempts';
        end if;
        return new;
      end $$`);
    await stage.query(
      `create trigger planted_${outboxId.slice(24)} before insert on outbox.attempts for each row execute function ${name}()`,
    );
  }

  test.each([true, false])(
    "that the database refuses for one row leaves the others alone (ordered: %s)",
    async (ordered) => {
      const rail = probeRail();
      const stream = await stage.stream({ ordered });
      await stage.declare(rail);
      const rows = await stage.enqueueMany(Array.from({ length: 20 }, () => ({ stream, rail: rail.name })));
      const bad = rows[7]?.outboxId ?? "";
      await refuse(bad, "HR999", 1_000_000);
      const relay = await stage.run({ rails: [rail], streams: [stream] });
      await stage.untilStates(
        rows.map((row) => row.outboxId).filter((outboxId) => outboxId !== bad),
        "DISPATCHED",
      );
      await until(
        () => relay.log.find((entry) => entry.event === "settle_given_up"),
        (entry) => entry !== undefined,
        "the row to be given up",
      );
      expect(relay.log.find((entry) => entry.event === "settle_given_up")).toMatchObject({ outboxId: bad, rows: 1 });
      expect(await stage.states(bad)).toEqual(["DISPATCHING"]);
      // The relay continues.
      const next = await stage.enqueue({ stream, rail: rail.name });
      await stage.untilState(next.outboxId, "DISPATCHED");
    },
  );

  // 23514 as the archive raises it: a partition is missing.
  test.each(["40P01", "40001", "53100", "55P03", "57014", "23514"])(
    "that fails for a temporary reason (%s) is written again, and the row is not sent again",
    async (sqlState) => {
      const rail = probeRail();
      const stream = await stage.stream();
      await stage.declare(rail);
      const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
      await refuse(outboxId, sqlState, 4);
      const relay = await stage.run({ rails: [rail], streams: [stream] });
      await stage.untilState(outboxId, "DISPATCHED");
      expect(rail.sent).toHaveLength(1);
      expect(relay.counters.settleErrors).toBe(4);
      expect(await stage.states(outboxId)).toEqual(["DISPATCHING", "DISPATCHED"]);
    },
  );

  test("that was given up is taken back when its lease runs out, and one that cannot be stored holds up no other", async () => {
    const rail = probeRail({ timeoutMs: 200 });
    const stream = await stage.stream();
    await stage.declare(rail);
    const stuck = await stage.enqueue({ stream, rail: rail.name });
    const passing = await stage.enqueue({ stream, rail: rail.name });
    await refuse(stuck.outboxId, "HR999", 1_000_000);
    await refuse(passing.outboxId, "HR999", 1);
    const relay = await stage.run({ rails: [rail], streams: [stream], reapMs: 100, maxClaimRows: 1 });
    await until(
      () => relay.log.filter((entry) => entry.event === "settle_given_up"),
      (found) => found.length === 2,
      "both",
    );
    await stage.query("update outbox.claims set lease_until = now() - interval '1 s'");
    const lines = await stage.untilState(passing.outboxId, "DISPATCHED");
    expect(lines.map((line) => line.state)).toEqual(["DISPATCHING", "ZOMBIE_REQUEUE", "DISPATCHING", "DISPATCHED"]);
    expect(await stage.states(stuck.outboxId)).toEqual(["DISPATCHING"]);
    expect(await stage.query("select stuck::int from outbox.status() where stream = $1", [stream])).toEqual([
      { stuck: 1 },
    ]);
  });

  test("that comes after its lease was reaped changes nothing, and is counted", async () => {
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    const slow = probeRail({
      timeoutMs: 1_000,
      send: async (_message, _context, count) => {
        if (count === 1) await answered;
        return { kind: "delivered", code: String(count) };
      },
    });
    const stream = await stage.stream();
    await stage.declare(slow);
    const { outboxId } = await stage.enqueue({ stream, rail: slow.name });
    const first = await stage.run({ rails: [slow], streams: [stream] });
    await until(
      () => slow.underWay,
      (count) => count === 1,
      "the call",
    );
    // As if the lease had run out while the machine slept.
    await stage.query("update outbox.claims set lease_until = now() - interval '1 s'");
    const second = await stage.run({ rails: [slow], streams: [stream], reapMs: 100 });
    await stage.untilState(outboxId, "DISPATCHED");
    answer();
    const relays = [first, second];
    await until(
      () => relays.reduce((sum, relay) => sum + relay.counters.lateSettles, 0),
      (count) => count === 1,
      "the late settle",
    );
    const lines = await stage.lines(outboxId);
    expect(lines.map((line) => line.state)).toEqual(["DISPATCHING", "ZOMBIE_REQUEUE", "DISPATCHING", "DISPATCHED"]);
    expect(lines.at(-1)?.rail_code).toBe("2");
    expect(relays.flatMap((relay) => relay.log).filter((entry) => entry.event === "late_settle")).toHaveLength(1);
  });
});

const partitioned = await createStage();

test("a missing archive partition stops claims only until the relay has made it", async () => {
  const stage = partitioned;
  const rail = probeRail();
  const stream = await stage.stream({ retention: "week" });
  await stage.declare(rail);
  const relay = await stage.run({ rails: [rail], streams: [stream] });
  await until(
    () => stage.query("select from outbox.partition_status() where class = 'week' and days_ahead > 1"),
    (rows) => rows.length === 1,
    "partitions",
  );
  const leaves = await stage.query<{ partition: string }>(
    "select p.partition::text from outbox.archive_partitions() p join outbox.retention_classes c using (class_id) where c.name = 'week'",
  );
  const claimFailed = () => relay.log.find((entry) => entry.event === "claim_failed");
  // The relay's first upkeep may come after the drop and fix it before anything is claimed; the next one is hours away.
  for (let drops = 0; drops < 2 && claimFailed() === undefined; drops += 1) {
    for (const { partition } of leaves) await stage.query(`drop table if exists ${partition}`);
    const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
    await stage.untilState(outboxId, "DISPATCHED");
  }
  expect(claimFailed()).toMatchObject({ code: "partition_missing", sqlState: "HR009" });
  expect(relay.log.find((entry) => entry.event === "partitions_made")).toBeDefined();
});

/** The two that say how far a relay gets, and whether the gauges are there. */
async function reachOf(relay: Relay): Promise<unknown> {
  const text = await relay.metrics();
  const value = (name: string): string | undefined => new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1];
  expect(text).toContain("claim_batches_total 0");
  return [value("headroom_database_up"), value("headroom_gauges_up"), text.includes("outbox_pending_depth")];
}

test("metrics distinguish a database that does not answer from one whose gauges fail or take too long", async () => {
  const relay = await partitioned.run({ rails: [probeRail()], streams: [], reapMs: 60_000 });
  expect(await reachOf(relay)).toEqual(["1", "1", true]);
  await partitioned.query("alter function outbox.status() rename to status_gone");
  try {
    expect(await reachOf(relay)).toEqual(["1", "0", false]);
  } finally {
    await partitioned.query("alter function outbox.status_gone() rename to status");
  }
  const [holder] = await partitioned.db.twoConnections("postgres");
  await holder.query("begin; lock table outbox.retention_classes");
  // However often they are scraped meanwhile, the database is queried once.
  expect(await Promise.all([reachOf(relay), reachOf(relay)])).toEqual([
    ["1", "0", false],
    ["1", "0", false],
  ]);
  const waiting = await partitioned.query(
    "select from pg_locks where relation = 'outbox.retention_classes'::regclass and not granted",
  );
  expect(waiting).toHaveLength(1);
  await holder.query("rollback");
  expect(await reachOf(relay)).toEqual(["1", "1", true]);
  await partitioned.query(`alter database ${partitioned.db.name} connection limit 0`);
  try {
    await partitioned.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and usename like 'login_%'",
      [partitioned.db.name],
    );
    expect(await reachOf(relay)).toEqual(["0", "0", false]);
  } finally {
    await partitioned.query(`alter database ${partitioned.db.name} connection limit -1`);
  }
});
