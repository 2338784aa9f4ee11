/** What was stored is sent byte for byte, and what was sent is recorded. */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { startScriptedServer, type ScriptedServer } from "../../rails/scripted-server.ts";
import { loopbackRules } from "../../rails/webhook/webhook-harness.ts";
import { createWebhookRail } from "../../../../src/rails/webhook/rail.ts";
import type { Rail } from "../../../../src/contract/rail.ts";
import { createTableRail } from "../../../../src/rails/table/rail.ts";
import { probeRail } from "./rails.ts";
import { createStage } from "./stage.ts";

const numbers = [
  "9007199254740993",
  "1234567890123456.78",
  "9223372036854775807",
  "-0.12345678901234567890",
  `1${"0".repeat(400)}`,
  "1.10",
];

const hashOf = (salt: string, text: string): string =>
  createHash("sha256")
    .update(Buffer.from(salt.replaceAll("-", ""), "hex"))
    .update(text)
    .digest("hex");

describe.each(POSTGRES_VERSIONS)("exactness on PostgreSQL %i", async (version) => {
  const stage = await createStage({ version });
  let server: ScriptedServer;
  beforeAll(async () => {
    server = await startScriptedServer();
  });
  afterAll(() => server.close());

  const webhook = () =>
    createWebhookRail({
      ...loopbackRules,
      endpoint: () => Promise.resolve({ url: server.url, secrets: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"] }),
    });

  /** As an application in any language writes it: JSON as text. */
  const enqueue = async (stream: string, rail: string, payload: string, more = "", values: unknown[] = []) => {
    const [row] = await stage.query<{ id: string }>(
      `select outbox_id as id from outbox.enqueue($1, 'k', gen_random_uuid()::text, 'x', $2, $3::jsonb${more})`,
      [stream, rail, payload, ...values],
    );
    return row!.id;
  };

  const recordOf = async (id: string) => {
    const [row] = await stage.query<{ stored: string; salt: string; payload_hash: string; sent_hash: string | null }>(
      `select m.payload::text as stored, d.salt, encode(m.payload_hash, 'hex') as payload_hash, encode(a.sent_hash, 'hex') as sent_hash
         from outbox.payloads m
         join outbox.dedupe d using (outbox_id)
         join outbox.attempts a on a.outbox_id = m.outbox_id and a.state = 'DISPATCHED'
        where m.outbox_id = $1`,
      [id],
    );
    return row!;
  };
  test.each(numbers)("%s arrives digit for digit at a webhook and in a table", async (number) => {
    const rail = webhook();
    const inserted: string[] = [];
    const table = createTableRail({
      insert: (row) => {
        inserted.push(row.payload);
        return Promise.resolve({ inserted: true });
      },
    });
    await stage.declare(rail, table);
    const stream = await stage.stream();
    server.script.push({ status: 200 });
    const id = await enqueue(stream, "webhook", `{"b": {"amount": ${number}, "text": "é\\u0001"}, "1": [${number}]}`);
    const other = await enqueue(stream, "table", `{"amount": ${number}}`);
    await stage.run({ rails: [rail, table], streams: [stream] });
    await stage.untilStates([id, other], "DISPATCHED");
    const { stored, salt, payload_hash, sent_hash } = await recordOf(id);
    expect(server.requests.at(-1)?.body).toBe(stored);
    expect(stored).toContain(number);
    expect(payload_hash).toBe(hashOf(salt, stored));
    // Sent as it is stored: the stored hash is the hash of what was sent.
    expect(sent_hash).toBeNull();
    expect(inserted).toEqual([(await recordOf(other)).stored]);
    rail.close();
  });

  test("a rail that builds its request from numbers refuses one that it would change, without a call", async () => {
    const rail = probeRail();
    await stage.declare(rail);
    const stream = await stage.stream({ ordered: false });
    const exact = await enqueue(stream, "probe", '{"amount": 12345678901234.5, "id": "9007199254740993"}');
    const inexact = await enqueue(stream, "probe", '{"list": [{"amount": 9007199254740993}]}');
    await stage.run({ rails: [rail], streams: [stream] });
    await stage.untilState(exact, "DISPATCHED");
    expect(await stage.untilState(inexact, "FAILED")).toMatchObject([{}, { error_code: "payload_invalid" }]);
    expect(rail.sent.map(({ outboxId }) => outboxId)).toEqual([exact]);
  });

  test("money is checked digit for digit, even where the rail sends the text", async () => {
    const rail = probeRail({ sends: "text" });
    await stage.declare(rail);
    const stream = await stage.stream({ carriesMoney: true });
    const id = await enqueue(
      stream,
      "probe",
      '{"amount": 1.00000000000000000001, "currency": "EUR", "destination": "a"}',
    );
    await stage.run({ rails: [rail], streams: [stream] });
    expect(await stage.untilState(id, "FAILED")).toMatchObject([{}, { error_code: "payload_invalid" }]);
    expect(rail.sent).toEqual([]);
  });

  test("a bind changes nothing else, keeps the digits of the capture, and what was sent is recorded", async () => {
    const rail = webhook();
    await stage.declare(rail);
    const stream = await stage.stream();
    const answer = '{"thread": {"id": 9007199254740993, "at": 17.10}}';
    server.script.push({ status: 200, body: answer }, { status: 200 }, { status: 200 });
    const captures = ", p_captures => $4";
    const binds = ", p_binds => $4";
    const first = await enqueue(stream, "webhook", '{"n": 1}', captures, [JSON.stringify({ id: ["thread", "id"] })]);
    const wanted = JSON.stringify([
      { path: ["parent", "id"], capture: "id" },
      { path: ["list", 1], capture: "id" },
      { path: ["none"], capture: "nothing", required: false },
    ]);
    const payload = '{"amount": 1234567890123456.780, "list": [1.0, 2, 3], "1": "é", "__proto__": {"x": 1}}';
    const inRun = await enqueue(stream, "webhook", payload, binds, [wanted]);
    await stage.run({ rails: [rail], streams: [stream] });
    await stage.untilStates([first, inRun], "DISPATCHED");
    const later = await enqueue(stream, "webhook", payload, binds, [wanted]);
    await stage.untilState(later, "DISPATCHED");
    const bodies = server.requests.slice(-2).map(({ body }) => body);
    const [{ made }] = (await stage.query<{ made: string }>(
      "select ($1::jsonb || jsonb_build_object('parent', jsonb_build_object('id', 9007199254740993), 'list', '[1.0, 9007199254740993, 3]'::jsonb))::text as made",
      [payload],
    )) as [{ made: string }];
    expect(bodies).toEqual([made, made]);
    for (const id of [inRun, later]) {
      const { stored, salt, payload_hash, sent_hash } = await recordOf(id);
      expect(payload_hash).toBe(hashOf(salt, stored));
      expect(sent_hash).toBe(hashOf(salt, made));
    }
    rail.close();
  });

  test("a required bind without a capture is refused, and so is one with an invalid place", async () => {
    const rail = probeRail({ sends: "text", send: () => ({ kind: "delivered", response: { ts: "1.2" } }) });
    await stage.declare(rail);
    const stream = await stage.stream();
    const first = await enqueue(stream, "probe", "{}", ", p_captures => $4", ['{"ts": ["ts"]}']);
    const relay = await stage.run({ rails: [rail], streams: [stream] });
    await stage.untilState(first, "DISPATCHED");
    const bare = await enqueue(stream, "probe", "{}", ", p_binds => $4", ['[{"path": ["a"], "capture": "x"}]']);
    const placeless = JSON.stringify([{ path: ["list", "no place"], capture: "ts" }]);
    const odd = await enqueue(stream, "probe", '{"list": []}', ", p_binds => $4", [placeless]);
    const fine = await enqueue(stream, "probe", "{}", ", p_binds => $4", ['[{"path": ["a"], "capture": "ts"}]']);
    expect((await stage.untilState(bare, "FAILED")).at(-1)).toMatchObject({ error_code: "binding_missing" });
    expect((await stage.untilState(odd, "FAILED")).at(-1)).toMatchObject({ error_code: "binding_invalid" });
    await stage.untilState(fine, "DISPATCHED");
    expect(rail.sent.map(({ payload }) => payload)).toEqual([{}, { a: "1.2" }]);
    await relay.stop();
  });

  test("a hostile receiver's answer is stored only as far as possible", async () => {
    const rail = webhook();
    await stage.declare(rail);
    const stream = await stage.stream();
    const deep = `{"id": ${"[".repeat(20_000)}1${"]".repeat(20_000)}}`;
    server.script.push({ status: 200, body: deep }, { status: 200, body: '{"id": 1e999999}' });
    const ids = [
      await enqueue(stream, "webhook", "{}", ", p_captures => $4", ['{"id": ["id"]}']),
      await enqueue(stream, "webhook", "{}", ", p_captures => $4", ['{"id": ["id"]}']),
    ];
    await stage.run({ rails: [rail], streams: [stream] });
    await stage.untilStates(ids, "DISPATCHED");
    expect(await stage.query("select from outbox.captures where outbox_id = any ($1)", [ids])).toEqual([]);
    rail.close();
  });
});

/** Walks the payload recursively, as many rails do. */
function levels(value: unknown): number {
  return typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(levels)) : 0;
}

describe.each(POSTGRES_VERSIONS)("a row that cannot be handled on PostgreSQL %i", async (version) => {
  const stage = await createStage({ version });

  test("one payload that breaks its rail does not affect the rows claimed with it", async () => {
    const rail = probeRail({
      validate: ({ payload }) => (levels(payload) < 100 ? { ok: true } : { ok: false, reason: "deep" }),
    });
    await stage.declare(rail);
    for (const ordered of [true, false]) {
      const stream = await stage.stream({ ordered, maxTries: 2 });
      const rows = await stage.enqueueMany(
        Array.from({ length: 21 }, (_, index) => ({ stream, rail: "probe", key: `k${index}`, payload: { index } })),
      );
      const [bad, ...innocent] = rows.map(({ outboxId }) => outboxId);
      // Like a row from before there was a bound.
      await stage.query(
        "update outbox.payloads set payload = (repeat('[', 6000) || repeat(']', 6000))::jsonb where outbox_id = $1",
        [bad],
      );
      const relay = await stage.run({ rails: [rail], streams: [stream] });
      await stage.untilStates(innocent, "DISPATCHED");
      await stage.untilState(bad!, "FAILED");
      for (const id of innocent) expect(await stage.states(id)).toEqual(["DISPATCHING", "DISPATCHED"]);
      await relay.stop();
    }
  });

  test("a fault of the relay itself on one row is that row's outcome", async () => {
    let broken = false;
    const faulty = probeRail({ name: "faulty" });
    const trap: Rail = Object.defineProperties(
      { ...faulty },
      {
        timeoutMs: {
          get() {
            if (broken) throw new Error("no such thing");
            return 1_000;
          },
        },
      },
    );
    const rail = probeRail();
    await stage.declare(trap, rail);
    const stream = await stage.stream({ ordered: false, backoffBaseMs: 3_600_000, backoffCapMs: 3_600_000 });
    const relay = await stage.run({ rails: [trap, rail], streams: [stream] });
    broken = true;
    const rows = await stage.enqueueMany([
      { stream, rail: "probe" },
      { stream, rail: "faulty" },
      { stream, rail: "probe" },
    ]);
    const [one, bad, two] = rows.map(({ outboxId }) => outboxId);
    await stage.untilStates([one!, two!], "DISPATCHED");
    expect(await stage.untilState(bad!, "RETRYABLE")).toMatchObject([
      {},
      { error_code: "outcome_unknown", rail_code: "relay_fault", uncertain: true },
    ]);
    await relay.stop();
  });

  test("a database that cannot be reached makes bound rows wait: no try is counted, and the destination is not blamed", async () => {
    const rail = probeRail();
    await stage.declare(rail);
    const stream = await stage.stream({ ordered: false, maxTries: 1 });
    const [as] = await stage.query<{ it: string }>("select pg_get_functiondef('outbox.fill_binds'::regproc) as it");
    await stage.query(`create or replace function outbox.fill_binds(p_outbox_ids uuid[], p_captured jsonb default null)
      returns table (outbox_id uuid, body text, sent_hash bytea, outcome text, code text, reason text)
      language plpgsql stable security definer as $$ begin raise exception 'full' using errcode = '53100'; end $$`);
    const { outboxId } = await stage.enqueue({
      stream,
      rail: "probe",
      destination: `d-${stream}`,
      binds: [{ path: ["a"], capture: "x", required: false }],
    });
    const relay = await stage.run({ rails: [rail], streams: [stream] });
    expect(await stage.untilState(outboxId, "RELEASED")).toMatchObject([{}, { error_code: "binds_unreadable" }]);
    await stage.query(as!.it);
    await stage.untilState(outboxId, "DISPATCHED");
    expect(
      await stage.query("select failures, circuit from outbox.destination_status() where destination = $1", [
        `d-${stream}`,
      ]),
    ).toEqual([{ failures: 0, circuit: "closed" }]);
    await relay.stop();
  });

  test("a row whose renderer makes the whole statement fail is tried again alone; the others are sent immediately", async () => {
    const rail = probeRail();
    await stage.declare(rail);
    const stream = await stage.stream({ ordered: false, backoffBaseMs: 3_600_000, backoffCapMs: 3_600_000 });
    await stage.query(`create or replace function outbox.render_test(p jsonb) returns jsonb language plpgsql stable as
      $$ begin if p ? 'bad' then raise exception 'cancelled' using errcode = '57014'; end if; return p || '{"rendered": true}'; end $$`);
    await stage.query(
      "insert into outbox.renderers (name, function_name, stream_id) select 'test-' || s.stream_id, 'outbox.render_test', s.stream_id from outbox.streams s where s.name = $1",
      [stream],
    );
    const add = async (payload: object): Promise<string> => {
      const [row] = await stage.query<{ id: string }>(
        `select (outbox.add_row(false, null, s.name, 'k', gen_random_uuid()::text, 'x', 'probe', $2, p_binds => jsonb_build_array(jsonb_build_object('path', '[]'::jsonb, 'renderer', 'test-' || s.stream_id)))).outbox_id as id
           from outbox.streams s where s.name = $1`,
        [stream, JSON.stringify(payload)],
      );
      return row!.id;
    };
    const ids = [await add({ n: 1 }), await add({ bad: true }), await add({ n: 2 })];
    await stage.run({ rails: [rail], streams: [stream] });
    await stage.untilStates([ids[0]!, ids[2]!], "DISPATCHED");
    expect(await stage.untilState(ids[1]!, "RETRYABLE")).toMatchObject([
      {},
      { error_code: "render_failed", uncertain: false },
    ]);
    expect(rail.sent.map(({ payload }) => JSON.stringify(payload)).toSorted()).toEqual([
      '{"n":1,"rendered":true}',
      '{"n":2,"rendered":true}',
    ]);
  });
});
