/**
 * The proof checks of the payment outbox, one test per line of its plan, under its own names and on what is below them: the base tables and
 * every partition, as each role and as the owner.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { everyVersion, type TestRole } from "../../../helpers/database.ts";
import { oneOf, refusalOf, rowsOf, startEngine, unique, type Claimed, type Stream } from "../harness.ts";

const runtimeRoles = [
  "headroom_ingest",
  "headroom_executor",
  "headroom_control",
  "headroom_auditor",
] as const satisfies TestRole[];
const seeingViews = [
  "headroom_ingest",
  "headroom_control",
  "headroom_auditor",
  "headroom_owner",
] as const satisfies TestRole[];
const denied = "42501";
const refused = "P0001";
const notUpdatable = "55000";

interface PaymentLine {
  readonly attempt_no: number;
  readonly state: string;
}

describe.each(everyVersion)("the payment outbox on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);
  const payments: { stream?: Stream } = {};
  const archive: string[] = [];

  beforeAll(async () => {
    const row = await oneOf<{ stream_id: number }>(
      engine.control,
      "select stream_id from outbox.streams where name = 'payments'",
    );
    payments.stream = { id: row.stream_id, name: "payments" };
    const tables = await rowsOf<{ name: string }>(
      engine.superuser,
      "select relid::regclass::text as name from pg_partition_tree('outbox.attempts')",
    );
    archive.push(...tables.map((table) => table.name));
  });

  const stream = (): Stream => payments.stream!;

  async function enqueue(
    participant = unique("participant"),
  ): Promise<{ outbox_id: string; sequence_id: number; participant: string }> {
    const row = await oneOf<{ outbox_id: string; sequence_id: number }>(
      engine.ingest,
      "select * from payments.enqueue_payment_outbox($1, $2, 'k', 'sure', $3)",
      [unique("instruction"), participant, JSON.stringify({ amount: 100, currency: "EUR" })],
    );
    return { ...row, participant };
  }

  const pendingRow = (id: string) =>
    rowsOf<{ attempt_count: number; sequence_id: number }>(
      engine.control,
      "select attempt_count, sequence_id from payments.payment_outbox_pending where outbox_id = $1",
      [id],
    );
  const lines = (id: string) =>
    rowsOf<PaymentLine>(
      engine.control,
      "select attempt_no, state from payments.payment_outbox_attempts where outbox_id = $1 order by attempt_no",
      [id],
    );

  async function claimOnly(id: string): Promise<Claimed> {
    const rows = await engine.claim(stream());
    const wanted = rows.find((row) => row.outbox_id === id)!;
    await engine.deliver(
      stream(),
      rows.filter((row) => row.outbox_id !== id),
    );
    return wanted;
  }

  /** The SQLSTATE that a statement ends with, as that role. Its changes are rolled back. */
  async function codeAs(role: TestRole, statement: string): Promise<string> {
    const client = await engine.db.as(role).connect();
    try {
      await client.query("begin");
      return (await refusalOf(client.query(statement))).code;
    } finally {
      await client.query("rollback");
      await client.end();
    }
  }

  async function codesAs(roles: readonly TestRole[], statements: readonly string[]): Promise<Set<string>> {
    const codes = new Set<string>();
    for (const role of roles) {
      const client = await engine.db.as(role).connect();
      for (const statement of statements) {
        await client.query("begin");
        codes.add((await refusalOf(client.query(statement))).code);
        await client.query("rollback");
      }
      await client.end();
    }
    return codes;
  }

  test("ingest cannot INSERT into pending directly; can only EXECUTE enqueue.", async () => {
    expect(
      await codesAs(
        ["headroom_ingest"],
        [
          "insert into outbox.pending (lane_id, seq, outbox_id, due) values (1, 1, gen_random_uuid(), now())",
          "insert into outbox.pending_unordered (outbox_id, stream_id, priority, due) values (gen_random_uuid(), 1, 5, now())",
          ...archive.map(
            (table) =>
              `insert into ${table} (outbox_id, attempt_no, class_id, stream_id, state) values (gen_random_uuid(), 1, 1, 1, 'DISPATCHED')`,
          ),
          ...["pending", "payloads", "lanes", "dedupe", "heads", "claims", "dead", "streams"].map(
            (table) => `select * from outbox.${table}`,
          ),
          "select * from payments.participant_outbox_sequences",
          "select payments.bump_participant_outbox_seq('p')",
          "select * from outbox.claim(1, 1::smallint, 1)",
          "select outbox.reap()",
          "select * from outbox.redrive('{}', 'a', 'b')",
          "select nextval('outbox.claim_ids')",
        ],
      ),
    ).toEqual(new Set([denied]));
    // The view of the same name is a join, which nobody can write at all.
    expect(
      await codesAs(seeingViews, [
        "insert into payments.payment_outbox_pending (outbox_id) values (gen_random_uuid())",
      ]),
    ).toEqual(new Set([notUpdatable]));
    expect(await enqueue()).toMatchObject({ sequence_id: 1 });
  });

  test("executor cannot UPDATE/DELETE attempts.", async () => {
    const row = await enqueue();
    await engine.deliver(stream(), [await claimOnly(row.outbox_id)]);
    const changes = archive.flatMap((table) => [`update ${table} set error_code = 'x'`, `delete from ${table}`]);
    const upserts = archive.map(
      (table) =>
        `insert into ${table} select * from outbox.attempts where false on conflict (outbox_id, attempt_no, class_id) do update set error_code = 'x'`,
    );
    expect(await codesAs(runtimeRoles, [...changes, ...upserts])).toEqual(new Set([denied]));
    const throughTheView = [
      "update payments.payment_outbox_attempts set error_code = 'x'",
      "delete from payments.payment_outbox_attempts",
    ];
    expect(await codesAs(seeingViews, throughTheView)).toEqual(new Set([notUpdatable]));
    expect(await codesAs(["headroom_owner", "postgres"], [...changes, ...upserts])).toEqual(new Set([refused]));
    expect((await lines(row.outbox_id)).map((line) => line.state)).toEqual(["DISPATCHING", "DISPATCHED"]);
  });

  test("TRUNCATE fails for everyone on pending/attempts.", async () => {
    const tables = ["outbox.pending", "outbox.pending_unordered", ...archive];
    const statements = tables.flatMap((table) => [`truncate ${table}`, `truncate ${table} cascade`]);
    expect(await codesAs([...runtimeRoles, "authenticator"], statements)).toEqual(new Set([denied]));
    expect(await codesAs(["headroom_owner", "postgres"], statements)).toEqual(new Set([refused]));
  });

  test("sequences table is not readable to readonly/auditor after blanket grants.", async () => {
    await enqueue();
    const sequences = [
      "select * from payments.participant_outbox_sequences",
      "select * from outbox.lanes",
      "select next_seq from outbox.lanes",
    ];
    expect(await codesAs(["headroom_auditor"], sequences)).toEqual(new Set([denied]));
    const auditor = engine.db.as("headroom_auditor").pool;
    for (const readable of [
      "payments.payment_outbox_pending",
      "payments.payment_outbox_attempts",
      "payments.supervisor_outbox_status",
      "outbox.pending",
      ...archive,
    ]) {
      expect(await rowsOf(auditor, `select * from ${readable} limit 1`)).toBeInstanceOf(Array);
    }
    expect(await rowsOf(engine.control, "select * from payments.participant_outbox_sequences")).not.toEqual([]);
  });

  test("attempt numbering invariant: duplicate (outbox_id, attempt_no) fails.", async () => {
    const row = await enqueue();
    const claimed = await claimOnly(row.outbox_id);
    const values = (classId: number) => `values ('${row.outbox_id}', 1, ${classId}, ${stream().id}, 'DISPATCHED')`;
    const insert = (table: string, classId: number) =>
      `insert into ${table} (outbox_id, attempt_no, class_id, stream_id, state) ${values(classId)}`;
    const leaf = await oneOf<{ name: string }>(
      engine.control,
      "select tableoid::regclass::text as name from outbox.attempts where outbox_id = $1",
      [row.outbox_id],
    );
    for (const table of ["outbox.attempts", "outbox.attempts_forever", leaf.name]) {
      expect(await codeAs("headroom_owner", insert(table, 1))).toBe("23505");
    }
    // The class is part of the id: the same row cannot be in the archive a second time under another class.
    for (const otherClass of [2, 3])
      expect(await codeAs("headroom_owner", insert("outbox.attempts", otherClass))).toBe("23514");
    await engine.deliver(stream(), [claimed]);
  });

  test("claim removes pending + inserts DISPATCHING attempt in one set-based statement.", async () => {
    const rows = [await enqueue(), await enqueue(), await enqueue()];
    const relay = await engine.db.as("headroom_executor").connect();
    await relay.query("begin");
    const claimed = await engine.claim(stream(), {}, relay);
    expect(claimed.length).toBeGreaterThanOrEqual(3);
    for (const row of rows)
      expect([await pendingRow(row.outbox_id), await lines(row.outbox_id)]).toEqual([
        [{ attempt_count: 0, sequence_id: 1 }],
        [],
      ]);
    await relay.query("commit");
    await relay.end();
    for (const row of rows)
      expect([await pendingRow(row.outbox_id), await lines(row.outbox_id)]).toEqual([
        [],
        [{ attempt_no: 1, state: "DISPATCHING" }],
      ]);
    await engine.deliver(stream(), claimed);
  });

  test("retry inserts RETRYABLE + requeues with GREATEST(...) on attempt_count.", async () => {
    const row = await enqueue();
    const counts: number[] = [];
    for (let n = 0; n < 3; n += 1) {
      await engine.makeDue(stream());
      await engine.settle(stream(), [{ row: await claimOnly(row.outbox_id), outcome: "retry", code: "http_503" }]);
      const [pending] = await pendingRow(row.outbox_id);
      expect(pending!.sequence_id).toBe(1);
      counts.push(pending!.attempt_count);
      expect((await lines(row.outbox_id)).at(-1)).toEqual({ attempt_no: pending!.attempt_count, state: "RETRYABLE" });
    }
    expect(counts).toEqual([2, 4, 6]);
    await engine.skip([row.outbox_id]);
  });

  test("zombie repair requeues stale DISPATCHING with ON CONFLICT (outbox_id).", async () => {
    const row = await enqueue();
    await claimOnly(row.outbox_id);
    await engine.expireLeases(stream());
    const [one, two] = await engine.db.twoConnections("headroom_executor");
    const reaped = await Promise.all([engine.reap(one), engine.reap(two)]);
    expect(new Set(reaped)).toEqual(new Set([0, 1]));
    expect(await engine.reap()).toBe(0);
    await Promise.all([one.end(), two.end()]);
    expect(await pendingRow(row.outbox_id)).toEqual([{ attempt_count: 2, sequence_id: 1 }]);
    expect((await lines(row.outbox_id)).map((line) => line.state)).toEqual(["DISPATCHING", "ZOMBIE_REQUEUE"]);
    await engine.deliver(stream(), [await claimOnly(row.outbox_id)]);
  });

  test("NOTIFY wakeup + poll fallback both drive processing.", async () => {
    await rowsOf(engine.executor, "select outbox.note_relay($1, 'test', true)", [engine.relayId]);
    const listener = await engine.db.as("headroom_executor").connect();
    const woken = new Promise<string | undefined>((fulfil) =>
      listener.once("notification", (message) => fulfil(message.payload)),
    );
    await listener.query("listen outbox_pending");
    const notified = await enqueue();
    expect(await woken).toBe("payments");
    await engine.deliver(stream(), [await claimOnly(notified.outbox_id)]);
    await listener.end();
    // Nobody listens: a relay that polls finds the row anyway.
    await rowsOf(engine.executor, "select outbox.note_relay($1, 'test', false)", [engine.relayId]);
    const polled = await enqueue();
    await engine.deliver(stream(), [await claimOnly(polled.outbox_id)]);
    expect((await lines(polled.outbox_id)).at(-1)!.state).toBe("DISPATCHED");
  });
});
