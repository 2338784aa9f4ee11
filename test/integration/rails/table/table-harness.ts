/**
 * The table rail, connected to an in-memory table whose database misbehaves on request.
 */
import { once, EventEmitter } from "node:events";
import type { ConformancePlan, RailHarness, SandboxFault } from "../../../../src/contract/conformance/suite.ts";
import { createTableRail } from "../../../../src/rails/table/rail.ts";
import type { TableInsert, TableRow } from "../../../../src/rails/table/rail.ts";
import { messageOf } from "../messages.ts";

/** A database's error, as the driver throws it. */
export function databaseError(code: string): Error {
  return Object.assign(new Error(`the row of a customer was not inserted (${code})`), { code, severity: "ERROR" });
}

function connectionError(code: string): Error {
  return Object.assign(new Error(`connection failed: ${code}`), { code });
}

const never = new Promise<never>(() => {});

/** Unique by the three columns that enqueue dedupes by. */
function keyOf({ stream, instructionId, idempotencyKey }: TableRow): string {
  return JSON.stringify([stream, instructionId, idempotencyKey]);
}

export function openTableSandbox(): RailHarness {
  const rows = new Map<string, string>();
  const calls = new Map<string, number>();
  const events = new EventEmitter().setMaxListeners(0);
  let fault: SandboxFault | null = null;
  const add = (row: TableRow): TableInsert => {
    const key = keyOf(row);
    const inserted = !rows.has(key);
    if (inserted) rows.set(key, row.payload);
    return { inserted, reference: key };
  };
  const insert = async (row: TableRow): Promise<TableInsert> => {
    const current = fault;
    fault = null;
    if (current === "unreachable") throw connectionError("ECONNREFUSED");
    calls.set(row.outboxId, (calls.get(row.outboxId) ?? 0) + 1);
    events.emit("called");
    if (current === "close_before_read") throw connectionError("ECONNRESET");
    if (current === "refuse") throw databaseError("23514");
    if (current === "fail") throw databaseError("40001");
    const answer = add(row);
    if (current === "drop_after_accept" || current === "close_mid_answer") throw connectionError("ECONNRESET");
    if (current === "hang") return await never;
    if (current === "answer_late") await once(events, "released");
    // An insert function written in plain JavaScript may return anything.
    const garbage: TableInsert = JSON.parse('{"rowCount":1}');
    return current === "garbage" ? garbage : answer;
  };
  return {
    rail: createTableRail({
      insert,
      validate: ({ payload }) =>
        payload === null ? { ok: false, reason: "there is nothing to insert" } : { ok: true },
    }),
    throttleAfterMs: 0,
    secrets: [],
    message: () => messageOf(),
    invalidMessages: () => [messageOf(null)],
    next: (next) => void (fault = next),
    async received(message) {
      while (!calls.has(message.outboxId)) await once(events, "called");
    },
    release: () => void events.emit("released"),
    calls: (message) => calls.get(message.outboxId) ?? 0,
    effects: ({ payload }) => [...rows.values()].filter((row) => row === JSON.stringify(payload)).length,
    close() {},
  };
}

export const tablePlan: ConformancePlan = {
  capability: "idempotent",
  open: openTableSandbox,
  notApplicable: {
    throttle: "a database does not say when to come back",
    fail_after_accept: "a statement that fails is rolled back as a whole",
    refuse_echoing: "the rail sends no secret",
  },
};
