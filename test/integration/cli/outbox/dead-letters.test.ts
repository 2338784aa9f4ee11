/** `headroom outbox redrive | skip | resolve` against a real database, as the operators' role. */
import { describe, expect, test } from "vitest";
import { delivered, probeRail } from "../../outbox/relay/rails.ts";
import { createStage } from "../../outbox/relay/stage.ts";
import { deadRows, lost, refused } from "./dead-rows.ts";
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

/** Rows whose first try failed, and whose next one is hours away. */
async function waitingRows(count: number) {
  const stream = await stage.stream({ backoffBaseMs: 3_600_000, ordered: false });
  const bad = probeRail({ send: () => ({ kind: "retry", code: "away", reason: "", afterMs: 3_600_000 }) });
  await stage.declare(bad);
  const rows = await stage.enqueueMany(Array.from({ length: count }, () => ({ stream, rail: bad.name })));
  const ids = rows.map((row) => row.outboxId);
  const relay = await stage.run({ rails: [bad], streams: [stream] });
  await stage.untilStates(ids, "RETRYABLE");
  await relay.stop();
  return { stream, ids };
}

describe("retry-now", () => {
  test("one row by id, which a running relay then sends immediately; the archive says who and why", async () => {
    const { stream, ids } = await waitingRows(1);
    const [id = ""] = ids;
    await stage.run({ rails: [probeRail()], streams: [stream] });
    const outcome = await outbox("retry-now", id, "--reason", "receiver mended", "--actor", "ana");
    expect(outcome).toMatchObject({ status: 0, err: "" });
    expect(outcome.out).toMatch(/1 +due now/);
    await stage.untilState(id, "DISPATCHED");
    const shown = await outbox("inspect", id);
    expect(shown.out).toMatch(/RETRY_NOW .*ana: receiver mended/);
    const again = await outboxJson("retry-now", id, "--reason", "again");
    expect(again).toMatchObject({ status: 1, answer: { results: { finished: 1 } } });
  });

  test("all that wait on a stream: counted first, tried in chunks, counted after", async () => {
    const { stream, ids } = await waitingRows(700);
    const asked = await outbox("retry-now", "--stream", stream, "--reason", "mended");
    expect(asked).toMatchObject({ status: 2, out: "" });
    expect(asked.err).toContain("This would retry 700 rows that wait for the next try");
    expect(asked.err).toContain("Nothing was changed");
    const none = await outbox("retry-now", "--stream", stream, "--code", "other", "--reason", "mended", "--yes");
    expect(none.out).toContain("No rows that wait for the next try match. Nothing was changed.");
    const { status, answer } = await outboxJson(
      "retry-now",
      "--stream",
      stream,
      "--code",
      "away",
      "--reason",
      "mended",
      "--yes",
    );
    expect(status).toBe(0);
    expect(answer).toEqual({ matched: 700, results: { due_now: 700 }, refused: [] });
    await stage.run({ rails: [probeRail()], streams: [stream] });
    await stage.untilStates(ids, "DISPATCHED");
  });

  test("says what it needs when it is given no rows", async () => {
    const outcome = await outbox("retry-now", "--reason", "x");
    expect(outcome.status).toBe(2);
    expect(outcome.err).toContain("--stream, --rail, --code");
  });
});

describe("redrive", async () => {
  test("one row by id: it is sent again, and the archive says who and why", async () => {
    const { stream, ids } = await deadRows(stage, 1);
    const [id = ""] = ids;
    const outcome = await outbox("redrive", id, "--reason", "receiver fixed", "--actor", "ana");
    expect(outcome).toMatchObject({ status: 0, err: "" });
    expect(outcome.out).toMatch(/1 +redriven/);
    const good = probeRail();
    await stage.run({ rails: [good], streams: [stream] });
    await stage.untilState(id, "DISPATCHED");
    expect(
      await stage.query("select actor, reason from outbox.attempts where outbox_id = $1 and state = 'REDRIVEN'", [id]),
    ).toEqual([{ actor: "ana", reason: "receiver fixed" }]);
  });

  test("names the login when no actor is given", async () => {
    const { ids } = await deadRows(stage, 1);
    await outbox("redrive", ids[0] ?? "", "--reason", "again");
    const [line] = await stage.query<{ actor: string }>(
      "select actor from outbox.attempts where outbox_id = $1 and state = 'REDRIVEN'",
      [ids[0]],
    );
    expect(line?.actor).toMatch(/^cli:.+/);
  });

  test("many by filter: counted first, done in chunks, counted after", async () => {
    const { stream, ids } = await deadRows(stage, 1_200);
    const asked = await outbox("redrive", "--stream", stream, "--reason", "again");
    expect(asked).toMatchObject({ status: 2, out: "" });
    expect(asked.err).toContain("This would redrive 1200 dead letters");
    expect(asked.err).toContain("--yes");
    expect(asked.err).toContain("Nothing was changed");
    expect((await outboxJson("dead", "--stream", stream, "--limit", "1")).answer.total).toBe(1_200);
    const { status, answer } = await outboxJson("redrive", "--stream", stream, "--reason", "again", "--yes");
    expect(status).toBe(0);
    expect(answer).toEqual({ matched: 1_200, results: { redriven: 1_200 }, refused: [] });
    const good = probeRail();
    await stage.run({ rails: [good], streams: [stream] });
    await stage.untilStates(ids, "DISPATCHED");
  });

  test("by a range of time leaves out rows that died outside it", async () => {
    const { stream } = await deadRows(stage, 3);
    await stage.query(
      "update outbox.dead set died_at = died_at - interval '2 days' where outbox_id in (select outbox_id from outbox.list_dead($1) limit 2)",
      [stream],
    );
    const { answer } = await outboxJson(
      "redrive",
      "--stream",
      stream,
      "--from",
      "3d",
      "--to",
      "1d",
      "--reason",
      "r",
      "--yes",
    );
    expect(answer).toMatchObject({ matched: 2, results: { redriven: 2 } });
    expect((await outboxJson("dead", "--stream", stream)).answer.total).toBe(1);
  });

  test("does not touch what may have arrived, and says what to do", async () => {
    const { stream, ids } = await deadRows(stage, 1, { outcome: lost });
    const plain = await outbox("redrive", "--stream", stream, "--reason", "again", "--yes");
    expect(plain.status).toBe(1);
    expect(plain.out).toMatch(/1 +parked/);
    expect(plain.out).toContain("NOT CHANGED");
    expect(plain.out).toContain("headroom outbox resolve");
    const { status, answer } = await outboxJson("redrive", ids[0] ?? "", "--reason", "again");
    expect(status).toBe(1);
    expect(answer).toMatchObject({
      matched: 1,
      results: { parked: 1 },
      refused: [{ outboxId: ids[0], result: "parked" }],
    });
  });

  test("skips delivered rows of the key only when asked to", async () => {
    const rail = probeRail({ send: (message) => (message.seq === 1 ? refused : delivered) });
    const stream = await stage.stream();
    await stage.declare(rail);
    const [first, second] = await stage.enqueueMany([1, 2].map(() => ({ stream, rail: rail.name, key: "k" })));
    const relay = await stage.run({ rails: [rail], streams: [stream] });
    await stage.untilState(second?.outboxId ?? "", "DISPATCHED");
    await relay.stop();
    const refusal = await outbox("redrive", first?.outboxId ?? "", "--reason", "again");
    expect(refusal.status).toBe(1);
    expect(refusal.out).toContain("--out-of-order");
    expect(await outbox("redrive", first?.outboxId ?? "", "--reason", "again", "--out-of-order")).toMatchObject({
      status: 0,
    });
  });

  test("of rows that are not dead changes nothing", async () => {
    const { status, answer } = await outboxJson("redrive", "00000000-0000-7000-8000-000000000000", "--reason", "again");
    expect(status).toBe(1);
    expect(answer.results).toEqual({ not_dead: 1 });
  });

  test.each([
    [["--reason", "r"], "No rows were given to redrive."],
    [["--all"], "--reason"],
    [["--all", "--stream", "payments", "--reason", "r"], "Ids, a filter and --all cannot be used together."],
    [["nonsense", "--reason", "r"], "UUID"],
    [["--all", "--reason", "", "--yes"], "reason"],
  ])("%j is called wrongly and changes nothing", async (parameters, message) => {
    const outcome = await outbox("redrive", ...parameters);
    expect(outcome.status).toBe(2);
    expect(outcome.err).toContain(message);
  });

  test("with a filter that nothing matches is no failure", async () => {
    const stream = await stage.stream();
    const outcome = await outbox("redrive", "--stream", stream, "--reason", "r");
    expect(outcome).toMatchObject({ status: 0, out: "No dead letters match. Nothing was changed.\n" });
  });
});

describe("skip", async () => {
  test("a dead row that blocks its key releases the key", async () => {
    const { stream, ids } = await deadRows(stage, 2, { onDead: "block", key: "k" });
    expect((await outboxJson("dead", "--stream", stream)).answer.rows).toMatchObject([
      { outboxId: ids[0], blocksLane: true },
    ]);
    expect(await outbox("skip", ids[0] ?? "", "--reason", "customer left")).toMatchObject({ status: 0 });
    await stage.run({ rails: [probeRail()], streams: [stream] });
    await stage.untilState(ids[1] ?? "", "DISPATCHED");
    expect(await stage.states(ids[0] ?? "")).toEqual(["DISPATCHING", "FAILED", "SKIPPED"]);
  });

  test("by filter, and a pending row by id", async () => {
    const { stream } = await deadRows(stage, 3);
    expect(await outbox("skip", "--stream", stream, "--reason", "r")).toMatchObject({ status: 2 });
    const { answer } = await outboxJson("skip", "--stream", stream, "--reason", "r", "--yes");
    expect(answer).toMatchObject({ matched: 3, results: { skipped: 3 } });
    const pending = await stage.enqueue({ stream, rail: "probe" });
    expect(await outboxJson("skip", pending.outboxId, "--reason", "r")).toMatchObject({ status: 0 });
    expect(await outboxJson("skip", pending.outboxId, "--reason", "r")).toMatchObject({
      status: 1,
      answer: { refused: [{ result: "finished" }] },
    });
  });
});

describe("resolve", async () => {
  test("as delivered: the row is done and its key continues", async () => {
    const { stream, ids } = await deadRows(stage, 2, { outcome: lost, onDead: "block", key: "k" });
    const [id = "", behind = ""] = ids;
    const outcome = await outbox("resolve", id, "--delivered", "--reason", "seen in their log", "--reference", "r-77");
    expect(outcome).toMatchObject({ status: 0, err: "" });
    expect(await stage.lines(id)).toContainEqual(
      expect.objectContaining({ state: "RESOLVED", rail_code: "delivered", rail_reference: "r-77" }),
    );
    await stage.run({ rails: [probeRail({ name: "blind-probe", capability: "blind" })], streams: [stream] });
    await stage.untilState(behind, "DISPATCHED");
  });

  test("as not delivered: it stays dead, and can then be redriven", async () => {
    const { ids } = await deadRows(stage, 1, { outcome: lost });
    const [id = ""] = ids;
    const { answer } = await outboxJson("resolve", id, "--not-delivered", "--reason", "they have no trace of it");
    expect(answer).toMatchObject({ outboxId: id, result: "not_delivered" });
    expect(await outbox("redrive", id, "--reason", "so again")).toMatchObject({ status: 0 });
  });

  test("refuses what is not uncertain, and a call that does not say which", async () => {
    const { ids } = await deadRows(stage, 1);
    const [id = ""] = ids;
    const conflict = await outbox("resolve", id, "--delivered", "--reason", "r");
    expect(conflict).toMatchObject({ status: 1, out: "" });
    expect(conflict.err).toContain("hint:");
    expect(await outbox("resolve", id, "--reason", "r")).toMatchObject({ status: 2 });
    expect(await outbox("resolve", id, "--delivered", "--not-delivered", "--reason", "r")).toMatchObject({ status: 2 });
  });
});

test("a row whose key another session holds is busy: it is not changed, and the command says what to look for", async () => {
  const { ids } = await deadRows(stage, 1, { outcome: lost, key: "held" });
  const [id = ""] = ids;
  const other = await stage.db.superuser.connect();
  try {
    await other.query("begin");
    await other.query("select from outbox.lanes where key = 'held' for update");
    for (const verb of ["redrive", "skip"]) {
      const outcome = await outbox(verb, id, "--reason", "r");
      expect(outcome).toMatchObject({ status: 1, err: "", out: expect.stringMatching(/^ +1 {2}busy\n/) });
      expect(outcome.out).toContain("Busy: another session holds its key. Find the transaction that stays open");
    }
    expect(await outbox("resolve", id, "--delivered", "--reason", "r")).toMatchObject({
      status: 1,
      out: "",
      err: expect.stringContaining(`${id} was not changed: another session holds its key.`),
    });
  } finally {
    await other.query("rollback");
    await other.end();
  }
  expect(await outbox("resolve", id, "--delivered", "--reason", "r")).toMatchObject({ status: 0 });
});

test("a role that may only read can look and not change", async () => {
  const { ids } = await deadRows(stage, 1);
  const auditor = { DATABASE_URL: stage.db.as("headroom_auditor").url };
  expect(await headroom(["outbox", "dead"], { env: auditor })).toMatchObject({ status: 0 });
  expect(await headroom(["outbox", "status"], { env: auditor })).toMatchObject({ status: 0 });
  const outcome = await headroom(["outbox", "skip", ids[0] ?? "", "--reason", "r"], { env: auditor });
  expect(outcome).toMatchObject({ status: 1, out: "" });
  expect(outcome.err).toContain("permission denied");
});
