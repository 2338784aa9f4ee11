/** What an application that may enqueue can do, and what it cannot. */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf, refusalOf, refusedAs, rowsOf, startEngine, unique } from "../harness.ts";

const closed = ["capacity", "alerts", "interactions", "transfers", "ledger"];

const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

describe.each(POSTGRES_VERSIONS)("who may write a stream on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);
  const ingest = engine.db.as("headroom_ingest").pool;
  const control = engine.db.as("headroom_control").pool;
  const { superuser } = engine;

  const enqueue = (stream: string, more = "", values: unknown[] = [], client = ingest) =>
    rowsOf<{ outbox_id: string }>(
      client,
      `select * from outbox.enqueue($1, 'k', gen_random_uuid()::text, 'x', 'sure', '{}'${more})`,
      [stream, ...values],
    );
  const enqueueMany = (stream: string, more: object = {}) =>
    rowsOf<{ outbox_id: string }>(ingest, "select * from outbox.enqueue_many($1)", [
      JSON.stringify([
        { stream, key: "k", instruction_id: unique("i"), idempotency_key: "x", rail: "sure", payload: {}, ...more },
      ]),
    ]);

  test.each(closed)("%s is written only by Headroom's own functions, whoever asks", async (stream) => {
    const refusal = {
      ...refusedAs("not_allowed"),
      message: expect.stringContaining(`may not write stream "${stream}"`),
    };
    expect(await refusalOf(enqueue(stream))).toMatchObject(refusal);
    expect(await refusalOf(enqueueMany(stream))).toMatchObject(refusal);
    expect(await refusalOf(enqueue(stream, "", [], superuser))).toMatchObject(refusal);
    expect(
      await refusalOf(
        rowsOf(control, "select outbox.create_stream($1, p_ordered => true, p_writers => '{headroom_ingest}')", [
          stream,
        ]),
      ),
    ).toMatchObject(refusedAs("conflict"));
    expect(await oneOf(superuser, "select writers::text[] from outbox.streams where name = $1", [stream])).toEqual({
      writers: [],
    });
  });

  test("an application's stream with a name that a release needs stops the migration, and is left unchanged", async () => {
    const theirs = unique("refunds");
    await rowsOf(control, "select outbox.create_stream($1)", [theirs]);
    const ensure = (writers: string) =>
      rowsOf(superuser, "select outbox.ensure_stream($1, $2)", [theirs, `{${writers}}`]);
    expect(await refusalOf(ensure('"writers": []'))).toMatchObject({
      ...refusedAs("conflict"),
      hint: expect.stringContaining(`update outbox.streams set name = 'app-${theirs}' where name = '${theirs}'`),
    });
    await ensure("");
    expect(await enqueue(theirs)).toHaveLength(1);
  });

  test("a stream that names its writers is written by them and by nobody else", async () => {
    const login = await oneOf<{ who: string }>(ingest, "select session_user::text as who");
    const [open, theirs, ours] = [unique("open"), unique("theirs"), unique("ours")];
    await rowsOf(control, "select outbox.create_stream($1)", [open]);
    await rowsOf(control, "select outbox.create_stream($1, p_writers => '{headroom_auditor}')", [theirs]);
    await rowsOf(control, "select outbox.create_stream($1, p_writers => array[$2]::name[])", [ours, login.who]);
    expect(await enqueue(open)).toHaveLength(1);
    expect(await enqueue(ours)).toHaveLength(1);
    expect(await enqueueMany(ours)).toHaveLength(1);
    expect(await refusalOf(enqueue(theirs))).toMatchObject({
      ...refusedAs("not_allowed"),
      hint: expect.stringContaining("headroom_auditor"),
    });
    expect(await refusalOf(enqueueMany(theirs))).toMatchObject(refusedAs("not_allowed"));
    expect(
      await refusalOf(rowsOf(control, "select outbox.create_stream($1, p_writers => '{nobody-here}')", [open])),
    ).toMatchObject(refusedAs("invalid_input"));
  });

  test("no row of an application can name a renderer, whose output only the owner may read", async () => {
    const stream = await engine.stream();
    for (const renderer of ["alert", "slack-root", "linear-issue", "none"]) {
      const binds = JSON.stringify([{ path: [], renderer }]);
      expect(await refusalOf(enqueue(stream.name, ", p_binds => $2", [binds]))).toMatchObject(
        refusedAs("invalid_input"),
      );
      expect(await refusalOf(enqueueMany(stream.name, { binds: JSON.parse(binds) as unknown }))).toMatchObject(
        refusedAs("invalid_input"),
      );
      // And one that got in some other way is not rendered: the renderer belongs to another stream.
      const [row] = await rowsOf<{ id: string }>(
        superuser,
        "select outbox_id as id from outbox.add_row(false, null, $1, 'k', $2, 'x', 'sure', '{}', p_binds => $3)",
        [stream.name, unique("i"), binds],
      );
      expect(
        await rowsOf(engine.executor, "select body, outcome, code from outbox.fill_binds(array[$1]::uuid[])", [
          row!.id,
        ]),
      ).toEqual([{ body: null, outcome: "retry", code: "render_failed" }]);
    }
  });

  test.each([
    ["captures that are a list", { captures: ["ts"] }],
    ["a capture without a path", { captures: { ts: "ts" } }],
    ["a path that is too long", { captures: { ts: Array.from({ length: 33 }, () => "a") } }],
    ["an invalid place", { captures: { ts: [-1] } }],
    ["binds that are an object", { binds: { path: [], capture: "ts" } }],
    ["a bind without a path", { binds: [{ capture: "ts" }] }],
    ["an empty bind", { binds: [{ path: ["a"] }] }],
    ["a bind of two things", { binds: [{ path: ["a"], capture: "a", renderer: "b" }] }],
    ["binds that are too large", { binds: [{ path: ["a".repeat(9_000)], capture: "a" }] }],
    ["a bind whose `required` is not a boolean", { binds: [{ path: ["a"], capture: "a", required: "perhaps" }] }],
    ["the destination of an endpoint", { destination: "endpoint:00000000-0000-0000-0000-000000000000" }],
  ])(
    "%s is refused when it is enqueued",
    async (_what, fields: { captures?: unknown; binds?: unknown; destination?: string }) => {
      const stream = await engine.stream();
      const names = Object.keys(fields) as (keyof typeof fields)[];
      const values = names.map((name) => (name === "destination" ? fields[name] : JSON.stringify(fields[name])));
      const more = names.map((name, index) => `, p_${name} => $${index + 2}`).join("");
      expect(await refusalOf(enqueue(stream.name, more, values))).toMatchObject(refusedAs("invalid_input"));
      expect(await refusalOf(enqueueMany(stream.name, fields))).toMatchObject(refusedAs("invalid_input"));
      expect(await rowsOf(superuser, "select from outbox.dedupe where stream_id = $1", [stream.id])).toEqual([]);
    },
  );

  test("an application's rows belong to the installation only, whatever they claim", async () => {
    const stream = await engine.stream();
    const [row] = await enqueueMany(stream.name, { tenant_id: "acme" });
    expect(
      await oneOf(superuser, "select tenant_id from outbox.payloads where outbox_id = $1", [row!.outbox_id]),
    ).toEqual({ tenant_id: null });
  });

  test("a capture of another stream is not a capture of a request, whatever its key", async () => {
    const stream = await engine.stream();
    await engine.enqueue(stream, { key: "CR-2026-000001:slack", captures: { slack_thread_ts: ["ts"] } });
    await engine.settle(stream, [{ row: await engine.claimOne(stream), captured: { slack_thread_ts: "6.66" } }]);
    expect(await rowsOf(superuser, "select from capacity.request_captures")).toEqual([]);
  });

  const pay = (payload: string) =>
    rowsOf(
      ingest,
      "select * from payments.enqueue_payment_outbox(gen_random_uuid()::text, 'p', 'x', 'sure', $1::jsonb)",
      [payload],
    );
  const publish = (payload: string) =>
    rowsOf(
      ingest,
      `insert into payments.outbox_transfers (payload) values (jsonb_build_object('specversion', '1.0', 'id', gen_random_uuid(), 'source', '/s', 'type', 't', 'data', $1::jsonb)) returning id`,
      [payload],
    );

  test("nesting is bounded at every entrance, by the same bound", async () => {
    const stream = await engine.stream();
    const put = (payload: string) =>
      rowsOf(ingest, "select * from outbox.enqueue($1, 'k', gen_random_uuid()::text, 'x', 'sure', $2::jsonb)", [
        stream.name,
        payload,
      ]);
    const putMany = (payload: string) =>
      rowsOf(
        ingest,
        "select * from outbox.enqueue_many(jsonb_build_array(jsonb_build_object('stream', $1::text, 'key', 'k', 'instruction_id', gen_random_uuid()::text, 'idempotency_key', 'x', 'rail', 'sure', 'payload', $2::jsonb)))",
        [stream.name, payload],
      );
    for (const [way, own] of [
      [put, 0],
      [putMany, 0],
      [pay, 0],
      [publish, 1],
    ] as const) {
      expect(await way(nested(65 - own))).toHaveLength(1);
      expect(await refusalOf(way(nested(66 - own)))).toMatchObject({
        ...refusedAs("invalid_input"),
        message: expect.stringContaining("64 levels"),
      });
      expect(await refusalOf(way(nested(5_000)))).toMatchObject(refusedAs("invalid_input"));
    }
    // Brackets in a text are not levels, and neither are many side by side.
    expect(await put(JSON.stringify("[".repeat(500)))).toHaveLength(1);
    expect(await put(JSON.stringify(Array.from({ length: 300 }, () => ({ a: [] }))))).toHaveLength(1);
  });
});
