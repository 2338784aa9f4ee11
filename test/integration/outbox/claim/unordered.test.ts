import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf, rowsOf, startEngine, unique } from "../harness.ts";

describe.each(POSTGRES_VERSIONS)("a stream without order on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);
  const apart = { key: null };

  test("gives rows to the first relay that asks, each to one relay", async () => {
    const stream = await engine.stream({ ordered: false });
    for (let n = 0; n < 4; n += 1) await engine.enqueue(stream, apart);
    const [one, two] = await engine.db.twoConnections("headroom_executor");
    await one.query("begin");
    const first = await engine.claim(stream, { maxRows: 2 }, one);
    const second = await engine.claim(stream, {}, two);
    await one.query("commit");
    expect(new Set([...first, ...second].map((row) => row.outbox_id)).size).toBe(4);
    await engine.deliver(stream, [...first, ...second]);
    await Promise.all([one.end(), two.end()]);
  });

  test("a retry comes back with its tries counted, and dies when they are used", async () => {
    const stream = await engine.stream({ ordered: false, maxTries: 2 });
    const row = await engine.enqueue(stream, apart);
    await engine.settle(stream, [
      { row: await engine.claimOne(stream), outcome: "retry", code: "busy", afterMs: 3_600_000 },
    ]);
    expect(await engine.claim(stream)).toEqual([]);
    await engine.makeDue(stream);
    const second = await engine.claimOne(stream);
    expect(second).toMatchObject({ tries: 1, attempt_no: 3 });
    await engine.settle(stream, [{ row: second, outcome: "retry", code: "busy" }]);
    expect(await engine.inspect(row.outbox_id)).toMatchObject({
      place: "dead",
      tries: 2,
      error_code: "busy",
      uncertain: false,
    });
  });

  test("a released row has not been tried", async () => {
    const stream = await engine.stream({ ordered: false, maxTries: 1 });
    await engine.enqueue(stream, apart);
    for (let n = 0; n < 3; n += 1)
      await engine.settle(stream, [{ row: await engine.claimOne(stream), outcome: "released" }]);
    expect(await engine.claimOne(stream)).toMatchObject({ tries: 0, attempt_no: 7, sent_ago_ms: null });
    await engine.expireLeases(stream);
    await engine.reap();
  });

  test("a batch is settled in pieces, with mixed outcomes, and its lease ends with the last row", async () => {
    const stream = await engine.stream({ ordered: false });
    for (let n = 0; n < 4; n += 1) await engine.enqueue(stream, apart);
    const rows = await engine.claim(stream);
    await engine.settle(stream, [{ row: rows[3]! }, { row: rows[1]!, outcome: "rejected", code: "no" }]);
    await engine.settle(stream, [{ row: rows[0]! }]);
    expect(await rowsOf(engine.control, "select open from outbox.claims where stream_id = $1", [stream.id])).toEqual([
      { open: 1 },
    ]);
    await engine.settle(stream, [{ row: rows[2]!, outcome: "unknown" }]);
    expect(await rowsOf(engine.control, "select open from outbox.claims where stream_id = $1", [stream.id])).toEqual(
      [],
    );
    const places = await Promise.all(rows.map((row) => engine.place(row.outbox_id)));
    expect(places).toEqual(["delivered", "dead", "pending", "delivered"]);
    await engine.makeDue(stream);
    expect(await engine.claimOne(stream)).toMatchObject({ outbox_id: rows[2]!.outbox_id, uncertain: true });
    await engine.expireLeases(stream);
    await engine.reap();
  });

  test("gives the relay the key of a row, without numbering it", async () => {
    const stream = await engine.stream({ ordered: false });
    expect(await engine.enqueue(stream, { key: "customer-1" })).toMatchObject({ seq: null, created: true });
    const row = await engine.claimOne(stream);
    expect(row).toMatchObject({ key: "customer-1", seq: null, lane_id: null });
    await engine.deliver(stream, [row]);
  });

  test.each([true, false])(
    "a row that expired and may have arrived is never sent again, and is looked up unless a duplicate is harmless (harmless: %s)",
    async (resendBlind) => {
      const stream = await engine.stream({ ordered: false, resendBlind });
      for (const destination of [undefined, unique("d")]) {
        const expiresAt = new Date(Date.now() + 3_600_000);
        await engine.enqueue(stream, { ...apart, expiresAt, ...(destination === undefined ? {} : { destination }) });
        await engine.settle(stream, [{ row: await engine.claimOne(stream), outcome: "unknown" }]);
        await rowsOf(engine.superuser, "update outbox.pending_unordered set expires_at = now() where stream_id = $1", [
          stream.id,
        ]);
        await engine.makeDue(stream);
        const claimed = await engine.claim(stream);
        expect(claimed.map(({ uncertain }) => uncertain)).toEqual(resendBlind ? [] : [true]);
        await engine.deliver(stream, claimed);
      }
      const skipped = "select uncertain, error_code from outbox.attempts where stream_id = $1 and state = 'SKIPPED'";
      const lines = await rowsOf(engine.control, skipped, [stream.id]);
      expect(lines).toEqual(
        Array.from({ length: resendBlind ? 2 : 0 }, () => ({ uncertain: true, error_code: "expired" })),
      );
    },
  );

  test("next_due says how long to sleep: zero when something is due, null when nothing has a date", async () => {
    const stream = await engine.stream({ ordered: false });
    const ask = () =>
      rowsOf<{ wait_ms: number }>(engine.executor, "select wait_ms from outbox.next_due(array[$1]::smallint[])", [
        stream.id,
      ]);
    expect(await ask()).toEqual([]);
    await engine.enqueue(stream, { key: null, notBefore: new Date(Date.now() + 3_600_000) });
    expect((await ask())[0]!.wait_ms).toBeGreaterThan(3_000_000);
    await engine.enqueue(stream, apart);
    expect(await ask()).toEqual([{ wait_ms: 0 }]);
    expect(
      await oneOf(engine.control, "select pending, due from outbox.status() where stream = $1", [stream.name]),
    ).toEqual({ pending: 2, due: 1 });
  });
});
