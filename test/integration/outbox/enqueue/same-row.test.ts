/** A repeat is the same row only if it goes to the same place, by the same rail, in the same way and at the same time. */
import { describe, expect, test } from "vitest";
import type { Queryable } from "../queries.ts";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { refusalOf, refusedAs, rowsOf, startEngine, unique } from "../harness.ts";

const later = "2099-01-01T00:00:00Z";

/** What may differ, the column for it, and a value that the first row does not have. */
const terms: readonly (readonly [column: string, value: unknown])[] = [
  ["rail", "blind"],
  ["key", "another"],
  ["priority", 6],
  ["coalesce_key", "last"],
  ["destination", "shop:2"],
  ["expires_at", later],
  ["not_before", later],
  ["captures", { ref: ["id"] }],
  ["binds", [{ path: ["ref"], capture: "ref" }]],
];

describe.each(POSTGRES_VERSIONS)("a repeated row on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);
  const pool = engine.db.as("headroom_ingest").pool;

  type Enqueue = (
    row: Readonly<Record<string, unknown>>,
    client?: Queryable,
  ) => Promise<{ outbox_id: string; created: boolean }[]>;
  const enqueueOne: Enqueue = (row, client = pool) =>
    rowsOf(
      client,
      `select e.* from jsonb_to_record($1) r(stream text, key text, instruction_id text, idempotency_key text, rail text, payload jsonb,
           priority integer, not_before timestamptz, expires_at timestamptz, coalesce_key text, destination text, captures jsonb, binds jsonb)
         cross join lateral outbox.enqueue(r.stream, r.key, r.instruction_id, r.idempotency_key, r.rail, r.payload,
           coalesce(r.priority, 5), r.not_before, r.expires_at, r.coalesce_key, r.destination, r.captures, r.binds) e`,
      [JSON.stringify(row)],
    );
  const enqueueMany: Enqueue = (row, client = pool) =>
    rowsOf(client, "select * from outbox.enqueue_many($1)", [JSON.stringify([row])]);
  const ways = [
    ["enqueue", enqueueOne],
    ["enqueue_many", enqueueMany],
  ] as const;

  async function newRow(): Promise<Record<string, unknown>> {
    const stream = await engine.stream({ ordered: true });
    const instruction = unique("i");
    const row = { stream: stream.name, key: "k", instruction_id: instruction, idempotency_key: "1", rail: "sure" };
    return { ...row, payload: { a: 1 } };
  }

  describe.each(ways)("by outbox.%s", (_name, enqueue) => {
    test.each(terms)("with another %s is refused with that word, and nothing changes", async (column, value) => {
      const row = await newRow();
      const [first] = await enqueueOne(row);
      const refusal = await refusalOf(enqueue({ ...row, [column]: value }));
      expect(refusal).toMatchObject(refusedAs("idempotency_conflict", first?.outbox_id));
      expect(refusal.message).toMatch(new RegExp(`What differs: (.*, )?${column}(, .*)?\\.$`));
      expect(await enqueue(row)).toMatchObject([{ outbox_id: first?.outbox_id, created: false }]);
    });

    test("with all of it the same is the row that is there, whatever the time zone of the session", async () => {
      const row = {
        ...(await newRow()),
        priority: 2,
        not_before: later,
        expires_at: "2099-02-01T00:00:00.123456Z",
        coalesce_key: "c",
        destination: "shop:1",
        captures: { ref: ["id"] },
        binds: [{ path: ["a"], capture: "ref" }],
      };
      const [first] = await enqueueOne(row);
      expect(await enqueue({ ...row, not_before: "2099-01-01T05:30:00+05:30" })).toMatchObject([
        { outbox_id: first?.outbox_id, created: false },
      ]);
    });

    test("with a date that is over is the row without one, and one whose date has passed since is still the same", async () => {
      const row = await newRow();
      const [first] = await enqueue({ ...row, not_before: "2020-01-01T00:00:00Z" });
      expect(first?.created).toBe(true);
      for (const date of ["2020-01-02T00:00:00Z", null])
        expect(await enqueue({ ...row, not_before: date })).toMatchObject([
          { outbox_id: first?.outbox_id, created: false },
        ]);
      expect(await refusalOf(enqueue({ ...row, not_before: later }))).toMatchObject(
        refusedAs("idempotency_conflict", first?.outbox_id),
      );
      const dated = { ...(await newRow()), not_before: "2020-01-01T00:00:00Z" };
      const [second] = await enqueue(dated);
      // As if that date had been in the future then: the hash contains it.
      await rowsOf(
        engine.db.superuser.pool,
        `update outbox.dedupe d set terms = hashtextextended(d.salt::text || jsonb_build_array('sure', 'k', 5, null, null, null, null, null,
           extract(epoch from '2020-01-01T00:00:00Z'::timestamptz))::text, 0) where outbox_id = $1`,
        [second?.outbox_id],
      );
      expect(await enqueue(dated)).toMatchObject([{ outbox_id: second?.outbox_id, created: false }]);
    });

    test("to another rail is refused even when the first was collected", async () => {
      const row = await newRow();
      const [first] = await enqueueOne(row);
      const client = await engine.db.superuser.connect();
      const onceCollected = async <T>(repeat: () => Promise<T>): Promise<T> => {
        await client.query("begin");
        await client.query("delete from outbox.payloads where outbox_id = $1", [first?.outbox_id]);
        try {
          return await repeat();
        } finally {
          await client.query("rollback");
        }
      };
      expect(await refusalOf(onceCollected(() => enqueue({ ...row, rail: "blind" }, client)))).toMatchObject(
        refusedAs("idempotency_conflict"),
      );
      expect(await onceCollected(() => enqueue(row, client))).toMatchObject([
        { outbox_id: first?.outbox_id, created: false },
      ]);
    });

    test("of a row from before an upgrade is compared with that row's columns", async () => {
      const row = await newRow();
      const [first] = await enqueueOne({ ...row, not_before: later });
      await rowsOf(engine.db.superuser.pool, "update outbox.dedupe set terms = null where outbox_id = $1", [
        first?.outbox_id,
      ]);
      expect(await refusalOf(enqueue({ ...row, rail: "blind" }))).toMatchObject(refusedAs("idempotency_conflict"));
      expect(await enqueue({ ...row, not_before: later })).toMatchObject([
        { outbox_id: first?.outbox_id, created: false },
      ]);
    });
  });

  test("two rows of one call that differ only in their rail are refused together, and neither is written", async () => {
    const row = await newRow();
    const both = [row, { ...row, rail: "blind" }];
    const refusal = await refusalOf(rowsOf(pool, "select * from outbox.enqueue_many($1)", [JSON.stringify(both)]));
    expect(refusal).toMatchObject(refusedAs("idempotency_conflict"));
    expect(refusal.message).toContain("What differs: rail.");
    expect(await enqueueOne(row)).toMatchObject([{ created: true }]);
  });
});
