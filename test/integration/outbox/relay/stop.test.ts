/** An orderly end: calls in flight are finished or given up within a deadline, the rest goes back unsent. */
import { expect, test } from "vitest";
import { delivered, gate, hang, hangUntilAborted, probeRail } from "./rails.ts";
import { createStage, until } from "./stage.ts";

const stage = await createStage();

test("calls in flight are finished and recorded before the relay ends", async () => {
  const open = gate();
  const rail = probeRail({ timeoutMs: 20_000, send: () => open.opened.then(() => delivered) });
  const stream = await stage.stream();
  await stage.declare(rail);
  const rows = await stage.enqueueMany(Array.from({ length: 3 }, () => ({ stream, rail: rail.name })));
  const relay = await stage.run({ rails: [rail], streams: [stream] });
  await until(
    () => rail.underWay,
    (count) => count === 3,
    "three calls",
  );
  const stopping = relay.stop();
  const late = await stage.enqueue({ stream, rail: rail.name });
  open.open();
  await stopping;
  for (const row of rows) expect(await stage.states(row.outboxId)).toEqual(["DISPATCHING", "DISPATCHED"]);
  expect(await stage.states(late.outboxId)).toEqual([]);
});

test("waiting rows go back unsent, available to others immediately, and it is not a try", async () => {
  const open = gate();
  const rail = probeRail({ timeoutMs: 20_000, send: () => open.opened.then(() => delivered) });
  const stream = await stage.stream();
  await stage.declare(rail);
  const rows = await stage.enqueueMany([
    ...Array.from({ length: 3 }, () => ({ stream, rail: rail.name, key: "same" })),
    ...Array.from({ length: 3 }, () => ({ stream, rail: rail.name })),
  ]);
  const relay = await stage.run({ rails: [rail], streams: [stream], concurrency: 1 });
  await until(
    () => rail.underWay,
    (count) => count === 1,
    "one call",
  );
  await stage.untilStates(
    rows.map((row) => row.outboxId),
    "DISPATCHING",
  );
  const stopping = relay.stop();
  open.open();
  await stopping;
  expect(rail.sent).toHaveLength(1);
  const ends = await Promise.all(rows.map(async (row) => (await stage.lines(row.outboxId)).at(-1)));
  expect(ends.filter((line) => line?.state === "DISPATCHED")).toHaveLength(1);
  expect(ends.filter((line) => line?.state === "RELEASED")).toHaveLength(5);
  const next = probeRail();
  await stage.run({ rails: [next], streams: [stream] });
  await stage.untilStates(
    rows.map((row) => row.outboxId),
    "DISPATCHED",
  );
  expect(next.sent.every(({ tryNo, uncertain }) => tryNo === 1 && !uncertain)).toBe(true);
});

test.each([
  ["ignores the abort", hang],
  ["honours the abort", hangUntilAborted],
])("a call that does not end and %s is given up at the deadline: unknown, and uncertain", async (_how, send) => {
  const rail = probeRail({ timeoutMs: 20_000, send: (_message, context) => send(context) });
  const stream = await stage.stream();
  await stage.declare(rail);
  const [first, second] = await stage.enqueueMany([1, 2].map(() => ({ stream, rail: rail.name, key: "k" })));
  const relay = await stage.run({ rails: [rail], streams: [stream], stopMs: 100 });
  await until(
    () => rail.underWay,
    (count) => count === 1,
    "the call",
  );
  await relay.stop();
  const lines = await stage.lines(first?.outboxId ?? "");
  expect(lines.at(-1)).toMatchObject({
    state: "RETRYABLE",
    uncertain: true,
    error_code: "outcome_unknown",
    rail_code: "stopped",
  });
  expect((await stage.lines(second?.outboxId ?? "")).at(-1)).toMatchObject({
    state: "RELEASED",
    error_code: "behind_undelivered",
  });
});

test("a lookup that is answered after the deadline starts no send", async () => {
  const open = gate();
  const rail = probeRail({
    capability: "lookup",
    timeoutMs: 20_000,
    send: (_message, _context, count) => (count === 1 ? { kind: "unknown", code: "lost", reason: "" } : delivered),
    lookup: (_message, context) =>
      new Promise((resolve) => {
        open.open();
        context.signal.addEventListener("abort", () => resolve({ kind: "absent" }), { once: true });
      }),
  });
  const stream = await stage.stream();
  await stage.declare(rail);
  const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
  const relay = await stage.run({ rails: [rail], streams: [stream], stopMs: 100 });
  await open.opened;
  await relay.stop();
  expect(rail.sent).toHaveLength(1);
  expect((await stage.lines(outboxId)).at(-1)).toMatchObject({ state: "RELEASED", uncertain: true });
});

test("a database that does not answer does not keep a relay from ending", async () => {
  const rail = probeRail();
  const stream = await stage.stream();
  await stage.declare(rail);
  const relay = await stage.run({ rails: [rail], streams: [stream], stopMs: 100 });
  const blocker = await stage.db.superuser.connect();
  // Which a relay reads at each poll; the lanes it reads only when rows may wait.
  await blocker.query("begin; lock table outbox.streams in access exclusive mode");
  await until(
    () =>
      stage.query(
        "select from pg_stat_activity where datname = current_database() and application_name = 'headroom relay' and wait_event_type = 'Lock'",
      ),
    (rows) => rows.length > 0,
    "the relay to wait for the lock",
  );
  await relay.stop();
  await blocker.query("rollback");
  // Nothing is lost by that: another relay delivers.
  const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
  await stage.run({ rails: [rail], streams: [stream] });
  await stage.untilState(outboxId, "DISPATCHED");
});

test("a settle that cannot be written by the deadline is left to the lease", async () => {
  const open = gate();
  const rail = probeRail({ timeoutMs: 5_000, send: () => open.opened.then(() => delivered) });
  const stream = await stage.stream();
  await stage.declare(rail);
  const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
  const relay = await stage.run({ rails: [rail], streams: [stream], stopMs: 100 });
  await until(
    () => rail.underWay,
    (count) => count === 1,
    "the call",
  );
  const blocker = await stage.db.superuser.connect();
  await blocker.query("begin; lock table outbox.claims in access exclusive mode");
  open.open();
  await until(
    () =>
      stage.query(
        "select from pg_stat_activity where datname = current_database() and query like '%outbox.settle%' and wait_event_type = 'Lock'",
      ),
    (rows) => rows.length > 0,
    "the settle to wait for the lock",
  );
  await relay.stop();
  // The server notices that its client is gone only when it has an answer; by then it may have been written.
  await blocker.query("rollback");
  expect(["DISPATCHING", "DISPATCHED"]).toContain((await stage.states(outboxId)).at(-1));
});
