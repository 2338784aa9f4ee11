/**
 * Calls of functions as a session, each in its own transaction: entering the session, the call and the commit are one message to the
 * database and one answer.
 *
 * A call that fails is undone by the server before it answers. If no answer comes, it is unknown whether it was committed: the commit
 * went out together with the call (provesRollback).
 */
import type { BatchValue } from "../../db/batch.ts";
import type { Queryable } from "../../db/call.ts";
import { HeadroomError } from "../../db/errors.ts";
import type { Session } from "../auth/session.ts";
import type { GatewayDatabase, TransactionOptions } from "./gateway-database.ts";

export function singleCalls(database: GatewayDatabase, session: Session, options: TransactionOptions): Queryable {
  return {
    async query({ text, values = [], name }) {
      const [result] = await database.run(session, [{ text, values: values.map(toBatchValue), name }], options);
      return result ?? { rows: [] };
    },
  };
}

function toBatchValue(value: unknown): BatchValue {
  if (value === null || typeof value === "string" || typeof value === "number") return value;
  throw new HeadroomError("usage", "Only texts and numbers can be passed to a call.");
}
