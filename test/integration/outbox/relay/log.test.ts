/** A relay's log lines about failed tries, missing rails and open circuits: enough to act on, and no more. */
import { expect, test } from "vitest";
import type { RelayLogEntry } from "../../../../src/outbox/index.ts";
import { createLog } from "../../../../src/cli/relay/log.ts";
import { delivered, probeRail } from "./rails.ts";
import { createStage, until } from "./stage.ts";

const stage = await createStage();
const of = (log: readonly RelayLogEntry[], event: string): RelayLogEntry[] =>
  log.filter((entry) => entry.event === event);

/** The fields as `headroom relay --json` writes them. */
function written(entry: RelayLogEntry): Record<string, unknown> {
  let line = "";
  const stream = { write: (text: string) => void (line += text) } as unknown as NodeJS.WriteStream;
  createLog(true, stream)(entry);
  const { time: _time, ...fields } = JSON.parse(line) as Record<string, unknown>;
  return fields;
}

test("failed tries are logged one by one at first and then counted, without payloads or answers", async () => {
  const rail = probeRail({
    send: () => ({ kind: "retry", code: "away", reason: "secret answer", afterMs: 3_600_000 }),
  });
  const stream = await stage.stream({ ordered: false });
  await stage.declare(rail);
  const rows = await stage.enqueueMany(
    Array.from({ length: 50 }, () => ({ stream, rail: rail.name, payload: { word: "secret payload" } })),
  );
  const ids = rows.map((row) => row.outboxId);
  const relay = await stage.run({ rails: [rail], streams: [stream] });
  await stage.untilStates(ids, "RETRYABLE");
  await relay.stop();
  const told = of(relay.log, "try_failed");
  expect(told).toHaveLength(20);
  const [first] = told;
  expect(written(first!)).toEqual({
    level: "warn",
    event: "try_failed",
    stream,
    rail: rail.name,
    outboxId: first?.["outboxId"],
    attempt: 1,
    code: "away",
  });
  expect(ids).toContain(first?.["outboxId"]);
  expect(of(relay.log, "more_try_failed").map(written)).toEqual([
    { level: "warn", event: "more_try_failed", stream, rail: rail.name, code: "away", rows: 30 },
  ]);
  expect(JSON.stringify(relay.log)).not.toContain("secret");
});

test("a row that is given up, or is delivered in the end, is not also logged as a try that failed twice", async () => {
  const rail = probeRail({
    send: (message, _context, count) =>
      message.key === "dies" || count === 1 ? { kind: "retry", code: "once", reason: "" } : delivered,
  });
  const stream = await stage.stream({ maxTries: 1 });
  await stage.declare(rail);
  const { outboxId } = await stage.enqueue({ stream, rail: rail.name, key: "dies" });
  const relay = await stage.run({ rails: [rail], streams: [stream] });
  await stage.untilState(outboxId, "FAILED");
  await relay.stop();
  expect(of(relay.log, "given_up")).toHaveLength(1);
  expect(of(relay.log, "try_failed")).toEqual([]);
});

test("a rail that nobody serves is logged with its rows, and its rows are sent as soon as a relay has it", async () => {
  const missing = probeRail({ name: "missing" });
  const stream = await stage.stream();
  await stage.declare(missing);
  const { outboxId } = await stage.enqueue({ stream, rail: missing.name });
  const watching = await stage.run({ rails: [probeRail()], streams: [stream], reapMs: 100 });
  const notServed = await until(
    () => of(watching.log, "rail_not_served"),
    (found) => found.length > 0,
    "the rail to be named",
  );
  expect(notServed.map(written)).toEqual([{ level: "warn", event: "rail_not_served", rail: "missing", rows: 1 }]);
  // Nothing was tried meanwhile, so no wait is pending.
  expect(await stage.lines(outboxId)).toEqual([]);
  await stage.run({ rails: [missing], streams: [stream] });
  await stage.untilState(outboxId, "DISPATCHED");
  expect(await stage.states(outboxId)).toEqual(["DISPATCHING", "DISPATCHED"]);
  await until(
    () => of(watching.log, "rail_served"),
    (found) => found.length === 1,
    "the rail to be served",
  );
  expect(of(watching.log, "rail_not_served")).toHaveLength(1);
});

test("a circuit that opens and closes is logged, with the code that opened it", async () => {
  let isUp = false;
  const rail = probeRail({ send: () => (isUp ? delivered : { kind: "retry", code: "refused", reason: "" }) });
  const stream = await stage.stream({ maxTries: 100 });
  await stage.declare(rail);
  await stage.query("select outbox.limit_destination('hook', null, 2, 200)");
  const { outboxId } = await stage.enqueue({ stream, rail: rail.name, destination: "hook" });
  const relay = await stage.run({ rails: [rail], streams: [stream], reapMs: 100 });
  const opened = await until(
    () => of(relay.log, "circuit_opened"),
    (found) => found.length > 0,
    "the circuit to open",
  );
  expect(written(opened[0]!)).toMatchObject({ level: "warn", destination: "hook", code: "refused" });
  isUp = true;
  await stage.untilState(outboxId, "DISPATCHED");
  const closed = await until(
    () => of(relay.log, "circuit_closed"),
    (found) => found.length > 0,
    "the circuit to close",
  );
  expect(closed.map(written)).toEqual([{ level: "info", event: "circuit_closed", destination: "hook" }]);
});
