/** One delivery of a key passes a value to the next. */
import { expect, test } from "vitest";
import { probeRail } from "./rails.ts";
import { createStage } from "./stage.ts";

const stage = await createStage();

/** Answers as a chat service does: with the id of the message. */
function chatRail() {
  return probeRail({
    send: (message) => ({ kind: "delivered", response: { message: { ts: `ts-${message.seq}` } } }),
  });
}

const root = { captures: { thread: ["message", "ts"] } };
const reply = { binds: [{ path: ["thread_ts"], capture: "thread" }] };

test("within one run", async () => {
  const rail = chatRail();
  const stream = await stage.stream();
  await stage.declare(rail);
  const rows = await stage.enqueueMany([
    { stream, rail: rail.name, key: "k", payload: { text: "root" }, ...root },
    { stream, rail: rail.name, key: "k", payload: { text: "one" }, ...reply },
    { stream, rail: rail.name, key: "k", payload: { text: "two" }, ...reply },
  ]);
  await stage.run({ rails: [rail], streams: [stream] });
  await stage.untilState(rows[2]?.outboxId ?? "", "DISPATCHED");
  expect(rail.sent.map(({ payload }) => payload)).toEqual([
    { text: "root" },
    { text: "one", thread_ts: "ts-1" },
    { text: "two", thread_ts: "ts-1" },
  ]);
  const claims = await stage.query<{ n: number }>(
    "select count(distinct claim_id)::int as n from outbox.attempts where outbox_id = any ($1)",
    [rows.map((row) => row.outboxId)],
  );
  expect(claims).toEqual([{ n: 1 }]);
});

test("from what is stored, by another relay, and the later capture of a name wins", async () => {
  const rail = chatRail();
  const stream = await stage.stream();
  await stage.declare(rail);
  const first = await stage.enqueue({ stream, rail: rail.name, key: "k", ...root });
  const relay = await stage.run({ rails: [rail], streams: [stream] });
  await stage.untilState(first.outboxId, "DISPATCHED");
  await relay.stop();
  const second = await stage.enqueue({ stream, rail: rail.name, key: "k", payload: {}, ...reply });
  await stage.run({ rails: [rail], streams: [stream] });
  await stage.untilState(second.outboxId, "DISPATCHED");
  await stage.enqueue({ stream, rail: rail.name, key: "k", ...root });
  const last = await stage.enqueue({ stream, rail: rail.name, key: "k", payload: {}, ...reply });
  await stage.untilState(last.outboxId, "DISPATCHED");
  expect(rail.sent.map(({ payload }) => (payload as { thread_ts?: string }).thread_ts)).toEqual([
    undefined,
    "ts-1",
    undefined,
    "ts-3",
  ]);
});

test("another key's captures are not bound", async () => {
  const rail = chatRail();
  const stream = await stage.stream();
  await stage.declare(rail);
  const first = await stage.enqueue({ stream, rail: rail.name, key: "a", ...root });
  await stage.run({ rails: [rail], streams: [stream] });
  await stage.untilState(first.outboxId, "DISPATCHED");
  const other = await stage.enqueue({ stream, rail: rail.name, key: "b", ...reply });
  const lines = await stage.untilState(other.outboxId, "FAILED");
  expect(lines.at(-1)).toMatchObject({ error_code: "binding_missing", uncertain: false });
  expect(rail.sent).toHaveLength(1);
});

test("a required bind without its capture is FAILED without a call; an optional one is sent unchanged", async () => {
  const rail = chatRail();
  const stream = await stage.stream();
  await stage.declare(rail);
  const [failed, sent] = await stage.enqueueMany([
    { stream, rail: rail.name, key: "k", payload: { text: "reply" }, ...reply },
    {
      stream,
      rail: rail.name,
      key: "k",
      payload: { text: "reply" },
      binds: [{ path: ["thread_ts"], capture: "thread", required: false }],
    },
  ]);
  await stage.run({ rails: [rail], streams: [stream] });
  await stage.untilState(sent?.outboxId ?? "", "DISPATCHED");
  const lines = await stage.lines(failed?.outboxId ?? "");
  expect(lines.at(-1)).toMatchObject({ state: "FAILED", error_code: "binding_missing" });
  expect(lines.at(-1)?.error_message).toContain("thread");
  expect(rail.sent.map(({ payload }) => payload)).toEqual([{ text: "reply" }]);
});
