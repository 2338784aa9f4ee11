import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { idsOf, rowsOf, startEngine, type OperatorResult } from "../harness.ts";

const hour = 3_600_000;

describe.each(POSTGRES_VERSIONS)("retry now on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);
  const retryNow = (ids: readonly string[], actor: string | null = "ana"): Promise<OperatorResult[]> =>
    rowsOf(engine.control, "select * from outbox.retry_now($1, $2, 'receiver mended')", [ids, actor]);
  const waiting = (stream: string | null, rail: string | null = null, code: string | null = null) =>
    rowsOf<{ outbox_id: string; error_code: string; tries: number }>(
      engine.control,
      "select * from outbox.list_retries($1, $2, $3)",
      [stream, rail, code],
    );

  test.each([true, false])(
    "a row that waits for its next try is due immediately, and its tries stay counted (ordered: %s)",
    async (ordered) => {
      const stream = await engine.stream({ ordered });
      const [first, second] = await engine.enqueueRow(stream, 2);
      await engine.settle(
        stream,
        (await engine.claim(stream)).map((row, index) =>
          ordered && index > 0
            ? ({ row, outcome: "released" } as const)
            : ({ row, outcome: "retry", code: "server_error", afterMs: hour } as const),
        ),
      );
      expect(await engine.claim(stream)).toEqual([]);
      const ids = [first!.outbox_id, second!.outbox_id];
      const asked = ordered ? ids.slice(0, 1) : ids;
      expect(await waiting(stream.name)).toMatchObject(
        asked.map((id) => ({ outbox_id: id, error_code: "server_error", tries: 1 })),
      );
      expect((await retryNow(asked)).map(({ result }) => result)).toEqual(asked.map(() => "due_now"));
      expect(await waiting(stream.name)).toEqual([]);
      const claimed = await engine.claim(stream, { sinceMs: 1_000 });
      expect(claimed[0]).toMatchObject({ outbox_id: first!.outbox_id, tries: 1, attempt_no: 4 });
      await engine.deliver(stream, claimed);
      await engine.drain(stream);
      expect(await engine.states(first!.outbox_id)).toEqual([
        "DISPATCHING",
        "RETRYABLE",
        "RETRY_NOW",
        "DISPATCHING",
        "DISPATCHED",
      ]);
      expect(
        await rowsOf(
          engine.superuser,
          "select actor, reason from outbox.attempts where outbox_id = $1 and state = 'RETRY_NOW'",
          [first!.outbox_id],
        ),
      ).toEqual([{ actor: "ana", reason: "receiver mended" }]);
    },
  );

  test("every other row is left unchanged, with the reason", async () => {
    const stream = await engine.stream({ onDead: "block", maxTries: 1 });
    const unknown = "01900000-0000-7000-8000-000000000000";
    const finished = await engine.enqueue(stream, { key: "finished" });
    await engine.drain(stream);
    const dead = await engine.enqueue(stream, { key: "dead" });
    await engine.kill(stream);
    const [inFlight] = await engine.enqueueRow(stream, 1, { key: "flight" });
    const claimed = await engine.claim(stream);
    expect(idsOf(claimed)).toEqual([inFlight!.outbox_id]);
    const scheduled = await engine.enqueue(stream, { key: "later", notBefore: new Date(Date.now() + hour) });
    const [due, behind] = await engine.enqueueRow(stream, 2, { key: "due" });
    const ids = [unknown, finished, dead, inFlight!, scheduled, due!, behind!].map((row) =>
      typeof row === "string" ? row : row.outbox_id,
    );
    expect((await retryNow(ids)).map(({ result }) => result)).toEqual([
      "unknown",
      "finished",
      "dead",
      "in_flight",
      "scheduled",
      "due_already",
      "behind",
    ]);
    expect(await waiting(stream.name)).toEqual([]);
    await engine.deliver(stream, claimed);
  });

  test("a key that a producer holds is busy, and nobody waits for it", async () => {
    const stream = await engine.stream();
    const row = await engine.enqueue(stream);
    await engine.settle(stream, [{ row: await engine.claimOne(stream), outcome: "retry", afterMs: hour }]);
    const [producer] = await engine.db.twoConnections("headroom_ingest");
    await producer.query("begin");
    await engine.enqueue(stream, {}, producer);
    expect(await retryNow([row.outbox_id])).toMatchObject([{ result: "busy" }]);
    await producer.query("commit");
    expect(await retryNow([row.outbox_id])).toMatchObject([{ result: "due_now" }]);
    await engine.drain(stream);
  });

  test("are found by stream, rail and the code of the last try, without those that were never tried", async () => {
    const stream = await engine.stream({ ordered: false });
    const [one, other] = [
      await engine.enqueue(stream, { rail: "sure" }),
      await engine.enqueue(stream, { rail: "asking" }),
    ];
    await engine.enqueue(stream, { notBefore: new Date(Date.now() + hour) });
    const rows = await engine.claim(stream);
    await engine.settle(
      stream,
      rows.map((row) => ({ row, outcome: "retry", code: row.outbox_id === one.outbox_id ? "a" : "b", afterMs: hour })),
    );
    expect(idsOf(await waiting(stream.name))).toEqual([one.outbox_id, other.outbox_id]);
    expect(idsOf(await waiting(stream.name, "asking"))).toEqual([other.outbox_id]);
    expect(idsOf(await waiting(stream.name, null, "a"))).toEqual([one.outbox_id]);
    expect(await rowsOf(engine.control, "select outbox.count_retries($1)::int as count", [stream.name])).toEqual([
      { count: 2 },
    ]);
  });

  test("needs a name, and is not for a producer or a relay", async () => {
    await expect(retryNow([], null)).rejects.toThrow("An actor");
    for (const pool of [engine.ingest, engine.executor]) {
      await expect(rowsOf(pool, "select * from outbox.retry_now('{}', 'x', 'y')", [])).rejects.toThrow(
        "permission denied",
      );
    }
  });
});
