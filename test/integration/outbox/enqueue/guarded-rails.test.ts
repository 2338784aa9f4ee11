/** Rails that act with the installation's credentials: an application that may enqueue cannot use them. */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf, refusalOf, refusedAs, rowsOf, startEngine, unique } from "../harness.ts";

const guarded = ["email", "github-actions", "linear", "slack", "slack-interaction", "slack-webhook", "stripe"];
const open = ["notifications", "payments"];
const ours = [
  "slack:C1",
  "email:acme",
  "endpoint:1",
  "file:orders",
  "github:acme/infra",
  "slack-interactions:U1",
  "stripe",
  "linear",
];

describe.each(POSTGRES_VERSIONS)("guarded rails on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);
  const ingest = engine.db.as("headroom_ingest").pool;
  const control = engine.db.as("headroom_control").pool;
  const { superuser } = engine;

  const enqueue = (stream: string, rail: string, destination: string | null = null) =>
    oneOf<{ outbox_id: string }>(
      ingest,
      "select * from outbox.enqueue($1, 'k', gen_random_uuid()::text, 'x', $2, '{}', p_destination => $3)",
      [stream, rail, destination],
    );
  const enqueueMany = (stream: string, rail: string, destination: string | null = null) =>
    rowsOf(ingest, "select * from outbox.enqueue_many($1)", [
      JSON.stringify([
        { stream, key: "k", instruction_id: unique("i"), idempotency_key: "x", rail, payload: {}, destination },
      ]),
    ]);

  test("the rails with the installation's credentials are guarded, and only our own streams have grants", async () => {
    const rails = await rowsOf<{ name: string }>(
      superuser,
      "select name from outbox.rails where guarded order by name",
    );
    expect(rails.map((rail) => rail.name)).toEqual(guarded);
    const grants = `select s.name || ' ' || r.name as grant, g.leftover, s.writers::text as writers from outbox.stream_rails g
       join outbox.streams s using (stream_id) join outbox.rails r using (rail_id) order by 1`;
    expect(await rowsOf(superuser, grants)).toEqual([
      ...[
        "billing stripe",
        "capacity linear",
        "capacity slack",
        "interactions slack",
        "interactions slack-interaction",
      ].map((grant) => ({ grant, leftover: false, writers: "{}" })),
      { grant: "payments stripe", leftover: true, writers: null },
      ...[
        "people email",
        "people slack",
        "people slack-webhook",
        "provisioning github-actions",
        "refunds stripe",
        "self-service email",
        "subscriptions stripe",
      ].map((grant) => ({ grant, leftover: false, writers: "{}" })),
    ]);
  });

  test.each(open.flatMap((stream) => guarded.map((rail) => [stream, rail] as const)))(
    "a row of %s on %s is refused, with the grant that would allow it, and nothing is written",
    async (stream, rail) => {
      const before = await oneOf(superuser, "select count(*) from outbox.dedupe");
      const refusal = {
        ...refusedAs("not_allowed"),
        hint: expect.stringContaining(`outbox.grant_rail('${stream}', '${rail}')`),
      };
      expect(await refusalOf(enqueue(stream, rail))).toMatchObject(refusal);
      expect(await refusalOf(enqueue(stream, rail, "a-destination"))).toMatchObject(refusal);
      expect(await refusalOf(enqueueMany(stream, rail))).toMatchObject(refusal);
      expect(await oneOf(superuser, "select count(*) from outbox.dedupe")).toEqual(before);
    },
  );

  test("the functions of the payment outbox give no access to it", async () => {
    expect(
      await refusalOf(rowsOf(ingest, "select payments.enqueue_payment_outbox('p', 'i', 'k', 'stripe', '{}')")),
    ).toMatchObject(refusedAs("not_allowed"));
  });

  test.each(ours)("only we may name the destination %s", async (destination) => {
    expect(await refusalOf(enqueue("notifications", "sure", destination))).toMatchObject(refusedAs("invalid_input"));
    expect(await refusalOf(enqueueMany("notifications", "sure", destination))).toMatchObject(
      refusedAs("invalid_input"),
    );
  });

  test("a row from before its rail was guarded, and those behind it, wait until an operator grants the rail", async () => {
    const stream = await engine.stream();
    const before = await engine.enqueue(stream, { key: "plain", rail: "blind" });
    const plain = await engine.enqueue(stream, { key: "plain" });
    const bound = await engine.enqueue(stream, { key: unique("bound"), destination: unique("somewhere") });
    await rowsOf(superuser, "update outbox.rails set guarded = true where name = 'sure'");
    try {
      expect(await engine.drain(stream)).toEqual([before.outbox_id]);
      const grant = `select outbox.grant_rail('${stream.name}', 'sure')`;
      for (const { outbox_id: id } of [plain, bound]) {
        expect(await engine.inspect(id)).toMatchObject({ held_by: { reason: "rail_not_granted", grant } });
      }
      const waiting = "select rail, waiting, oldest, grant_text from outbox.ungranted() where stream = $1";
      expect(await rowsOf(control, waiting, [stream.name])).toEqual([
        { rail: "sure", waiting: 2, oldest: plain.outbox_id, grant_text: grant },
      ]);
      expect(await refusalOf(rowsOf(ingest, "select outbox.grant_rail($1, 'sure')", [stream.name]))).toMatchObject({
        code: "42501",
      });
      await rowsOf(control, "select outbox.grant_rail($1, 'sure')", [stream.name]);
      expect((await engine.inspect(plain.outbox_id)).held_by).not.toMatchObject({ reason: "rail_not_granted" });
      expect(await rowsOf(control, waiting, [stream.name])).toEqual([]);
      expect((await engine.drain(stream)).toSorted()).toEqual([plain.outbox_id, bound.outbox_id].toSorted());
    } finally {
      await rowsOf(superuser, "update outbox.rails set guarded = false where name = 'sure'");
      await rowsOf(superuser, "delete from outbox.stream_rails where stream_id = $1", [stream.id]);
    }
  });

  test("after an ungrant only rows of our own functions remain on a guarded rail, and none of applications", async () => {
    const stream = await engine.stream();
    await engine.enqueue(stream, { key: "theirs" });
    const own = await oneOf<{ outbox_id: string }>(
      superuser,
      "select outbox_id from outbox.add_row(false, null, $1, 'ours', 'i', 'x', 'sure', '{}')",
      [stream.name],
    );
    await rowsOf(superuser, "update outbox.rails set guarded = true where name = 'sure'");
    await rowsOf(
      superuser,
      "select outbox.ensure_grants('{}', jsonb_build_object('sure', jsonb_build_array($1::text)))",
      [stream.name],
    );
    try {
      expect(await engine.drain(stream)).toEqual([own.outbox_id]);
      expect(await engine.drain(stream)).toEqual([]);
    } finally {
      await rowsOf(superuser, "update outbox.rails set guarded = false where name = 'sure'");
      await rowsOf(superuser, "delete from outbox.stream_rails where stream_id = $1", [stream.id]);
    }
  });

  test("a rail's capability never changes by registering it again", async () => {
    const rail = unique("mail")
      .toLowerCase()
      .replaceAll(/[^a-z0-9-]/g, "-");
    await rowsOf(control, "select outbox.register_rail($1, 'blind', 1000)", [rail]);
    expect(
      await refusalOf(rowsOf(control, "select outbox.register_rail($1, 'idempotent', 1000)", [rail])),
    ).toMatchObject(refusedAs("conflict"));
    await rowsOf(control, "select outbox.register_rail($1, 'blind', 2000)", [rail]);
    expect(await oneOf(superuser, "select capability, timeout_ms from outbox.rails where name = $1", [rail])).toEqual({
      capability: "blind",
      timeout_ms: 2000,
    });
  });
});
