/** Calling functions of the database: arguments, results of every shape, and failures. */
import { describe, expect, test } from "vitest";
import { call, callUntyped, type Queryable } from "../../../src/db/call.ts";
import { errorsBySqlState, HeadroomError } from "../../../src/db/errors.ts";
import type { FunctionShape } from "../../../src/db/function-shape.ts";
import { createTestDatabase, POSTGRES_VERSIONS } from "../../helpers/database.ts";

const shape = (returns: FunctionShape["returns"], more: Partial<FunctionShape> = {}): FunctionShape => ({
  returns,
  json: [],
  positional: false,
  ...more,
});

const functions = `
create schema f;
create type f.pair as (a integer, b text);
create function f.add(p_a integer, p_b integer default 10) returns integer language sql as 'select p_a + p_b';
create function f.big() returns bigint language sql as 'select 9007199254740991';
create function f.too_big() returns bigint language sql as 'select 9007199254740993';
create function f.echo_json(p_value jsonb) returns jsonb language sql as 'select p_value';
create function f.list(p_n integer) returns setof integer language sql as 'select generate_series(1, p_n)';
create function f.one_pair(p_a integer) returns f.pair language sql as $$select p_a, 'b' where p_a > 0$$;
create function f.rows(p_n integer) returns table (n integer, day date) language sql as $$select i, date '2026-01-31' from generate_series(1, p_n) i$$;
create function f.moments() returns table (past timestamptz, now timestamptz, future timestamptz) language sql
  as $$select timestamptz '-infinity', timestamptz '2026-01-31 12:00+00', timestamptz 'infinity'$$;
create function f.nothing() returns void language sql as '';
create function f.unnamed(text) returns text language sql as 'select upper($1)';
create function f.longs() returns bigint[] language sql as 'select array[1, null, 3]::bigint[]';
create function f.fail(p_code text) returns void language plpgsql as $$
begin
  raise exception 'it failed' using errcode = p_code, detail = 'the detail', hint = 'the hint';
end
$$;
create function f.${"a".repeat(50)}(p_parameter_with_a_long_name integer) returns integer language sql as 'select 1';
create function f.${"a".repeat(50)}b(p_parameter_with_a_long_name integer) returns integer language sql as 'select 2';
`;

describe.each(POSTGRES_VERSIONS)("a call on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version });
  await db.pool.query(functions);
  const run = (name: string, how: FunctionShape, args: Record<string, unknown> = {}) =>
    callUntyped(db.pool, name, how, args);

  test("passes arguments by name, and leaves defaults to SQL", async () => {
    expect(await run("f.add", shape("value"), { p_b: 2, p_a: 1 })).toBe(3);
    expect(await run("f.add", shape("value"), { p_a: 1 })).toBe(11);
    expect(await run("f.add", shape("value"), { p_a: 1, p_b: undefined })).toBe(11);
    expect(await run("f.add", shape("value"), { p_a: 1, p_b: null })).toBe(null);
  });

  test("gives bigints as numbers, and refuses to round one", async () => {
    expect(await run("f.big", shape("value"))).toBe(Number.MAX_SAFE_INTEGER);
    expect(await run("f.longs", shape("value"))).toEqual([1, null, 3]);
    await expect(run("f.too_big", shape("value"))).rejects.toMatchObject({
      message: expect.stringContaining("too large"),
    });
  });

  test.each([[[1, "two", { three: null }]], [{ nested: [[]] }], ["text"], [7], [false]])(
    "passes %j to a jsonb parameter as it is",
    async (value) => {
      expect(await run("f.echo_json", shape("value", { json: ["p_value"] }), { p_value: value })).toEqual(value);
    },
  );

  test("gives a set of values as an array, a table as rows, and a date as it is written", async () => {
    expect(await run("f.list", shape("values"), { p_n: 3 })).toEqual([1, 2, 3]);
    expect(await run("f.list", shape("values"), { p_n: 0 })).toEqual([]);
    expect(await run("f.rows", shape("rows"), { p_n: 1 })).toEqual([{ n: 1, day: "2026-01-31" }]);
  });

  test("gives times as dates, the infinite ones too", async () => {
    expect(await run("f.moments", shape("rows"))).toEqual([
      { past: new Date(-8.64e15), now: new Date("2026-01-31T12:00:00Z"), future: new Date(8.64e15) },
    ]);
  });

  test("gives a composite as one row, or null", async () => {
    expect(await run("f.one_pair", shape("row"), { p_a: 5 })).toEqual({ a: 5, b: "b" });
    expect(await run("f.one_pair", shape("row"), { p_a: 0 })).toBe(null);
  });

  test("of a function without a result gives nothing", async () => {
    expect(await run("f.nothing", shape("nothing"))).toBe(undefined);
  });

  test("passes a parameter without a name by its position", async () => {
    expect(await run("f.unnamed", shape("value", { positional: true }), { arg1: "x" })).toBe("X");
  });

  test("can be prepared, even when two names are the same in their first 63 bytes", async () => {
    const client = await db.connect();
    const args = { p_parameter_with_a_long_name: 0 };
    const names = [`f.${"a".repeat(50)}`, `f.${"a".repeat(50)}b`];
    for (let turn = 0; turn < 2; turn += 1) {
      for (const [index, name] of names.entries()) {
        expect(await callUntyped(client, name, shape("value"), args, { prepare: true })).toBe(index + 1);
      }
    }
    const prepared = await client.query("select count(*)::int as n from pg_prepared_statements");
    expect(prepared.rows).toEqual([{ n: 2 }]);
  });

  test("whose name or argument is not an identifier is refused before any SQL", async () => {
    const never: Queryable = { query: () => Promise.reject(new Error("asked")) };
    await expect(callUntyped(never, "f.add(1); --", shape("value"), {})).rejects.toMatchObject({ code: "usage" });
    await expect(callUntyped(never, "f.add", shape("value"), { "p_a => 1) --": 1 })).rejects.toMatchObject({
      code: "usage",
    });
  });

  test.each(Object.entries(errorsBySqlState).filter(([state]) => state.startsWith("HR")))(
    "that raises %s fails with its code, detail and hint",
    async (sqlState, kind) => {
      const failure = await run("f.fail", shape("nothing"), { p_code: sqlState }).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(HeadroomError);
      expect(failure).toMatchObject({
        ...kind,
        sqlState,
        message: "it failed",
        detail: "the detail",
        hint: "the hint",
      });
    },
  );

  test("without the right to execute fails as not permitted", async () => {
    const lowly = db.as("authenticator");
    await expect(call(lowly.pool, "outbox.reap", {})).rejects.toMatchObject({
      code: "permission_denied",
      httpStatus: 403,
    });
  });

  test("in a read-only transaction fails as read-only", async () => {
    const client = await db.connect();
    await client.query("create table f.t (x int)");
    await client.query("create function f.write() returns void language sql as 'insert into f.t values (1)'");
    await client.query("begin read only");
    await expect(callUntyped(client, "f.write", shape("nothing"), {})).rejects.toMatchObject({
      code: "database_read_only",
    });
    await client.query("rollback");
  });

  test("on a connection that was cut fails as a lost connection", async () => {
    const client = await db.connect();
    await db.superuser.pool.query("select pg_terminate_backend($1, 5000)", [client.pid]);
    await expect(callUntyped(client, "f.nothing", shape("nothing"), {})).rejects.toMatchObject({
      code: "connection_lost",
    });
  });

  test("is the same through a pool, a client and a client of a pool", async () => {
    const client = await db.connect();
    const pooled = await db.pool.connect();
    try {
      const answers = await Promise.all(
        [db.pool, client, pooled].map((connection) => callUntyped(connection, "f.add", shape("value"), { p_a: 1 })),
      );
      expect(answers).toEqual([11, 11, 11]);
    } finally {
      pooled.release();
    }
  });
});
