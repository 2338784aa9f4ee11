/** Bounded concurrency, priority, and several relays on the same work. */
import { describe, expect, test } from "vitest";
import { assertInvariants } from "../../../helpers/invariants.ts";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { delivered, gate, probeRail } from "./rails.ts";
import { createStage, until, type Stage } from "./stage.ts";

const stage = await createStage();

async function dispatching(on: Stage, stream: string): Promise<number> {
  const [row] = await on.query<{ n: number }>(
    "select count(*)::int as n from outbox.attempts a join outbox.streams s using (stream_id) where s.name = $1 and a.state = 'DISPATCHING'",
    [stream],
  );
  return row?.n ?? 0;
}

test("no more calls are in flight than the process allows", async () => {
  const open = gate();
  const rail = probeRail({ timeoutMs: 20_000, send: () => open.opened.then(() => delivered) });
  const stream = await stage.stream();
  await stage.declare(rail);
  const rows = await stage.enqueueMany(Array.from({ length: 30 }, () => ({ stream, rail: rail.name })));
  await stage.run({ rails: [rail], streams: [stream], concurrency: 4 });
  await until(
    () => dispatching(stage, stream),
    (count) => count === 30,
    "everything to be claimed",
  );
  await until(
    () => rail.underWay,
    (count) => count === 4,
    "four calls",
  );
  open.open();
  await stage.untilStates(
    rows.map((row) => row.outboxId),
    "DISPATCHED",
  );
  expect(rail.peak).toBe(4);
});

test("a rail's own limit applies in addition to the process's, and does not hold up other rails", async () => {
  const open = gate();
  const slow = probeRail({
    name: "slow",
    timeoutMs: 20_000,
    concurrency: 2,
    send: () => open.opened.then(() => delivered),
  });
  const quick = probeRail({ name: "quick" });
  const stream = await stage.stream();
  await stage.declare(slow, quick);
  const slowRows = await stage.enqueueMany(Array.from({ length: 10 }, () => ({ stream, rail: "slow" })));
  const quickRows = await stage.enqueueMany(Array.from({ length: 10 }, () => ({ stream, rail: "quick" })));
  await stage.run({ rails: [slow, quick], streams: [stream], concurrency: 3 });
  await stage.untilStates(
    quickRows.map((row) => row.outboxId),
    "DISPATCHED",
  );
  expect(slow.underWay).toBe(2);
  open.open();
  await stage.untilStates(
    slowRows.map((row) => row.outboxId),
    "DISPATCHED",
  );
  expect(slow.peak).toBe(2);
});

test.each([true, false])("higher priority first among what is due (ordered: %s)", async (ordered) => {
  const rail = probeRail();
  const stream = await stage.stream({ ordered });
  await stage.declare(rail);
  const priorities = [3, 9, 0, 5, 7, 5, 1, 8];
  const rows = await stage.enqueueMany(
    priorities.map((priority) => ({ stream, rail: rail.name, priority, payload: { priority } })),
  );
  await stage.run({ rails: [rail], streams: [stream], concurrency: 1 });
  await stage.untilStates(
    rows.map((row) => row.outboxId),
    "DISPATCHED",
  );
  const sent = rail.sent.map(({ payload }) => (payload as { priority: number }).priority);
  expect(sent).toEqual(priorities.toSorted((left, right) => right - left));
});

test.each([true, false])(
  "a relay that lacks the rail leaves the row to one that has it, without a line (ordered: %s)",
  async (ordered) => {
    const mine = probeRail({ name: "mine" });
    const theirs = probeRail({ name: "theirs" });
    const stream = await stage.stream({ ordered });
    await stage.declare(mine, theirs);
    const other = await stage.enqueue({ stream, rail: "theirs" });
    const own = await stage.enqueue({ stream, rail: "mine" });
    await stage.run({ rails: [mine], streams: [stream] });
    await stage.untilState(own.outboxId, "DISPATCHED");
    expect(await stage.states(other.outboxId)).toEqual([]);
    await stage.run({ rails: [theirs], streams: [stream] });
    await stage.untilState(other.outboxId, "DISPATCHED");
    expect(theirs.sent).toMatchObject([{ outboxId: other.outboxId, tryNo: 1 }]);
    expect(await stage.states(other.outboxId)).toEqual(["DISPATCHING", "DISPATCHED"]);
  },
);

test("a relay without any rail claims nothing", async () => {
  const rail = probeRail({ name: "absent" });
  const stream = await stage.stream();
  await stage.declare(rail);
  const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
  const idle = await stage.run({ rails: [], streams: [stream] });
  await stage.run({ rails: [rail], streams: [stream] });
  await stage.untilState(outboxId, "DISPATCHED");
  expect(idle.counters.claimBatches).toBe(0);
  expect(await stage.states(outboxId)).toEqual(["DISPATCHING", "DISPATCHED"]);
});

describe.each(POSTGRES_VERSIONS)("several relays on PostgreSQL %i", async (version) => {
  const versioned = await createStage({ version });

  test("share the work, send each row once, and keep the order of every key", async () => {
    const both = gate();
    const began = new Set<number>();
    const rails = [1, 2, 3].map((number) =>
      probeRail({
        timeoutMs: 20_000,
        // None continues before two of them have work.
        send: async () => {
          began.add(number);
          if (began.size >= 2) both.open();
          await both.opened;
          return delivered;
        },
      }),
    );
    const stream = await versioned.stream({ runLength: 3 });
    await versioned.declare(...rails.slice(0, 1));
    const rows = await versioned.enqueueMany(
      Array.from({ length: 300 }, (_, index) => ({ stream, rail: "probe", key: `k${index % 60}` })),
    );
    for (const rail of rails) await versioned.run({ rails: [rail], streams: [stream], maxClaimRows: 20 });
    await versioned.untilStates(
      rows.map((row) => row.outboxId),
      "DISPATCHED",
    );
    const sent = rails.flatMap((rail) => rail.sent);
    expect(sent).toHaveLength(300);
    expect(new Set(sent.map((each) => each.outboxId)).size).toBe(300);
    await assertInvariants(await versioned.db.superuser.connect());
  });

  test("keep the order through retries and unknown outcomes", async () => {
    const order = new Map<string | null, (number | null)[]>();
    const rails = [1, 2].map(() =>
      probeRail({
        send: (message) => {
          const turn = (Number(message.seq) * 7 + message.tryNo * 3 + message.outboxId.charCodeAt(30)) % 5;
          if (turn === 0 && message.tryNo < 4) return { kind: "retry", code: "busy", reason: "" };
          if (turn === 1 && message.tryNo < 4) return { kind: "unknown", code: "lost", reason: "" };
          order.set(message.key, [...(order.get(message.key) ?? []), message.seq]);
          return delivered;
        },
      }),
    );
    const stream = await versioned.stream({ runLength: 5, maxTries: 20 });
    await versioned.declare(...rails.slice(0, 1));
    const rows = await versioned.enqueueMany(
      Array.from({ length: 200 }, (_, index) => ({ stream, rail: "probe", key: `k${index % 20}` })),
    );
    for (const rail of rails) await versioned.run({ rails: [rail], streams: [stream] });
    await versioned.untilStates(
      rows.map((row) => row.outboxId),
      "DISPATCHED",
    );
    for (const seqs of order.values()) expect(seqs).toEqual(Array.from({ length: 10 }, (_, index) => index + 1));
    await assertInvariants(await versioned.db.superuser.connect());
  });
});
