/**
 * Adding rows, in the caller's own transaction: pass the client that holds it.
 *
 * Owns: the shape of a new row in TypeScript. Does not own: what is allowed in one (the SQL decides, and says what is wrong).
 */
import { call, type Queryable } from "../../db/call.ts";
import type { Json } from "../../contract/rail.ts";

/** How a value of a response is found: names and indexes from the top, e.g. `["message", "ts"]`. */
export type JsonPath = readonly (string | number)[];

/** Fills a place of the payload just before the send: with what an earlier row of the same key captured, or with what is true then. */
export type Bind = CaptureBind | RendererBind;

export interface CaptureBind {
  /** Where the value goes; missing objects on the way are made. */
  readonly path: JsonPath;
  /** The name under which it was captured. */
  readonly capture: string;
  /** Whether the row fails without it (`binding_missing`), or is sent as it is. Default: true. */
  readonly required?: boolean;
}

/** Fills a place with what a renderer of the database (`outbox.renderers`) makes of the payload when it is sent. */
export interface RendererBind {
  readonly path: JsonPath;
  readonly renderer: string;
}

export interface NewRow {
  readonly stream: string;
  /** Rows with the same key keep their order. Required on ordered streams. */
  readonly key?: string | undefined;
  /** The caller's name for this intent, e.g. an order or a request id. */
  readonly instructionId: string;
  /** Together with stream and instruction: a second enqueue with the same three is the same row. */
  readonly idempotencyKey: string;
  readonly rail: string;
  readonly payload: Json;
  /** 0 to 9, higher first among what is due. Default: 5. */
  readonly priority?: number | undefined;
  /** Not sent before; on an ordered stream it holds its lane. */
  readonly notBefore?: Date | undefined;
  /** Skipped, not sent, once this time has passed. */
  readonly expiresAt?: Date | undefined;
  /** A later row of the same key with the same coalesce key replaces this one while it is unsent. */
  readonly coalesceKey?: string | undefined;
  /** What rate limits and circuits apply to, e.g. `slack:C024BE91L`. */
  readonly destination?: string | undefined;
  /** What to keep of the response for later rows of the key: name → path. */
  readonly captures?: Readonly<Record<string, JsonPath>> | undefined;
  readonly binds?: readonly Bind[] | undefined;
}

export interface EnqueueResult {
  readonly outboxId: string;
  /** The row's number within its key; null without order, and for a repeat whose first row has been collected. */
  readonly seq: number | null;
  /** False when the row already existed. */
  readonly created: boolean;
}

/**
 * Adds one row. Throws a HeadroomError with code `idempotency_conflict` when the key was used with another payload, rail, lane, destination,
 * priority, coalesce key, date, capture or bind; the message names which.
 */
export async function enqueue(db: Queryable, row: NewRow): Promise<EnqueueResult> {
  const result = await call(db, "outbox.enqueue", {
    p_stream: row.stream,
    p_key: row.key ?? null,
    p_instruction_id: row.instructionId,
    p_idempotency_key: row.idempotencyKey,
    p_rail: row.rail,
    p_payload: row.payload,
    ...(row.priority === undefined ? {} : { p_priority: row.priority }),
    ...(row.notBefore === undefined ? {} : { p_not_before: row.notBefore }),
    ...(row.expiresAt === undefined ? {} : { p_expires_at: row.expiresAt }),
    ...(row.coalesceKey === undefined ? {} : { p_coalesce_key: row.coalesceKey }),
    ...(row.destination === undefined ? {} : { p_destination: row.destination }),
    ...(row.captures === undefined ? {} : { p_captures: row.captures }),
    ...(row.binds === undefined ? {} : { p_binds: row.binds }),
  });
  return { outboxId: result.outbox_id, seq: result.seq, created: result.created };
}

/**
 * Adds up to 10,000 rows in one call; rows of one key keep the order of the array. Results come in the same order. Two callers
 * whose sets overlap never deadlock, which several single calls in one transaction could.
 */
export async function enqueueMany(db: Queryable, rows: readonly NewRow[]): Promise<EnqueueResult[]> {
  const results = await call(db, "outbox.enqueue_many", { p_rows: rows.map(toJson) });
  return results
    .toSorted((left, right) => left.ord - right.ord)
    .map(({ outbox_id, seq, created }) => ({ outboxId: outbox_id, seq, created }));
}

function toJson(row: NewRow): Readonly<Record<string, unknown>> {
  return {
    stream: row.stream,
    key: row.key ?? null,
    instruction_id: row.instructionId,
    idempotency_key: row.idempotencyKey,
    rail: row.rail,
    payload: row.payload,
    priority: row.priority ?? null,
    not_before: row.notBefore?.toISOString() ?? null,
    expires_at: row.expiresAt?.toISOString() ?? null,
    coalesce_key: row.coalesceKey ?? null,
    destination: row.destination ?? null,
    captures: row.captures ?? null,
    binds: row.binds ?? null,
  };
}
