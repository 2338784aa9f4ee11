/**
 * Who holds up whom. Each case leaves a transaction open that a producer, an operator or another relay may leave open; meanwhile a relay
 * claims, settles, reaps and sweeps, and other producers enqueue. Anything that would have to wait fails here by its timeout.
 */
import type { PoolClient } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { idsOf, oneOf, rowsOf, startEngine, unique, type Claimed, type Stream } from "../harness.ts";

/** How many of them have no destination, and how many have one. */
const counts = (rows: readonly Claimed[]): number[] => [
  rows.filter((row) => row.destination === null).length,
  rows.filter((row) => row.destination !== null).length,
];

describe.each(POSTGRES_VERSIONS)("while a transaction is left open, on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);

  type Role = "headroom_ingest" | "headroom_control" | "headroom_executor";

  async function open(role: Role): Promise<PoolClient> {
    const client = await engine.db.as(role).connect();
    onTestFinished(async () => {
      await client.query("rollback");
      await client.end();
    });
    await client.query("begin");
    return client as unknown as PoolClient;
  }

  /** Sessions with a short lock timeout: none of them waits here. */
  async function impatient(role: Role): Promise<PoolClient> {
    const client = await engine.db.as(role).connect();
    onTestFinished(() => client.end());
    await client.query("set lock_timeout = '1s'");
    return client as unknown as PoolClient;
  }

  interface Scene {
    readonly stream: Stream;
    readonly other: Stream;
    readonly destination: string;
    /** A dead row of key "dead", a row in flight of key "flying", one waiting behind it, and a row that waits for the destination. */
    readonly dead: Claimed;
    readonly flying: Claimed;
  }

  async function scene(): Promise<Scene> {
    const [stream, other] = [await engine.stream({ runLength: 1 }), await engine.stream()];
    const destination = unique("destination");
    await engine.enqueue(stream, { key: "dead" });
    const dead = await engine.kill(stream);
    await engine.enqueueRow(stream, 2, { key: "flying" });
    const flying = await engine.claimOne(stream);
    await engine.enqueue(stream, { key: "waiting", destination });
    return { stream, other, destination, dead, flying };
  }

  const cases: readonly (readonly [string, (scene: Scene) => Promise<unknown>])[] = [
    [
      "a producer that used a destination first",
      async ({ stream }) => {
        const name = unique("new");
        const producer = await open("headroom_ingest");
        await engine.enqueue(stream, { key: "held", destination: name }, producer);
        await engine.enqueue(stream, { key: "second", destination: name }, await impatient("headroom_ingest"));
      },
    ],
    [
      "a producer of a key that is in flight",
      async ({ stream }) => engine.enqueue(stream, { key: "flying" }, await open("headroom_ingest")),
    ],
    [
      "an operator who sets limits",
      async ({ destination }) =>
        rowsOf(await open("headroom_control"), "select outbox.limit_destination($1, 0, 3)", [destination]),
    ],
    [
      "an operator who sets limits for all",
      async () => rowsOf(await open("headroom_control"), "select outbox.limit_destination('*', 0)"),
    ],
    [
      "an operator who redrives",
      async ({ dead }) => engine.redrive([dead.outbox_id], {}, await open("headroom_control")),
    ],
    ["an operator who skips", async ({ dead }) => engine.skip([dead.outbox_id], await open("headroom_control"))],
    [
      "an operator who skips what waits behind a row in flight",
      async ({ stream }) => {
        const [behind] = await rowsOf<{ outbox_id: string }>(
          engine.superuser,
          "select p.outbox_id from outbox.pending p join outbox.lanes l using (lane_id) where l.stream_id = $1 and l.key = 'flying' and p.seq = 2",
          [stream.id],
        );
        return engine.skip([behind!.outbox_id], await open("headroom_control"));
      },
    ],
    ["a relay that claims", async ({ stream }) => engine.claim(stream, {}, await open("headroom_executor"))],
    [
      "a relay that settles a failure of the destination",
      async ({ stream }) => {
        const rows = await engine.claim(stream);
        return engine.settle(
          stream,
          rows.map((row) => ({ row, outcome: "retry" as const, code: "http_500" })),
          await open("headroom_executor"),
        );
      },
    ],
    [
      "a relay that reaps",
      async ({ stream }) => {
        await engine.expireLeases(stream);
        return engine.reap(await open("headroom_executor"));
      },
    ],
    ["a relay that sweeps", async () => rowsOf(await open("headroom_executor"), "select outbox.sweep()")],
  ];

  test.each(cases)("%s holds up nobody", async (_name, hold) => {
    const it = await scene();
    await hold(it);
    const relay = await impatient("headroom_executor");
    // Rows of another stream, of other keys, and to the same destination.
    const producer = await impatient("headroom_ingest");
    const mine = [
      await engine.enqueue(it.other, { key: "k" }, producer),
      await engine.enqueue(it.other, { key: "d", destination: it.destination }, producer),
      await engine.enqueue(it.other, { key: "e", destination: unique("another") }, producer),
    ];
    const claimed = await engine.claim(it.other, {}, relay);
    expect(new Set(idsOf(claimed))).toEqual(new Set(idsOf(mine)));
    const results = claimed.map((row, n) => ({ row, outcome: n === 0 ? ("retry" as const) : ("delivered" as const) }));
    expect(await engine.settleAndCount(it.other, results, relay)).toMatchObject({
      delivered: 2,
      retried: 1,
      busy: null,
    });
    // What is held may have to wait; a caller does not.
    await engine.claim(it.stream, {}, relay);
    await engine.settleAndCount(it.stream, [{ row: it.flying, outcome: "retry" }], relay);
    await rowsOf(relay, "select outbox.reap(), outbox.sweep()");
    await rowsOf(relay, "select * from outbox.next_due(array[$1, $2]::smallint[])", [it.stream.id, it.other.id]);
  });

  test("a relay's report on a destination that another session holds at this moment is not lost", async () => {
    const stream = await engine.stream();
    const destination = unique("noted");
    await rowsOf(engine.control, "select outbox.limit_destination($1, 0, 1, 60000)", [destination]);
    await engine.enqueue(stream, { key: "a", destination });
    const row = await engine.claimOne(stream);
    const holder = await engine.db.superuser.connect();
    onTestFinished(() => holder.end());
    await holder.query("begin");
    await rowsOf(holder, "select outbox.hold_gates(array[$1])", [destination]);
    await engine.settle(stream, [{ row, outcome: "retry", code: "http_500" }]);
    const circuit = async (): Promise<string> =>
      (
        await oneOf<{ circuit: string }>(
          engine.control,
          "select circuit from outbox.destination_status() where destination = $1",
          [destination],
        )
      ).circuit;
    expect(await circuit()).toBe("closed");
    await engine.enqueue(stream, { key: "b", destination });
    // Something is reported, and nobody can evaluate it: nothing passes.
    expect(await engine.claim(stream)).toEqual([]);
    await holder.query("rollback");
    expect(await engine.claim(stream)).toEqual([]);
    expect(await circuit()).toBe("open");
  });

  test("an operator who forgets to commit is disconnected by the server, and their changes are undone", async () => {
    const stream = await engine.stream();
    await engine.enqueue(stream, { key: "k" });
    const dead = await engine.kill(stream);
    const operator = await open("headroom_control");
    await engine.redrive([dead.outbox_id], {}, operator);
    expect(await oneOf(operator, "show idle_in_transaction_session_timeout")).toEqual({
      idle_in_transaction_session_timeout: "1min",
    });
  });

  test.each([true, false])(
    "a claim is limited by the size of its rows, from the first on (ordered: %s)",
    async (ordered) => {
      const stream = await engine.stream({ ordered });
      const payload = { text: "x".repeat(100_000) };
      for (let n = 0; n < 4; n += 1) await engine.enqueue(stream, { key: `k${n}`, payload });
      for (let n = 0; n < 4; n += 1) await engine.enqueue(stream, { key: `d${n}`, payload, destination: "heavy" });
      const claim = (bytes: number): Promise<Claimed[]> =>
        rowsOf<Claimed>(engine.executor, "select * from outbox.claim($1, $2, 100, p_max_bytes => $3)", [
          engine.relayId,
          stream.id,
          bytes,
        ]);
      expect(counts(await claim(250_000))).toEqual([2, 2]);
      expect(counts(await claim(1))).toEqual([1, 1]);
      expect(counts(await claim(8_000_000))).toEqual([1, 1]);
    },
  );
});
