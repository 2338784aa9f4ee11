/** The table rail on a real table, through real connections that break. */
import type { Client } from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import type { Rail, RailMessage } from "../../../../src/contract/rail.ts";
import { createTableRail } from "../../../../src/rails/table/rail.ts";
import type { TableInsert, TableRow } from "../../../../src/rails/table/rail.ts";
import { createTestDatabase } from "../../../helpers/database.ts";
import { messageOf, notAborted } from "../messages.ts";

const db = await createTestDatabase();

beforeAll(async () => {
  await db.pool.query(`
    create schema inbox;
    create table inbox.messages (
      id bigint generated always as identity,
      stream text not null,
      instruction_id text not null,
      idempotency_key text not null,
      payload jsonb not null check (payload ->> 'type' <> 'forbidden'),
      primary key (stream, instruction_id, idempotency_key)
    )`);
});

interface Queryable {
  query(text: string, values: readonly unknown[]): Promise<{ rows: { id: string }[] }>;
}

function insertBy(connection: Queryable): (row: TableRow) => Promise<TableInsert> {
  return async ({ stream, instructionId, idempotencyKey, payload }) => {
    const { rows } = await connection.query(
      `insert into inbox.messages (stream, instruction_id, idempotency_key, payload) values ($1, $2, $3, $4)
       on conflict do nothing returning id`,
      [stream, instructionId, idempotencyKey, payload],
    );
    const [row] = rows;
    return row === undefined ? { inserted: false } : { inserted: true, reference: row.id };
  };
}

const rail: Rail = createTableRail({ insert: (row) => insertBy(db.pool)(row) });

async function rowsOf({ idempotencyKey }: RailMessage): Promise<number> {
  const { rows } = await db.pool.query<{ count: string }>(
    "select count(*) from inbox.messages where idempotency_key = $1",
    [idempotencyKey],
  );
  return Number(rows[0]?.count);
}

describe("the table rail on PostgreSQL", () => {
  test("inserts a row once, however often it is sent, even at the same time", async () => {
    const message = messageOf();
    const outcomes = await Promise.all(Array.from({ length: 5 }, async () => await rail.send(message, notAborted)));
    expect(outcomes.map(({ kind }) => kind)).toEqual(Array(5).fill("delivered"));
    expect(outcomes.filter((outcome) => outcome.kind === "delivered" && outcome.code === "inserted")).toHaveLength(1);
    expect(await rowsOf(message)).toBe(1);
  });

  test("refuses permanently what the table does not accept, and keeps the row out of the reason", async () => {
    const message = messageOf({ type: "forbidden", secret: "hunter2" });
    const outcome = await rail.send(message, notAborted);
    expect(outcome).toMatchObject({ kind: "rejected", code: "row_refused" });
    expect(JSON.stringify(outcome)).not.toContain("hunter2");
    expect(await rowsOf(message)).toBe(0);
  });

  test("tries again when the table is locked for too long", async () => {
    const [holder, waiter] = await db.twoConnections();
    await holder.query("begin");
    await holder.query("lock table inbox.messages in access exclusive mode");
    await waiter.query("set lock_timeout = '50ms'");
    const message = messageOf();
    const locked = createTableRail({ insert: insertBy(waiter) });
    expect(await locked.send(message, notAborted)).toMatchObject({ kind: "retry", code: "database_busy" });
    await holder.query("rollback");
    expect(await locked.send(message, notAborted)).toMatchObject({ kind: "delivered" });
    expect(await rowsOf(message)).toBe(1);
  });

  test("claims nothing when its connection is cut, and has one effect when it is sent again", async () => {
    const [holder] = await db.twoConnections();
    const victim = await db.connect();
    // The driver reports the cut on the connection as well as on the query.
    victim.on("error", () => {});
    await holder.query("begin");
    await holder.query("lock table inbox.messages in access exclusive mode");
    const message = messageOf();
    const outcome = createTableRail({ insert: insertBy(victim) }).send(message, notAborted);
    await db.waitUntilBlocked(victim);
    await terminate(holder, victim.pid);
    expect(await outcome).toMatchObject({ kind: "unknown", code: "insert_failed" });
    await holder.query("rollback");
    expect(await rail.send(message, notAborted)).toMatchObject({ kind: "delivered" });
    expect(await rowsOf(message)).toBe(1);
  });

  test("gives up when its time has run out, although the insert continues", async () => {
    const [holder, waiter] = await db.twoConnections();
    await holder.query("begin");
    await holder.query("lock table inbox.messages in access exclusive mode");
    const message = messageOf();
    const clock = new AbortController();
    const slow = insertBy(waiter);
    let done: Promise<TableInsert> | undefined;
    const outcome = createTableRail({ insert: (row) => (done = slow(row)) }).send(message, { signal: clock.signal });
    await db.waitUntilBlocked(waiter);
    clock.abort();
    expect(await outcome).toMatchObject({ kind: "unknown", code: "timed_out" });
    await holder.query("rollback");
    await done;
    expect(await rail.send(message, notAborted)).toMatchObject({ kind: "delivered", code: "duplicate" });
    expect(await rowsOf(message)).toBe(1);
  });
});

async function terminate(by: Client, pid: number): Promise<void> {
  await by.query("select pg_terminate_backend($1)", [pid]);
}
