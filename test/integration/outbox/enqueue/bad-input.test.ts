import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RefusalCode } from "../../../../src/db/refusals.gen.ts";
import { createTestDatabase, POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { Engine, oneOf, refusalOf, refusedAs, rowsOf, unique, type Stream } from "../harness.ts";

/** Four bytes per character, and incompressible: the worst case for an index entry. */
function incompressible(characters: number): string {
  let state = 1;
  return Array.from({ length: characters }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return String.fromCodePoint(0x1_0000 + (state % 0x8_0000));
  }).join("");
}

/** A valid row for enqueue_many, with one change. */
const row = (stream: Stream, change: Readonly<Record<string, unknown>> = {}) => ({
  stream: stream.name,
  key: "k",
  instruction_id: unique("i"),
  idempotency_key: "1",
  rail: "sure",
  payload: {},
  ...change,
});

describe.each(POSTGRES_VERSIONS)("bad input on PostgreSQL %i", async (version) => {
  const engine = new Engine(await createTestDatabase({ version }));
  beforeAll(() => engine.start());
  // Once at the end: most of these tests leave nothing behind, which they check themselves.
  afterAll(() => engine.assertInvariants());

  const one = (input: Readonly<Record<string, unknown>>): Promise<unknown> =>
    rowsOf(
      engine.ingest,
      `select outbox.enqueue(p_stream => $1, p_key => $2, p_instruction_id => $3, p_idempotency_key => $4, p_rail => $5, p_payload => $6,
         p_priority => $7, p_coalesce_key => $8, p_destination => $9)`,
      [
        input["stream"],
        input["key"],
        input["instruction_id"],
        input["idempotency_key"],
        input["rail"],
        input["payload"] === null ? null : JSON.stringify(input["payload"]),
        "priority" in input ? input["priority"] : 5,
        input["coalesce_key"] ?? null,
        input["destination"] ?? null,
      ],
    );

  const cases: readonly (readonly [string, Readonly<Record<string, unknown>>, RefusalCode])[] = [
    ["an unknown stream", { stream: "nope" }, "unknown_stream"],
    ["no stream", { stream: null }, "unknown_stream"],
    ["an unknown rail", { rail: "nope" }, "unknown_rail"],
    ["no rail", { rail: null }, "unknown_rail"],
    ["no key where order needs one", { key: null }, "invalid_input"],
    ["an empty key", { key: "" }, "invalid_input"],
    ["a huge key", { key: "x".repeat(513) }, "invalid_input"],
    ["a key of too many bytes", { key: incompressible(400) }, "invalid_input"],
    ["an empty instruction", { instruction_id: "" }, "invalid_input"],
    ["no instruction", { instruction_id: null }, "invalid_input"],
    ["a huge instruction", { instruction_id: "x".repeat(513) }, "invalid_input"],
    ["an empty idempotency key", { idempotency_key: "" }, "invalid_input"],
    ["no idempotency key", { idempotency_key: null }, "invalid_input"],
    ["a huge idempotency key", { idempotency_key: "x".repeat(100_000) }, "invalid_input"],
    ["no payload", { payload: null }, "invalid_input"],
    ["a payload over the limit", { payload: { text: "x".repeat(300_000) } }, "payload_too_large"],
    ["a priority above nine", { priority: 10 }, "invalid_input"],
    ["a priority below zero", { priority: -1 }, "invalid_input"],
    ["an empty coalesce key", { coalesce_key: "" }, "invalid_input"],
    ["a huge coalesce key", { coalesce_key: "x".repeat(201) }, "invalid_input"],
    ["an empty destination", { destination: "" }, "invalid_input"],
    ["a huge destination", { destination: "x".repeat(201) }, "invalid_input"],
  ];

  const footprint = () =>
    oneOf(
      engine.superuser,
      `select (select count(*) from outbox.dedupe) as dedupe, (select count(*) from outbox.payloads) as payloads, (select count(*) from outbox.pending) as pending,
              (select count(*) from outbox.lanes) as lanes, (select count(*) from outbox.heads) as heads, (select count(*) from outbox.destinations) as destinations`,
    );

  test.each(cases)("%s is refused by enqueue, and nothing is written", async (_what, change, code) => {
    const stream = await engine.stream();
    const before = await footprint();
    const refusal = await refusalOf(one(row(stream, change)));
    expect(refusal).toMatchObject(refusedAs(code));
    expect(refusal.message.length).toBeLessThan(200);
    expect(await footprint()).toEqual(before);
  });

  test.each(cases)(
    "%s is refused by enqueue_many, and the valid rows next to it are not written either",
    async (_what, change, code) => {
      const stream = await engine.stream();
      const before = await footprint();
      const refusal = await refusalOf(
        engine.enqueueMany([row(stream), row(stream, change), row(stream, { destination: unique("d") })]),
      );
      expect(refusal).toMatchObject(refusedAs(code));
      expect(await footprint()).toEqual(before);
    },
  );

  test.each([
    ["an object instead of an array", "{}"],
    ["a word", '"row"'],
    ["an array of words", '["row"]'],
    ["a priority that is not a number", '[{"stream":"payments","priority":"high"}]'],
    ["an invalid date", '[{"stream":"payments","not_before":"soon"}]'],
  ])("%s is refused by enqueue_many as bad input", async (_what, text) => {
    const { code } = await refusalOf(rowsOf(engine.ingest, "select * from outbox.enqueue_many($1)", [text]));
    expect(code).toMatch(/^(22...|PT400)$/);
  });

  test("more than 10000 rows in one call are refused with the way out", async () => {
    const stream = await engine.stream();
    const rows = Array.from({ length: 10_001 }, () => row(stream));
    expect(await refusalOf(engine.enqueueMany(rows))).toMatchObject({
      ...refusedAs("invalid_input"),
      hint: expect.stringContaining("several"),
    });
  });

  test("an empty array does nothing", async () => {
    expect(await engine.enqueueMany([])).toEqual([]);
  });

  test("the limits themselves pass: longest keys, largest payload, all priorities", async () => {
    const stream = await engine.stream();
    const longest = {
      key: "k".repeat(512),
      instruction_id: incompressible(256),
      idempotency_key: incompressible(255),
      coalesce_key: "c".repeat(200),
    };
    await one(row(stream, { ...longest, destination: "d".repeat(200) }));
    await one(row(stream, { payload: { text: "x".repeat(262_144 - 12) } }));
    for (let priority = 0; priority <= 9; priority += 1) await one(row(stream, { priority }));
    expect((await engine.drain(stream)).length).toBe(12);
  });

  test("a coalesce key needs order", async () => {
    const stream = await engine.stream({ ordered: false });
    expect(await refusalOf(one(row(stream, { coalesce_key: "c" })))).toMatchObject(refusedAs("invalid_input"));
  });

  test("any text can be a key and any JSON a payload; they come out unchanged", async () => {
    const stream = await engine.stream();
    // Postgres cannot store NUL in text, and the driver cannot send half of a surrogate pair.
    const text = fc.string({ unit: "binary", minLength: 1, maxLength: 60 }).filter((value) => !value.includes("\0"));
    const json = fc
      .jsonValue({ maxDepth: 3 })
      .filter((value) => !JSON.stringify(value).includes("\\u0000") && value !== null);
    await fc.assert(
      fc.asyncProperty(text, text, text, json, async (key, instruction, idempotencyKey, payload) => {
        const enqueued = await engine.enqueue(stream, {
          key,
          instruction: `${unique("i")}${instruction}`,
          idempotencyKey,
          payload,
        });
        const claimed = await engine.claimOne(stream);
        expect(claimed).toMatchObject({ outbox_id: enqueued.outbox_id, key, idempotency_key: idempotencyKey });
        expect(claimed.body).toBe(
          (await oneOf<{ p: string }>(engine.superuser, "select $1::jsonb::text as p", [JSON.stringify(payload)])).p,
        );
        await engine.deliver(stream, [claimed]);
      }),
      { numRuns: 40 },
    );
  });

  test.each([
    ["a name in capitals", "p_name => 'Upper'"],
    ["no name", "p_name => null"],
    ["a name with a quote", `p_name => 'a''b'`],
    ["an unknown value for on_dead", "p_name => 'x', p_on_dead => 'shrug'"],
    ["blocking without order", "p_name => 'x', p_ordered => false, p_on_dead => 'block'"],
    ["money that is resent blindly", "p_name => 'x', p_carries_money => true, p_resend_blind => true"],
    ["no tries", "p_name => 'x', p_max_tries => 0"],
    ["an endless lease", "p_name => 'x', p_lease_seconds => 1000000"],
    ["an unknown retention", "p_name => 'x', p_retention => 'eon'"],
    ["keys forgotten before the archive", "p_name => 'x', p_retention => 'week', p_dedupe_days => 3"],
    ["keys forgotten although the archive stays forever", "p_name => 'x', p_dedupe_days => 300"],
  ])("a stream with %s is refused", async (_what, args) => {
    expect(await refusalOf(rowsOf(engine.control, `select outbox.create_stream(${args})`))).toMatchObject(
      refusedAs("invalid_input"),
    );
  });

  test("a stream's order and class stay as they were created, and its keys outlive its archive when they are changed", async () => {
    const stream = await engine.stream({ retention: "week", dedupeDays: 30 });
    const change = (args: string) => rowsOf(engine.control, `select outbox.create_stream($1, ${args})`, [stream.name]);
    expect(await refusalOf(change("p_ordered => false"))).toMatchObject(refusedAs("conflict"));
    expect(await refusalOf(change("p_retention => 'forever'"))).toMatchObject(refusedAs("conflict"));
    expect(await refusalOf(change("p_dedupe_days => 2"))).toMatchObject(refusedAs("invalid_input"));
    await change("p_dedupe_days => 8, p_max_tries => 9");
    expect(
      await oneOf(engine.control, "select dedupe_days, max_tries from outbox.streams where name = $1", [stream.name]),
    ).toEqual({ dedupe_days: 8, max_tries: 9 });
  });

  test.each([
    ["capitals in its name", "'Rail', 'blind', 100"],
    ["an unknown capability", "'rail', 'psychic', 100"],
    ["a time-out over 30 seconds", "'rail', 'blind', 30001"],
    ["no time-out", "'rail', 'blind', 0"],
  ])("a rail with %s is refused", async (_what, args) => {
    expect(await refusalOf(rowsOf(engine.executor, `select outbox.register_rail(${args})`))).toMatchObject(
      refusedAs("invalid_input"),
    );
  });

  test("a claim on a stream that does not exist says so", async () => {
    expect(await refusalOf(engine.claim({ id: 32_000, name: "nope" }))).toMatchObject(refusedAs("unknown_stream"));
  });

  test.each([0, -5, 4000, null])("partitions for %s days ahead are refused", async (days) => {
    expect(await refusalOf(rowsOf(engine.executor, "select outbox.ensure_partitions($1)", [days]))).toMatchObject(
      refusedAs("invalid_input"),
    );
  });
});
