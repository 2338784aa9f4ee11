import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf, rowsOf, startEngine, unique, type Claimed, type Stream } from "../harness.ts";

interface Limits {
  readonly minIntervalMs?: number;
  readonly threshold?: number;
  readonly openMs?: number;
}

describe.each(POSTGRES_VERSIONS)("destinations on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);

  async function destination(limits: Limits = {}): Promise<string> {
    const name = unique("d");
    await rowsOf(engine.control, "select outbox.limit_destination($1, $2, $3, $4)", [
      name,
      limits.minIntervalMs ?? null,
      limits.threshold ?? null,
      limits.openMs ?? null,
    ]);
    return name;
  }

  async function statusOf(name: string): Promise<{ circuit: string; failures: number; next_slot_at: Date | null }> {
    return oneOf(
      engine.executor,
      "select circuit, failures, next_slot_at from outbox.destination_status() where destination = $1",
      [name],
    );
  }

  /** Moves a destination's time: its slot comes, its circuit may be probed. */
  async function letPass(name: string, stream: Stream): Promise<void> {
    await rowsOf(
      engine.superuser,
      `update outbox.gates set next_slot_at = least(next_slot_at, now()),
         open_until = least(open_until, now()), probe_until = least(probe_until, now()) where name = $1`,
      [name],
    );
    await engine.makeDue(stream);
  }

  async function rowsTo(stream: Stream, to: string, count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1)
      ids.push((await engine.enqueue(stream, { key: unique("k"), destination: to })).outbox_id);
    return ids;
  }

  describe.each([
    ["with order", true],
    ["without order", false],
  ])("of a stream %s", (_name, ordered) => {
    test("without a limit all that is due passes, and each row knows its destination", async () => {
      const stream = await engine.stream({ ordered });
      const to = await destination();
      const ids = await rowsTo(stream, to, 3);
      const rows = await engine.claim(stream);
      expect(new Set(rows.map((row) => row.outbox_id))).toEqual(new Set(ids));
      expect(rows.every((row) => row.destination === to && row.destination_id !== null)).toBe(true);
      await engine.deliver(stream, rows);
    });

    test("with a limit two relays together get one slot, and waiting is not a try", async () => {
      const stream = await engine.stream({ ordered, maxTries: 1 });
      const to = await destination({ minIntervalMs: 60_000 });
      const ids = await rowsTo(stream, to, 3);
      const sent: Claimed[] = [];
      const [one, two] = await engine.db.twoConnections("headroom_executor");
      for (let slot = 0; slot < 3; slot += 1) {
        const got = (await Promise.all([engine.claim(stream, {}, one), engine.claim(stream, {}, two)])).flat();
        expect(got).toHaveLength(1);
        expect(await engine.claim(stream)).toEqual([]);
        sent.push(...got);
        await engine.deliver(stream, got);
        await letPass(to, stream);
      }
      expect(new Set(sent.map((row) => row.outbox_id))).toEqual(new Set(ids));
      expect(sent.every((row) => row.tries === 0 && row.attempt_no === 1)).toBe(true);
      await Promise.all([one.end(), two.end()]);
    });

    test("waiting rows stay where they are, unchanged, and a relay is told when the next slot opens", async () => {
      const stream = await engine.stream({ ordered });
      const to = await destination({ minIntervalMs: 60_000 });
      await rowsTo(stream, to, 3);
      const first = await engine.claim(stream);
      const table = ordered ? "outbox.heads" : "outbox.pending_unordered";
      const waiting = (): Promise<unknown[]> =>
        rowsOf(
          engine.superuser,
          `select xmin, ctid, due from ${table} where stream_id = $1 ${ordered ? "and claim_id is null" : ""} order by due`,
          [stream.id],
        );
      const before = await waiting();
      expect(before).toHaveLength(2);
      expect(await engine.claim(stream)).toEqual([]);
      expect(await waiting()).toEqual(before);
      const { wait_ms } = await oneOf<{ wait_ms: number }>(
        engine.executor,
        "select wait_ms from outbox.next_due(array[$1::smallint])",
        [stream.id],
      );
      expect(Math.round(wait_ms / 60_000)).toBe(1);
      await engine.deliver(stream, first);
    });

    test("consecutive failures open the circuit; then nothing passes, then one probe, and an answer closes it", async () => {
      const stream = await engine.stream({ ordered });
      const to = await destination({ threshold: 2, openMs: 60_000 });
      await rowsTo(stream, to, 3);
      const rows = await engine.claim(stream);
      await engine.settle(stream, [{ row: rows[0]!, outcome: "retry", code: "http_500" }]);
      expect(await statusOf(to)).toMatchObject({ circuit: "closed", failures: 1 });
      await engine.settle(stream, [{ row: rows[1]!, outcome: "unknown", code: "timeout" }]);
      expect(await statusOf(to)).toMatchObject({ circuit: "open", failures: 2 });
      await engine.settle(stream, [{ row: rows[2]!, outcome: "released" }]);
      await engine.makeDue(stream);
      expect(await engine.claim(stream)).toEqual([]);
      await letPass(to, stream);
      expect(await statusOf(to)).toMatchObject({ circuit: "half-open" });
      const probe = await engine.claim(stream);
      expect(probe).toHaveLength(1);
      await engine.makeDue(stream);
      expect(await engine.claim(stream)).toEqual([]);
      await engine.deliver(stream, probe);
      expect(await statusOf(to)).toMatchObject({ circuit: "closed", failures: 0 });
      await engine.makeDue(stream);
      const rest = await engine.claim(stream);
      expect(rest).toHaveLength(2);
      await engine.deliver(stream, rest);
    });

    test("a failed probe opens the circuit again, for longer", async () => {
      const stream = await engine.stream({ ordered });
      const to = await destination({ threshold: 1, openMs: 60_000 });
      await rowsTo(stream, to, 2);
      const openFor = async (): Promise<number> =>
        (
          await oneOf<{ minutes: number }>(
            engine.superuser,
            "select round(extract(epoch from open_until - now()) / 60)::int as minutes from outbox.gates where name = $1",
            [to],
          )
        ).minutes;
      const rows = await engine.claim(stream);
      await engine.settle(stream, [
        { row: rows[0]!, outcome: "retry" },
        { row: rows[1]!, outcome: "released" },
      ]);
      expect(await openFor()).toBe(1);
      await letPass(to, stream);
      const [probe] = await engine.claim(stream);
      await engine.settle(stream, [{ row: probe!, outcome: "retry" }]);
      expect(await openFor()).toBe(2);
      await letPass(to, stream);
      const [again] = await engine.claim(stream);
      await engine.settle(stream, [{ row: again!, outcome: "rejected", code: "gone" }]);
      expect(await statusOf(to)).toMatchObject({ circuit: "closed", failures: 0 });
    });

    test("a probe whose relay dies is followed by another when its lease has run out", async () => {
      const stream = await engine.stream({ ordered });
      const to = await destination({ threshold: 1 });
      await rowsTo(stream, to, 2);
      const rows = await engine.claim(stream);
      await engine.settle(stream, [
        { row: rows[0]!, outcome: "retry" },
        { row: rows[1]!, outcome: "released" },
      ]);
      await letPass(to, stream);
      expect(await engine.claim(stream)).toHaveLength(1);
      await engine.makeDue(stream);
      expect(await engine.claim(stream)).toEqual([]);
      await engine.expireLeases(stream);
      await engine.reap();
      await letPass(to, stream);
      const second = await engine.claim(stream);
      expect(second).toHaveLength(1);
      await engine.deliver(stream, second);
    });

    test("a probe that is handed back unsent allows another one immediately", async () => {
      const stream = await engine.stream({ ordered });
      const to = await destination({ threshold: 1 });
      await rowsTo(stream, to, 1);
      await engine.settle(stream, [{ row: await engine.claimOne(stream), outcome: "retry" }]);
      await letPass(to, stream);
      await engine.settle(stream, [{ row: await engine.claimOne(stream), outcome: "released" }]);
      await engine.makeDue(stream);
      await engine.deliver(stream, [await engine.claimOne(stream)]);
    });

    const answers = ["still_running", "may_still_appear", "balance_insufficient", "lock_timeout", "too_many_to_search"];
    test.each(answers)("a receiver that has not finished with one row (%s) has answered", async (code) => {
      const stream = await engine.stream({ ordered });
      const to = await destination({ threshold: 2 });
      await rowsTo(stream, to, 2);
      const rows = await engine.claim(stream);
      await engine.settle(stream, [{ row: rows[0]!, outcome: "retry", code: "http_503" }]);
      expect(await statusOf(to)).toMatchObject({ circuit: "closed", failures: 1 });
      await engine.settle(stream, [{ row: rows[1]!, outcome: "retry", code }]);
      expect(await statusOf(to)).toMatchObject({ circuit: "closed", failures: 0 });
      await engine.makeDue(stream);
      await engine.deliver(stream, await engine.claim(stream));
    });

    test("a receiver that asks for a pause gets it, and its circuit is not affected", async () => {
      const stream = await engine.stream({ ordered });
      const to = await destination({ threshold: 1 });
      const ids = await rowsTo(stream, to, 2);
      const rows = await engine.claim(stream);
      await engine.settle(stream, [
        { row: rows[0]!, outcome: "retry", code: "http_429", afterMs: 60_000, throttled: true },
        { row: rows[1]!, outcome: "released" },
      ]);
      const status = await statusOf(to);
      expect(status).toMatchObject({ circuit: "closed", failures: 0 });
      expect(status.next_slot_at).not.toBeNull();
      await engine.makeDue(stream);
      expect(await engine.claim(stream)).toEqual([]);
      await letPass(to, stream);
      const later = await engine.claim(stream);
      expect(new Set(later.map((row) => row.outbox_id))).toEqual(new Set(ids));
      await engine.deliver(stream, later);
    });

    test("a receiver that asks for a pause of unreadable length gets the default one", async () => {
      const stream = await engine.stream({ ordered });
      const to = await destination({ openMs: 60_000 });
      await rowsTo(stream, to, 1);
      await engine.settle(stream, [
        { row: await engine.claimOne(stream), outcome: "retry", code: "http_429", throttled: true },
      ]);
      const { next_slot_at } = await statusOf(to);
      expect(next_slot_at!.getTime() - Date.now()).toBeLessThan(120_000);
      await rowsOf(engine.control, "select outbox.clear_destination($1)", [to]);
      expect((await statusOf(to)).next_slot_at).toBeNull();
    });

    test("one destination's failures do not affect another's", async () => {
      const stream = await engine.stream({ ordered });
      const [bad, good] = [await destination({ threshold: 1 }), await destination()];
      await rowsTo(stream, bad, 1);
      await engine.settle(stream, [{ row: await engine.claimOne(stream), outcome: "retry" }]);
      const [stuck] = await rowsTo(stream, bad, 1);
      const [free] = await rowsTo(stream, good, 1);
      await engine.makeDue(stream);
      const rows = await engine.claim(stream);
      expect(rows.map((row) => row.outbox_id)).toEqual([free]);
      await engine.deliver(stream, rows);
      expect(await engine.place(stuck!)).toBe("pending");
    });
  });

  test("rows of one key for a limited destination go out one per slot, in order", async () => {
    const stream = await engine.stream();
    const to = await destination({ minIntervalMs: 60_000 });
    const rows = await engine.enqueueRow(stream, 3, { destination: to });
    const sent: string[] = [];
    for (let slot = 0; slot < 3; slot += 1) {
      const got = await engine.claimOne(stream);
      sent.push(got.outbox_id);
      await engine.deliver(stream, [got]);
      expect(await engine.claim(stream)).toEqual([]);
      await letPass(to, stream);
    }
    expect(sent).toEqual(rows.map((row) => row.outbox_id));
  });

  test("two relays that meet at one destination wait for each other and never deadlock", async () => {
    const stream = await engine.stream();
    const names = [await destination(), await destination(), await destination()];
    const relays = await engine.db.twoConnections("headroom_executor");
    for (let n = 0; n < 30; n += 1) await engine.enqueue(stream, { key: unique("k"), destination: names[n % 3]! });
    const work = async (relay: (typeof relays)[number]): Promise<number> => {
      let sent = 0;
      for (let round = 0; round < 60 && sent < 30; round += 1) {
        const rows = await engine.claim(stream, { maxLanes: 4 }, relay);
        await engine.settle(
          stream,
          rows.toReversed().map((row) => ({ row })),
          relay,
        );
        sent += rows.length;
        if (rows.length === 0) break;
      }
      return sent;
    };
    const [one, two] = await Promise.all(relays.map((relay) => work(relay)));
    expect(one! + two!).toBe(30);
    await Promise.all(relays.map((relay) => relay.end()));
  });
});
