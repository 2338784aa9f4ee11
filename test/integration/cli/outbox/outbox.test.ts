/** `headroom outbox status | dead | inspect` against a real database, as the operators' role. */
import { beforeAll, describe, expect, test } from "vitest";
import { probeRail } from "../../outbox/relay/rails.ts";
import { createStage } from "../../outbox/relay/stage.ts";
import { deadRows } from "./dead-rows.ts";
import { headroom, type Outcome } from "../harness.ts";

const stage = await createStage();
const env = { DATABASE_URL: stage.db.as("headroom_control").url };

async function outbox(...parameters: string[]): Promise<Outcome> {
  return headroom(["outbox", ...parameters], { env });
}

async function outboxJson(...parameters: string[]) {
  const outcome = await outbox(...parameters, "--json");
  return { status: outcome.status, answer: JSON.parse(outcome.out) };
}

test("status shows each stream, what needs a person, and relays", async () => {
  const { stream } = await deadRows(stage, 2);
  await stage.enqueue({ stream, rail: "probe" });
  const plain = await outbox("status");
  expect(plain).toMatchObject({ status: 0, err: "" });
  expect(plain.out).toMatch(/^STREAM +ORDER +PENDING/);
  expect(plain.out).toMatch(new RegExp(`${stream} +per key +1 `));
  expect(plain.out).toContain("no relay is running. Start one: headroom relay");
  expect(plain.out).toContain("headroom outbox dead");
  await stage.run({ rails: [], streams: [], name: "relay-of-status" });
  const { answer } = await outboxJson("status");
  expect(answer.streams).toContainEqual(
    expect.objectContaining({
      stream,
      ordered: true,
      pending: 1,
      due: 1,
      inFlight: 0,
      dead: 2,
      parked: 0,
      stuck: 0,
      blockedLanes: 0,
    }),
  );
  expect(answer.relays).toContainEqual(expect.objectContaining({ name: "relay-of-status", alive: true }));
});

describe("dead", async () => {
  let stream = "";
  let ids: string[] = [];
  beforeAll(async () => {
    ({ stream, ids } = await deadRows(stage, 5));
  });

  test("lists what matches, with control characters shown and not executed", async () => {
    const plain = await outbox("dead", "--stream", stream);
    expect(plain).toMatchObject({ status: 0, err: "" });
    for (const id of ids) expect(plain.out).toContain(id);
    expect(plain.out).toContain("no such\\u001b[2J field");
    expect(plain.out).not.toContain("\u001b");
    expect(plain.out).toContain("5 of 5 shown.");
  });

  test("pages: each row once, in order, until there is no next", async () => {
    const seen: string[] = [];
    let after: string[] = [];
    for (let page = 0; page < 5; page += 1) {
      const { answer } = await outboxJson("dead", "--stream", stream, "--limit", "2", ...after);
      expect(answer.total).toBe(5);
      seen.push(...answer.rows.map((row: { outboxId: string }) => row.outboxId));
      if (answer.next === null) break;
      after = ["--after", answer.next];
    }
    expect(seen).toEqual(ids.toSorted());
  });

  test("gives programs every field under a stable name", async () => {
    const { answer } = await outboxJson("dead", "--stream", stream, "--limit", "1");
    expect(Object.keys(answer.rows[0])).toEqual([
      "outboxId",
      "stream",
      "key",
      "seq",
      "rail",
      "instructionId",
      "idempotencyKey",
      "parked",
      "uncertain",
      "errorCode",
      "errorMessage",
      "tries",
      "lines",
      "createdAt",
      "diedAt",
      "blocksLane",
    ]);
  });

  test.each([
    [["--code", "http_400", "--from", "1h", "--no-parked"], 5],
    [["--code", "http_500"], 0],
    [["--from", "2001-01-01", "--to", "1h"], 0],
    [["--parked"], 0],
  ])("the filter %j leaves %i", async (filter, count) => {
    const { answer } = await outboxJson("dead", "--stream", stream, ...filter);
    expect(answer.total).toBe(count);
    expect(answer.rows).toHaveLength(count);
  });

  test.each([
    [["--from", "yesterday"], "Give a date and time"],
    [["--from", "1h", "--to", "2h"], "--from must be before --to"],
    [["--limit", "0"], "1 to 10000"],
  ])("%j is called wrongly", async (parameters, message) => {
    const outcome = await outbox("dead", ...parameters);
    expect(outcome).toMatchObject({ status: 2, out: "" });
    expect(outcome.err).toContain(message);
  });

  test("ends with commands that work unchanged", async () => {
    const { out } = await outbox("dead", "--stream", stream);
    const first = /^[0-9a-f-]{36}/m.exec(out)?.[0] ?? "";
    expect(out).toContain(`headroom outbox inspect ${first}\n`);
    expect(out).toContain(`headroom outbox redrive ${first} --reason "…"\n`);
    expect(out).toContain(`headroom outbox skip ${first} --reason "…"\n`);
    expect(out).not.toContain("resolve");
    expect(await outbox("inspect", first)).toMatchObject({ status: 0 });
  });

  test("of a stream that does not exist is an error, not an empty list", async () => {
    const outcome = await outbox("dead", "--stream", "no-such-stream");
    expect(outcome.status).toBe(1);
    expect(outcome.err).toContain("no-such-stream");
  });

  test("without any match says so", async () => {
    expect(await outbox("dead", "--code", "never")).toMatchObject({ status: 0, out: "No dead letters match.\n" });
  });
});

describe("inspect", async () => {
  test("shows the whole history of a row, and what to do next", async () => {
    const { ids } = await deadRows(stage, 1);
    const [id = ""] = ids;
    const plain = await outbox("inspect", id);
    expect(plain).toMatchObject({ status: 0, err: "" });
    expect(plain.out).toMatch(/place +dead/);
    expect(plain.out).toContain('"number"');
    expect(plain.out).toMatch(/1 +DISPATCHING/);
    expect(plain.out).toMatch(/2 +FAILED/);
    expect(plain.out).toContain(`headroom outbox redrive ${id}`);
    const { answer } = await outboxJson("inspect", id);
    expect(answer).toMatchObject({
      outboxId: id,
      place: "dead",
      errorCode: "http_400",
      payload: { number: expect.any(Number) },
      lines: [
        { attemptNo: 1, state: "DISPATCHING" },
        { attemptNo: 2, state: "FAILED", errorCode: "http_400" },
      ],
    });
  });

  test("prints a user's own names unchanged", async () => {
    const rail = probeRail();
    const stream = await stage.stream();
    await stage.declare(rail);
    const { outboxId } = await stage.enqueue({
      stream,
      rail: rail.name,
      payload: { snake_case: { deep_name: 1 } },
      captures: { thread_ts: ["message_ts"] },
    });
    const { answer } = await outboxJson("inspect", outboxId);
    expect(answer).toMatchObject({
      place: "pending",
      payload: { snake_case: { deep_name: 1 } },
      captures: { thread_ts: ["message_ts"] },
    });
  });

  test("of a row that does not exist, and of an invalid id", async () => {
    const missing = await outbox("inspect", "00000000-0000-7000-8000-000000000000");
    expect(missing).toMatchObject({ status: 1, out: "" });
    expect(missing.err).toContain("hint:");
    expect(await outbox("inspect", "row-7")).toMatchObject({ status: 2, out: "" });
  });
});

test("without a database it says how to give one", async () => {
  const outcome = await headroom(["outbox", "status"], { cwd: "/" });
  expect(outcome).toMatchObject({ status: 2, out: "" });
  expect(outcome.err).toContain("DATABASE_URL");
  expect(outcome.err).toContain("headroom up");
});
