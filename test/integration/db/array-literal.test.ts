/** Array literals that we write ourselves mean the same to Postgres as here, whatever they contain. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compositeArray, textArray } from "../../../src/db/values/array-literal.ts";
import { createTestDatabase, POSTGRES_VERSIONS } from "../../helpers/database.ts";

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    "",
    "NULL",
    "null",
    '"',
    "\\",
    '\\"',
    '""',
    "(a,b)",
    "{a,b}",
    " a ",
    "a\nb",
    "\\x00ff",
    "'",
    "a,b",
    "😀",
  ),
);
/** A zero byte cannot be stored, and is left out. */
const stored = (value: string | null): string | null => value?.replaceAll("\u0000", "") ?? null;

describe.each(POSTGRES_VERSIONS)("array literals on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version });

  test("keep every text of a composite, and distinguish an empty one from null", async () => {
    const field = fc.option(text);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(field, field, field), { minLength: 1, maxLength: 20 }), async (rows) => {
        const none = Array.from({ length: 5 }, () => null);
        const given = compositeArray(
          rows.map(([code, reference, message], index) => [
            index,
            ...none,
            null,
            code,
            reference,
            message,
            ...none,
            null,
          ]),
        );
        const read = await db.pool.query<{ code: string; reference: string; message: string }>(
          "select o.code, o.reference, o.message from unnest($1::outbox.row_outcome[]) o order by o.claim_id",
          [given],
        );
        expect(read.rows.map((row) => [row.code, row.reference, row.message])).toEqual(
          rows.map((row) => row.map(stored)),
        );
      }),
      { numRuns: 100 },
    );
  });

  test("keep numbers, flags, ids, bytes and JSON of a composite", async () => {
    const id = "0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee";
    const captured = { "ts\\": 'a"b', n: 1 };
    const row = [
      1,
      null,
      undefined,
      id,
      2,
      3,
      "retry",
      "",
      null,
      null,
      86_400_000,
      true,
      false,
      7,
      JSON.stringify(captured),
      "\\x00ff",
    ];
    const read = await db.pool.query("select o.* from unnest($1::outbox.row_outcome[]) o", [compositeArray([row])]);
    expect(read.rows[0]).toMatchObject({
      claim_id: "1",
      lane_id: null,
      seq: null,
      outbox_id: id,
      attempt_no: 2,
      latency_ms: 3,
      kind: "retry",
      code: "",
      reference: null,
      after_ms: "86400000",
      throttled: true,
      absent: false,
      destination_id: 7,
      captured,
      sent_hash: Buffer.from([0, 255]),
    });
  });

  test("keep every text of an array of texts", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(text), { maxLength: 20 }), async (texts) => {
        const read = await db.pool.query<{ texts: (string | null)[] }>("select $1::text[] as texts", [
          textArray(texts),
        ]);
        expect(read.rows[0]?.texts).toEqual(texts.map(stored));
      }),
      { numRuns: 100 },
    );
  });
});
