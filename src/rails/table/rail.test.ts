import { expect, test } from "vitest";
import { createTableRail } from "./rail.ts";

const message = {
  outboxId: "0199a3f2-7c1e-7f02-9d0a-3f0f6a1b2c3d",
  stream: "inbox",
  key: null,
  seq: null,
  instructionId: "i",
  idempotencyKey: "k",
  body: "{}",
  payload: {},
  tenantId: null,
  destination: null,
  tryNo: 1,
  uncertain: false,
  createdAt: new Date(0),
};

test.each([
  ["40001", "retry", "database_busy"],
  ["40P01", "retry", "database_busy"],
  ["40003", "unknown", "insert_failed"],
  ["57014", "retry", "database_busy"],
  ["57P01", "unknown", "insert_failed"],
  ["08006", "unknown", "insert_failed"],
  ["23505", "rejected", "row_refused"],
])(
  "SQLSTATE %s is %s: only a statement that was rolled back is known not to have run",
  async (sqlState, kind, code) => {
    const error = Object.assign(new Error("no"), { code: sqlState, severity: "ERROR" });
    const rail = createTableRail({ insert: () => Promise.reject(error) });
    const signal = new AbortController().signal;
    expect(await rail.send(message, { signal })).toMatchObject({ kind, code });
  },
);
