/** A bad event is refused when it is inserted: an event that the insert accepts is never refused by the commit. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { validateEnvelope, type JsonObject } from "../../../src/rails/webhook/cloudevents.ts";
import { POSTGRES_VERSIONS, type TestClient } from "../../helpers/database.ts";
import { createPublishing, envelope, views, type EventStream } from "./harness.ts";
import { rowsOf } from "../outbox/queries.ts";

/** Texts of characters of one to four bytes, about as long as an attribute may be. */
function textOf(...lengths: readonly number[]): fc.Arbitrary<string> {
  const near = lengths.map((length) => fc.integer({ min: Math.max(0, length - 2), max: length + 2 }));
  const character = fc.constantFrom("x", "é", "日", "😀", " ", "'", "\u{10FFFF}");
  return fc.tuple(character, character, fc.oneof(...near)).map(([first, rest, length]) => first + rest.repeat(length));
}

const asciiOf = (length: number): fc.Arbitrary<string> =>
  fc.integer({ min: 1, max: length + 2 }).map((n) => `/${"s".repeat(n - 1)}`);

const anyEnvelope = fc.record(
  {
    id: fc.oneof(fc.uuid(), textOf(0, 200, 200)),
    source: fc.oneof(fc.constant("/tests"), asciiOf(300), textOf(1)),
    type: fc.oneof(fc.constant("com.example.transfer.settled"), asciiOf(200)),
    subject: fc.oneof(fc.constant(null), textOf(0, 225, 250, 300, 300)),
    time: fc.constantFrom("2026-02-30T23:59:60Z", "2026-02-27T10:00:00.5+01:00", "now"),
    datacontenttype: fc.constantFrom("application/json", "", null),
    trace: fc.oneof(textOf(1, 300), fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean()),
    data: fc.jsonValue({ maxDepth: 4 }),
  },
  { requiredKeys: [] },
);

const inOrder = (subject: string): ReturnType<typeof envelope> => envelope({ source: "/order", subject });

const insert = (client: TestClient, stream: EventStream, subjects: readonly string[]): Promise<unknown> =>
  client.query(`insert into ${views[stream]} (payload) select p from unnest($1::jsonb[]) p`, [
    subjects.map((subject) => JSON.stringify(inOrder(subject))),
  ]);

describe.each(POSTGRES_VERSIONS)("the commit of events on PostgreSQL %i", async (version) => {
  const events = await createPublishing(version);
  const ingest = events.db.as("headroom_ingest");

  /** The ids of the events; null when the insert refuses them. Throws when the commit does. */
  async function publish(stream: EventStream, ...payloads: readonly unknown[]): Promise<string[] | null> {
    const client = await ingest.pool.connect();
    try {
      await client.query("begin");
      const inserted = await rowsOf<{ id: string }>(
        client,
        `insert into ${views[stream]} (payload) select p from unnest($1::jsonb[]) p returning id`,
        [payloads.map((payload) => JSON.stringify(payload))],
      ).catch(() => null);
      await client.query(inserted === null ? "rollback" : "commit");
      return inserted?.map(({ id }) => id) ?? null;
    } finally {
      client.release();
    }
  }

  async function open(): Promise<TestClient> {
    const client = await ingest.connect();
    await client.query("begin");
    return client;
  }

  test("two that publish to both streams take their lanes in one order, even where one of them needs several parts", async () => {
    const { id: endpoint } = await events.endpoint("hears-both");
    // The lanes exist, so that they can be locked.
    await events.publish("ledger", ...["a", "z"].map(inOrder));
    await events.publish("transfers", inOrder("b"));
    const [large, small, holder] = [await open(), await open(), await events.db.superuser.connect()];
    // A whole part of the ledger's, which begins with lane a and ends with lane z.
    await insert(large, "ledger", [...Array.from({ length: 999 }, () => "a"), "z"]);
    await insert(large, "transfers", ["b"]);
    await insert(small, "transfers", ["b"]);
    await insert(small, "ledger", ["a"]);
    await holder.query("begin");
    await holder.query("select from outbox.lanes where key = $1 for update", [`${endpoint}:z`]);
    const publishing = [large.query("commit")];
    await events.db.waitUntilBlocked(large);
    publishing.push(small.query("commit"));
    await events.db.waitUntilBlocked(small);
    await holder.query("commit");
    // The victim of a deadlock rejects.
    await Promise.all(publishing);
    await Promise.all([large.end(), small.end(), holder.end()]);
  });

  test("whatever an insert accepts, the commit accepts, and it goes to endpoints with every topic", async () => {
    await events.endpoint("hears-everything");
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom("transfers", "ledger"), anyEnvelope, async (stream, changes) => {
        const payload: JsonObject = JSON.parse(JSON.stringify(envelope(changes)));
        const ids = await publish(stream, payload);
        if (ids === null) return;
        taken += 1;
        // Nor does a relay find a fault.
        expect(validateEnvelope(payload)).toEqual({ ok: true });
        expect(await events.fate(stream, ids[0]!)).toMatchObject({ status: "PENDING", deliveries: 1 });
      }),
      { numRuns: 150 },
    );
    expect(taken).toBeGreaterThan(10);
  });

  test.each<[string, Record<string, unknown>, boolean]>([
    ["a subject of 300 characters", { subject: "é".repeat(300) }, true],
    ["a subject of 900 bytes", { subject: "😀".repeat(225) }, true],
    ["a subject of 904 bytes", { subject: "😀".repeat(226) }, false],
    ["a subject of 300 emoji", { subject: "😀".repeat(300) }, false],
    ["an id of 800 bytes", { source: "/lengths", id: "😀".repeat(200) }, true],
    ["source and id of 1,024 bytes", { source: "s".repeat(223), id: "😀".repeat(200) }, true],
    ["source and id of 1,025 bytes", { source: "s".repeat(224), id: "😀".repeat(200) }, false],
    [
      "the longest source, type and id in ASCII",
      { source: "s".repeat(300), type: "t".repeat(200), id: "i".repeat(200) },
      true,
    ],
  ])("%s", async (_what, changes, isTaken) => {
    await events.endpoint(`e${"x".repeat(62)}`);
    const ids = await publish("transfers", envelope(changes));
    expect(ids === null).toBe(!isTaken);
  });

  test("an event that was collected is still recognised by its deliveries, and other content is refused immediately", async () => {
    await events.endpoint("hears");
    const first = envelope({ id: "collected" });
    const [event] = await events.publish("transfers", first);
    await events.query("select outbox.skip(e.outbox_ids, 'tests', 'over') from webhooks.envelopes e where e.id = $1", [
      event!.id,
    ]);
    await events.query("update webhooks.envelopes set created_at = created_at - interval '8 days' where id = $1", [
      event!.id,
    ]);
    await events.query("select outbox.gc()");
    expect(await events.fates("transfers", [event!.id])).toEqual([]);
    expect(await publish("transfers", { ...first, data: 7 })).toBeNull();
    expect(await publish("transfers", first)).toHaveLength(1);
  });

  test("many large events of one transaction are addressed in parts: one value of JSON cannot hold them all", async () => {
    await events.endpoint("hears");
    const ids = await publish("ledger", ...Array.from({ length: 80 }, () => envelope({ data: "x".repeat(250_000) })));
    // Rows of one part are made at the same moment.
    const parts = await events.query<{ events: number; bytes: number }>(
      `select count(*)::int as events, sum(octet_length(m.payload::text)) as bytes
         from webhooks.envelopes e join outbox.payloads m on m.outbox_id = any (e.outbox_ids)
        where e.id = any ($1) group by m.created_at order by m.created_at`,
      [ids],
    );
    expect(parts.reduce((sum, part) => sum + part.events, 0)).toBe(80);
    for (const { bytes } of parts) expect(bytes).toBeLessThan(17_000_000);
  });
});
