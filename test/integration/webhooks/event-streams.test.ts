/** payments.outbox_transfers and ledger.outbox_ledger: publish by an insert in your own transaction, and read the outcome. */
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createDrainer, type Drainer, type DrainReport } from "../../../src/outbox/relay/drain.ts";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { createPublishing, envelope, views } from "./harness.ts";
import { oneOf, refusalOf, refusedAs, rowsOf } from "../outbox/queries.ts";

const insert = "insert into payments.outbox_transfers (payload) values ($1)";

describe.each(POSTGRES_VERSIONS)("event streams on PostgreSQL %i", async (version) => {
  const events = await createPublishing(version);
  const { db } = events;
  const ingest = db.as("headroom_ingest").pool;
  const everything = "select count(*)::int as n from webhooks.envelopes e";

  beforeEach(async () => {
    // What one test left unsent must not go to the next one's endpoints.
    const left = await events.query<{ id: string }>("select outbox_id as id from outbox.pending");
    const dead = await events.query<{ id: string }>("select outbox_id as id from outbox.dead");
    await events.query("select outbox.skip($1, 'tests', 'between tests')", [[...left, ...dead].map(({ id }) => id)]);
  });

  let drainer: Drainer | undefined;

  /** Delivers what is due, once; through one drainer for the whole test, as in a server. */
  async function deliver(): Promise<DrainReport> {
    if (drainer === undefined) {
      const made = createDrainer({
        connectionString: db.as("headroom_executor").url,
        rails: [events.rail()],
        streams: ["@built-in"],
      });
      onTestFinished(() => {
        drainer = undefined;
        return made.close();
      });
      drainer = made;
    }
    return drainer.drain();
  }

  test.each(["transfers", "ledger"] as const)(
    "%s: an event is PENDING until it is delivered, then SENT",
    async (stream) => {
      const { receiver } = await events.endpoint("hears");
      const client = await db.as("headroom_ingest").connect();
      await client.query("begin");
      const [made] = await rowsOf<{ id: string; status: string; retry_count: number }>(
        client,
        `insert into ${views[stream]} (payload) values ($1) returning id, status, retry_count`,
        [JSON.stringify(envelope({ id: "event-1", source: `/${stream}` }))],
      );
      expect(made).toMatchObject({ status: "PENDING", retry_count: 0 });
      expect(await oneOf(client, `select status from ${views[stream]} where id = $1`, [made!.id])).toEqual({
        status: "PENDING",
      });
      // Nobody else sees it yet, and nobody can deliver it.
      expect(await events.fates(stream, [made!.id])).toEqual([]);
      expect(await deliver()).toMatchObject({ claimed: 0 });
      await client.query("commit");
      await client.end();
      expect(await events.fate(stream, made!.id)).toMatchObject({
        status: "PENDING",
        sent_at: null,
        retry_count: 0,
        deliveries: 1,
      });
      expect(await deliver()).toMatchObject({ claimed: 1, delivered: 1 });
      const fate = await events.fate(stream, made!.id);
      expect(fate).toMatchObject({ status: "SENT", retry_count: 1, deliveries: 1 });
      expect(fate.sent_at!.getTime()).toBeGreaterThanOrEqual(fate.created_at.getTime());
      const [request] = receiver.book.requests;
      expect(request).toMatchObject({
        signature: "valid",
        headers: { "content-type": "application/cloudevents+json" },
      });
      expect(JSON.parse(request!.body!)).toMatchObject({ specversion: "1.0", id: "event-1", source: `/${stream}` });
    },
  );

  test("what is rolled back was never published", async () => {
    const { receiver } = await events.endpoint("hears");
    const client = await db.as("headroom_ingest").connect();
    const [before] = await events.query<{ n: number }>(everything);
    await client.query("begin");
    await client.query(insert, [JSON.stringify(envelope())]);
    await client.query("rollback");
    await client.query("begin");
    await client.query(insert, [JSON.stringify(envelope({ data: "kept" }))]);
    await client.query("savepoint s");
    await client.query(insert, [JSON.stringify(envelope({ data: "not kept" }))]);
    await client.query("rollback to s");
    await client.query("commit");
    await client.end();
    expect(await deliver()).toMatchObject({ claimed: 1, delivered: 1 });
    expect(receiver.book.requests.map(({ body }) => (JSON.parse(body!) as { data: string }).data)).toEqual(["kept"]);
    expect(await events.query(everything)).toEqual([{ n: before!.n + 1 }]);
  });

  test("an event without a receiver owes nothing: it is SENT immediately, to nobody", async () => {
    const [event] = await events.publish("ledger", envelope());
    const fate = await events.fate("ledger", event!.id);
    expect(fate).toMatchObject({ status: "SENT", deliveries: 0, retry_count: 0 });
    expect(fate.sent_at).toEqual(fate.created_at);
    expect(await events.query("select from outbox.pending")).toEqual([]);
  });

  test("published again it is the same event; with other content it is refused", async () => {
    await events.endpoint("hears");
    const first = envelope({ id: "twice" });
    const [one] = await events.publish("transfers", first);
    expect(await events.publish("transfers", first, { ...first })).toMatchObject([
      { id: one!.id, status: "PENDING", deliveries: 1 },
      { id: one!.id, status: "PENDING", deliveries: 1 },
    ]);
    expect(await deliver()).toMatchObject({ claimed: 1, delivered: 1 });
    expect(await events.publish("transfers", first)).toMatchObject([{ id: one!.id, status: "SENT", retry_count: 1 }]);
    const refusal = await refusalOf(events.publish("transfers", { ...first, data: { amount: 999 } }));
    expect(refusal).toMatchObject(refusedAs("idempotency_conflict", one!.id));
    // Another source, or another stream, is another event.
    expect((await events.publish("transfers", { ...first, source: "/others" }))[0]!.id).not.toBe(one!.id);
    expect((await events.publish("ledger", first))[0]!.id).not.toBe(one!.id);
    expect(await deliver()).toMatchObject({ claimed: 2, delivered: 2 });
  });

  test("two whose events share subjects, in opposite order, do not deadlock", async () => {
    await events.endpoint("hears");
    const [one, two] = await db.twoConnections("headroom_ingest");
    const put = (client: typeof one, subject: string): Promise<unknown> =>
      client.query(insert, [JSON.stringify(envelope({ subject }))]);
    await one.query("begin");
    await two.query("begin");
    await put(one, "a");
    await put(two, "b");
    await put(one, "b");
    await put(two, "a");
    await Promise.all([one.query("commit"), two.query("commit")]);
    await Promise.all([one.end(), two.end()]);
    expect(await deliver()).toMatchObject({ claimed: 4, delivered: 4 });
  });

  test("a batch goes to every endpoint with matching topics, in its order for each subject", async () => {
    const [all, settled, other] = [
      await events.endpoint("all", { topics: ["transfers.*"] }),
      await events.endpoint("settled", { topics: ["com.example.transfer.settled", "ledger.*"] }),
      await events.endpoint("other", { topics: ["com.other.*"] }),
    ];
    await events.query("insert into directory.workspaces (id, name) values ('acme', 'Acme') on conflict do nothing");
    const ofWorkspace = await events.endpoint("of-acme", { topics: ["*"], workspaceId: "acme" });
    const batch = Array.from({ length: 700 }, (_, index) =>
      envelope({
        id: `batch-${version}-${index}`,
        subject: `subject-${index % 7}`,
        type: index % 2 === 0 ? "com.example.transfer.settled" : "com.example.transfer.failed",
        data: { index },
      }),
    );
    const published = await events.publish("transfers", ...batch);
    expect(new Set(published.map(({ id }) => id)).size).toBe(700);
    for (let turn = 0; turn < 20 && (await deliver()).more; turn += 1);
    const indexes = (receiver: typeof all.receiver, subject: number): number[] =>
      receiver.book.requests
        .map(({ body }) => JSON.parse(body!) as { subject: string; data: { index: number } })
        .filter((event) => event.subject === `subject-${subject}`)
        .map(({ data }) => data.index);
    expect([all, settled, other, ofWorkspace].map(({ receiver }) => receiver.book.requests.length)).toEqual([
      700, 350, 0, 0,
    ]);
    for (let subject = 0; subject < 7; subject += 1) {
      const wanted = Array.from({ length: 100 }, (_, nth) => nth * 7 + subject);
      expect(indexes(all.receiver, subject)).toEqual(wanted);
      expect(indexes(settled.receiver, subject)).toEqual(wanted.filter((index) => index % 2 === 0));
    }
    const counts = await events.query(
      `select status, deliveries, count(*)::int as n from payments.outbox_transfers where payload ->> 'id' like $1 group by 1, 2 order by 2`,
      [`batch-${version}-%`],
    );
    expect(counts).toEqual([
      { status: "SENT", deliveries: 1, n: 350 },
      { status: "SENT", deliveries: 2, n: 350 },
    ]);
  });

  test("one delivery given up makes an event FAILED; redriven and delivered it is SENT; skipped it stays FAILED", async () => {
    const [good, bad] = [await events.endpoint("good"), await events.endpoint("bad")];
    bad.receiver.script.push({ kind: "status", status: 400 }, { kind: "status", status: 400 });
    const [first, second] = await events.publish(
      "transfers",
      envelope({ subject: "one" }),
      envelope({ subject: "two" }),
    );
    expect(await deliver()).toMatchObject({ claimed: 4, delivered: 2, failed: 2 });
    expect(good.receiver.book.effects).toHaveLength(2);
    expect(await events.fate("transfers", first!.id)).toMatchObject({ status: "FAILED", sent_at: null, deliveries: 2 });
    const control = db.as("headroom_control").pool;
    const dead = await rowsOf<{ outbox_id: string; key: string }>(
      control,
      "select outbox_id, key from outbox.list_dead('transfers')",
    );
    const idOf = (subject: string): string => dead.find(({ key }) => key === `${bad.id}:${subject}`)!.outbox_id;
    await rowsOf(control, "select outbox.redrive($1, 'ana', 'mended')", [[idOf("one")]]);
    await rowsOf(control, "select outbox.skip($1, 'ana', 'not wanted')", [[idOf("two")]]);
    expect(await events.fate("transfers", first!.id)).toMatchObject({ status: "PENDING" });
    expect(await deliver()).toMatchObject({ claimed: 1, delivered: 1 });
    expect(await events.fate("transfers", first!.id)).toMatchObject({ status: "SENT", retry_count: 2 });
    expect(await events.fate("transfers", second!.id)).toMatchObject({ status: "FAILED" });
  });

  test("a dead event holds the ledger's lane until somebody decides, and lets transfers continue", async () => {
    const { receiver } = await events.endpoint("hears");
    const fates: Record<string, string[]> = {};
    for (const stream of ["ledger", "transfers"] as const) {
      receiver.script.push({ kind: "status", status: 400 });
      const sent = await events.publish(stream, envelope(), envelope());
      await deliver();
      fates[stream] = (
        await events.fates(
          stream,
          sent.map(({ id }) => id),
        )
      )
        .map(({ status }) => status)
        .toSorted();
    }
    expect(fates).toEqual({ ledger: ["FAILED", "PENDING"], transfers: ["FAILED", "SENT"] });
  });

  test("what an endpoint missed is sent on request, once", async () => {
    const { receiver } = await events.endpoint("early", { topics: ["ledger.*"] });
    const before = await oneOf<{ now: Date }>(db.superuser.pool, "select clock_timestamp() as now");
    await events.publish("ledger", envelope({ subject: "replayed" }), envelope({ subject: "replayed" }));
    await events.publish("transfers", envelope());
    await deliver();
    const late = await events.endpoint("late", { topics: ["ledger.*"] });
    const control = db.as("headroom_control").pool;
    const replay = (name: string): Promise<{ n: number }> =>
      oneOf(control, "select webhooks.replay_envelopes($1, $2) as n", [name, before.now]);
    expect(await replay("early")).toEqual({ n: 0 });
    expect(await replay("late")).toEqual({ n: 2 });
    expect(await replay("late")).toEqual({ n: 0 });
    expect(await deliver()).toMatchObject({ claimed: 2, delivered: 2 });
    const ids = (list: typeof receiver): string[] =>
      list.book.requests.map(({ body }) => (JSON.parse(body!) as { id: string }).id);
    expect(ids(late.receiver)).toEqual(ids(receiver));
    await rowsOf(control, "select webhooks.disable_endpoint('late')");
    expect(await refusalOf(replay("late"))).toMatchObject({ code: "PT409" });
  });

  test.each<[string, unknown, RegExp]>([
    ["null", null, /JSON object/],
    ["a text", "event", /JSON object/],
    ["a list", [envelope()], /JSON object/],
    ["an empty object", {}, /specversion/],
    ["an old version", envelope({ specversion: "0.3" }), /specversion/],
    ["no id", envelope({ id: undefined }), /: id is/],
    ["an empty id", envelope({ id: "" }), /: id is/],
    ["a number as id", envelope({ id: 7 }), /: id is/],
    ["a long id", envelope({ id: "x".repeat(201) }), /: id is/],
    ["no source", envelope({ source: undefined }), /source/],
    ["a source with spaces", envelope({ source: "a b" }), /source/],
    ["no type", envelope({ type: undefined }), /type/],
    ["an empty subject", envelope({ subject: "" }), /subject/],
    ["a long subject", envelope({ subject: "x".repeat(301) }), /subject/],
    ["a date as time", envelope({ time: "yesterday" }), /time/],
    ["a time without a zone", envelope({ time: "2026-02-27T10:00:00" }), /time/],
    ["data twice", envelope({ data_base64: "AAAA" }), /not both/],
    ["an attribute with a capital", envelope({ traceId: "1" }), /traceId/],
    ["an object as attribute", envelope({ trace: { id: 1 } }), /trace/],
    ["too large", envelope({ data: "x".repeat(262_144) }), /takes 262144/],
  ])("%s is not an event, and nothing is written", async (_what, payload, message) => {
    const [before] = await events.query<{ n: number }>(everything);
    const refusal = await refusalOf(events.publish("transfers", envelope(), payload));
    expect(refusal).toMatchObject(refusedAs(message.source.includes("takes") ? "payload_too_large" : "invalid_input"));
    expect(refusal.message).toMatch(message);
    expect(refusal.hint).toContain("Nothing was written");
    expect(await events.query(everything)).toEqual([before]);
  });

  test("everything else that CloudEvents allows is published unchanged", async () => {
    const whole = envelope({
      id: "日本 1",
      subject: "a subject with spaces",
      time: "2026-02-27T10:00:00.123456+01:00",
      datacontenttype: "application/json",
      dataschema: "https://example.com/schema",
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      sampled: true,
      sequence: 7,
      partitionkey: null,
      data: [1, { deep: ["x"] }, null],
    });
    const { receiver } = await events.endpoint("hears");
    await events.publish("transfers", whole);
    await deliver();
    expect(JSON.parse(receiver.book.requests[0]!.body!)).toEqual(whole);
  });

  test("an event's outcome cannot be set, but its initial value may be written out", async () => {
    const full =
      "insert into payments.outbox_transfers (id, payload, status, retry_count, sent_at) values ($1, $2, $3, $4, $5) returning id";
    const id = "0199a3f2-7c1e-7f02-9d0a-3f0f6a1b2c3d";
    expect(await rowsOf(ingest, full, [id, JSON.stringify(envelope()), "PENDING", 0, null])).toEqual([{ id }]);
    expect(await refusalOf(rowsOf(ingest, full, [id, JSON.stringify(envelope()), "PENDING", 0, null]))).toMatchObject(
      refusedAs("conflict"),
    );
    for (const [status, retries, sentAt] of [
      ["SENT", 0, null],
      ["PENDING", 1, null],
      ["PENDING", 0, new Date()],
    ] as const) {
      const refusal = await refusalOf(
        rowsOf(ingest, full, [null, JSON.stringify(envelope()), status, retries, sentAt]),
      );
      expect(refusal).toMatchObject(refusedAs("invalid_input"));
    }
  });

  test("publishers insert and read outcomes, auditors read, and nobody changes or deletes", async () => {
    const [event] = await events.publish("ledger", envelope());
    expect(await refusalOf(rowsOf(ingest, "select payload from ledger.outbox_ledger"))).toMatchObject({
      code: "42501",
    });
    expect(
      await rowsOf(db.as("headroom_auditor").pool, "select payload from ledger.outbox_ledger where id = $1", [
        event!.id,
      ]),
    ).toHaveLength(1);
    for (const role of ["headroom_auditor", "headroom_executor", "headroom_control"] as const) {
      expect(
        await refusalOf(rowsOf(db.as(role).pool, "insert into ledger.outbox_ledger (payload) values ('{}')")),
      ).toMatchObject({ code: "42501" });
    }
    for (const statement of ["update ledger.outbox_ledger set status = 'SENT'", "delete from ledger.outbox_ledger"]) {
      for (const role of ["headroom_ingest", "headroom_auditor", "headroom_control"] as const) {
        expect(await refusalOf(rowsOf(db.as(role).pool, statement))).toMatchObject({
          code: expect.stringMatching(/^(42501|55000)$/),
        });
      }
    }
  });

  test("events older than a week are collected when nothing is owed, and never sent again afterwards", async () => {
    const { receiver } = await events.endpoint("hears");
    receiver.script.push({ kind: "ok" }, { kind: "status", status: 400 });
    const [first, second] = [envelope({ subject: "old-1" }), envelope({ subject: "old-2" })];
    const [sent] = await events.publish("transfers", first);
    await deliver();
    const [failed] = await events.publish("transfers", second);
    await deliver();
    await events.query(
      "update webhooks.envelopes set created_at = created_at - interval '8 days' where id = any ($1)",
      [[sent!.id, failed!.id]],
    );
    await events.query("select outbox.gc()");
    expect((await events.fates("transfers", [sent!.id, failed!.id])).map(({ id }) => id)).toEqual([failed!.id]);
    const [again] = await events.publish("transfers", first);
    // The id follows from the event.
    expect(again!.id).toBe(sent!.id);
    expect(await deliver()).toMatchObject({ claimed: 0 });
    expect(await events.fate("transfers", again!.id)).toMatchObject({ status: "SENT" });
    expect(receiver.book.requests).toHaveLength(2);
  });

  test("erasing a delivery's payload erases the event's, and a repeat is still recognised", async () => {
    await events.endpoint("hears");
    const personal = envelope({ data: { name: "Somebody" } });
    const [event] = await events.publish("transfers", personal);
    await deliver();
    const [row] = await events.query<{ id: string }>(
      "select outbox_ids[1] as id from webhooks.envelopes where id = $1",
      [event!.id],
    );
    await rowsOf(db.as("headroom_control").pool, "select outbox.erase_payload($1, 'ana', 'asked to')", [row!.id]);
    const [kept] = await events.query<{ row: string }>(
      "select e::text as row from webhooks.envelopes e where e.id = $1",
      [event!.id],
    );
    expect(kept!.row).not.toContain("Somebody");
    expect(await events.publish("transfers", personal)).toMatchObject([{ id: event!.id, status: "SENT" }]);
  });
});
