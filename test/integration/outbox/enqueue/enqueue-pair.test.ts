import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf, refusalOf, refusedAs, rowsOf, startEngine, unique, type Stream } from "../harness.ts";

interface Pair {
  readonly key?: string;
  readonly instruction?: string;
  readonly rail?: string;
  readonly destination?: string;
  readonly second?: unknown;
}

describe.each(POSTGRES_VERSIONS)("enqueue_pair on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);
  const owner = engine.db.superuser.pool;

  /** A root update and a reply, as the workflow writes them. */
  const enqueuePair = (stream: Stream, pair: Pair = {}): Promise<{ count: number }> =>
    oneOf(
      owner,
      `select outbox.enqueue_pair('acme', $1, $2, $3, $4, $5, 'update', '{"n": 1}', 'root', '[{"path": ["ts"], "capture": "c", "required": false}]',
                                  'reply', $6, null, null) as count`,
      [
        stream.name,
        pair.key ?? "k",
        pair.instruction ?? unique("i"),
        pair.rail ?? "sure",
        pair.destination ?? unique("channel"),
        JSON.stringify(pair.second ?? { n: 2 }),
      ],
    );

  const payloadsOf = (stream: Stream) =>
    rowsOf(
      owner,
      `select p.seq::integer, p.idempotency_key, p.payload, p.coalesce_key, p.payload_hash = d.payload_hash as kept, d.outbox_id = q.outbox_id as waits
         from outbox.payloads p
         join outbox.dedupe d using (stream_id, instruction_id, idempotency_key)
         left join outbox.pending q on q.lane_id = p.lane_id and q.seq = p.seq
        where p.stream_id = $1 order by p.lane_id, p.seq`,
      [stream.id],
    );

  test("both rows are in the lane in order, even at a new destination", async () => {
    const stream = await engine.stream();
    const destination = unique("channel");
    expect(await enqueuePair(stream, { destination })).toEqual({ count: 2 });
    expect(await enqueuePair(stream, { destination })).toEqual({ count: 2 });
    const update = { idempotency_key: "update", payload: { n: 1 }, coalesce_key: "root", kept: true, waits: true };
    const reply = { idempotency_key: "reply", payload: { n: 2 }, coalesce_key: null, kept: true, waits: true };
    expect(await payloadsOf(stream)).toEqual([
      { seq: 1, ...update },
      { seq: 2, ...reply },
      { seq: 3, ...update },
      { seq: 4, ...reply },
    ]);
  });

  test("an idle lane wakes up: a row that comes after a delivery is delivered too", async () => {
    const stream = await engine.stream();
    const destination = unique("channel");
    await enqueuePair(stream, { destination });
    expect(await engine.drain(stream)).toHaveLength(2);
    await enqueuePair(stream, { destination });
    expect(await engine.drain(stream)).toHaveLength(2);
  });

  test("the same pair again is the same pair; with other content it is refused for the same reason as in enqueue", async () => {
    const stream = await engine.stream();
    const pair = { instruction: unique("i"), destination: unique("channel") };
    await enqueuePair(stream, pair);
    expect(await enqueuePair(stream, pair)).toEqual({ count: 2 });
    expect(await refusalOf(enqueuePair(stream, { ...pair, second: { n: 3 } }))).toMatchObject(
      refusedAs("idempotency_conflict"),
    );
    expect(await payloadsOf(stream)).toHaveLength(2);
  });

  test("a pair with one existing row adds the other", async () => {
    const stream = await engine.stream();
    const pair = { instruction: unique("i"), destination: unique("channel") };
    await engine.enqueue(stream, {
      key: "k",
      instruction: pair.instruction,
      idempotencyKey: "reply",
      payload: { n: 2 },
    });
    await engine.enqueue(stream, { key: "k", destination: pair.destination });
    expect(await enqueuePair(stream, pair)).toEqual({ count: 2 });
    expect(await payloadsOf(stream)).toMatchObject([
      { seq: 1, idempotency_key: "reply" },
      { seq: 2 },
      { seq: 3, idempotency_key: "update", kept: true, waits: true },
    ]);
  });

  test("a bad row is refused for the same reason as in enqueue", async () => {
    const stream = await engine.stream();
    const destination = unique("channel");
    await enqueuePair(stream, { destination });
    const refusals = [
      await refusalOf(enqueuePair(stream, { destination, second: "x".repeat(300_000) })),
      await refusalOf(enqueuePair(stream, { destination, rail: "none" })),
      await refusalOf(enqueuePair({ id: 0, name: "no-such-stream" }, { destination })),
    ];
    expect(refusals).toMatchObject([
      refusedAs("payload_too_large"),
      refusedAs("unknown_rail"),
      refusedAs("unknown_stream"),
    ]);
    expect(await payloadsOf(stream)).toHaveLength(2);
  });
});
