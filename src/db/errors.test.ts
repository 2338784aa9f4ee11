import { describe, expect, test } from "vitest";
import { errorsBySqlState, HeadroomError, isRetryableConnectionError, sqlStateOf, toHeadroomError } from "./errors.ts";
import { refusalStatuses } from "./refusals.gen.ts";

const fromServer = (code: string, more: object = {}): Error =>
  Object.assign(new Error("said the server"), { code, severity: "ERROR", ...more });
const fromNode = (code: string): Error => Object.assign(new Error(`connect ${code}`), { code });

describe("what the server says", () => {
  test.each(Object.entries(errorsBySqlState).filter(([state]) => state.length === 5))(
    "%s gets its code",
    (state, kind) => {
      expect(toHeadroomError(fromServer(state))).toMatchObject({
        code: kind.code,
        httpStatus: kind.httpStatus,
        sqlState: state,
        message: "said the server",
      });
    },
  );

  test("a state that is not listed goes by its class, and else is a database error", () => {
    expect(toHeadroomError(fromServer("22P02"))).toMatchObject({ code: "invalid_input", httpStatus: 400 });
    expect(toHeadroomError(fromServer("08006"))).toMatchObject({ code: "database_unreachable", httpStatus: 503 });
    expect(toHeadroomError(fromServer("XX000"))).toMatchObject({ code: "database_error", httpStatus: 500 });
  });

  test("the server's own hint wins over ours", () => {
    expect(toHeadroomError(fromServer("42501", { hint: "Ask Ada." })).hint).toBe("Ask Ada.");
    expect(toHeadroomError(fromServer("42501")).hint).toContain("headroom_");
  });

  test.each(Object.entries(refusalStatuses))("the refusal %s has its own code and the status %i", (code, status) => {
    const refused = toHeadroomError(fromServer(`PT${status}`, { detail: `${code}: row 7` }));
    expect(refused).toMatchObject({ code, httpStatus: status, detail: "row 7" });
    expect(new HeadroomError(code, "No.").httpStatus).toBe(status);
  });

  test("the archive refuses with its own state, and is told from whatever else is raised with it", () => {
    const refused = fromServer("P0001", { detail: "append_only: the archive of attempts is append-only" });
    expect(toHeadroomError(refused)).toMatchObject({ code: "append_only", httpStatus: 403, sqlState: "P0001" });
    const other = fromServer("P0001", { detail: "broken: a trigger of somebody else" });
    expect(toHeadroomError(other)).toMatchObject({
      code: "database_error",
      detail: "broken: a trigger of somebody else",
    });
  });

  test("a refusal has the code that its detail begins with, and the rest as its detail", () => {
    const stale = fromServer("PT409", { detail: "stale_version: version 2, expected 1" });
    expect(toHeadroomError(stale)).toMatchObject({
      code: "stale_version",
      httpStatus: 409,
      detail: "version 2, expected 1",
    });
    const bare = toHeadroomError(fromServer("PT400", { detail: "invalid_payload" }));
    expect(bare).toMatchObject({ code: "invalid_payload", httpStatus: 400 });
    expect(bare.detail).toBeUndefined();
    expect(toHeadroomError(fromServer("PT409", { detail: "Something else." }))).toMatchObject({
      code: "conflict",
      detail: "Something else.",
    });
  });

  test("a line without a partition is told apart from a check that failed", () => {
    const archive = { schema: "outbox", table: "attempts_week" };
    expect(toHeadroomError(fromServer("23514", archive))).toMatchObject({
      code: "partition_missing",
      sqlState: "HR009",
    });
    const check = { ...archive, constraint: "attempts_class_id_check" };
    expect(toHeadroomError(fromServer("23514", check))).toMatchObject({ code: "invalid_input", sqlState: "23514" });
    const elsewhere = { schema: "public", table: "attempts" };
    expect(toHeadroomError(fromServer("23514", elsewhere))).toMatchObject({ code: "invalid_input" });
  });

  test("every code of ours has one status", () => {
    const statuses = new Map<string, Set<number>>();
    const refusals = Object.entries(refusalStatuses).map(([code, httpStatus]) => ({ code, httpStatus }));
    for (const { code, httpStatus } of [...Object.values(errorsBySqlState), ...refusals]) {
      statuses.set(code, (statuses.get(code) ?? new Set()).add(httpStatus));
    }
    expect([...statuses].filter(([, set]) => set.size > 1)).toEqual([]);
  });
});

describe("what the connection does", () => {
  test.each(["ECONNREFUSED", "ENOTFOUND", "ETIMEDOUT", "EHOSTUNREACH"])("%s means unreachable, with a hint", (code) => {
    const failure = toHeadroomError(fromNode(code));
    expect(failure).toMatchObject({ code: "database_unreachable", httpStatus: 503 });
    expect(failure.hint).toBeDefined();
  });

  test.each(["Connection terminated unexpectedly", "Client has encountered a connection error and is not queryable"])(
    "the driver's sentence %j means a lost connection",
    (sentence) => {
      expect(toHeadroomError(new Error(sentence))).toMatchObject({ code: "connection_lost" });
    },
  );

  test("a host with several addresses is judged by the first refusal", () => {
    const several = new AggregateError([fromNode("ECONNREFUSED"), fromNode("ECONNREFUSED")]);
    expect(toHeadroomError(several)).toMatchObject({ code: "database_unreachable" });
  });
});

describe("trying again on a new connection", () => {
  test.each([
    ["a refused connect", fromNode("ECONNREFUSED"), true],
    ["a reset", fromNode("ECONNRESET"), true],
    ["a terminated backend", fromServer("57P01"), true],
    ["a server that starts up", fromServer("57P03"), true],
    ["too many connections", fromServer("53300"), true],
    ["a wrapped loss", toHeadroomError(new Error("Connection terminated unexpectedly")), true],
    ["a wrapped termination", toHeadroomError(fromServer("57P01")), true],
    ["a deadlock", fromServer("40P01"), false],
    ["a wrong password", fromServer("28P01"), false],
    ["a conflict", fromServer("PT409", { detail: "idempotency_conflict" }), false],
    ["a mistake of ours", new TypeError("x is not a function"), false],
    ["something that is no error", "text", false],
  ])("after %s", (_what, error, expected) => {
    expect(isRetryableConnectionError(error)).toBe(expected);
  });
});

test("an error that is ours already stays itself, and keeps what it knows", () => {
  const original = new HeadroomError("conflict", "taken", { detail: "by Ada", hint: "ask her", sqlState: "PT409" });
  expect(toHeadroomError(original)).toBe(original);
  expect(original.httpStatus).toBe(409);
  expect(sqlStateOf(original)).toBe("PT409");
});

test("a code of Node is not taken for a SQLSTATE", () => {
  expect(sqlStateOf(Object.assign(new Error("x"), { code: "EPIPE" }))).toBe(undefined);
});
