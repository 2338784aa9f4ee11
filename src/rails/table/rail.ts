/**
 * The rail `table`: delivers by inserting a row, as an inbox inside the product does.
 *
 * Owns: turning a message into a row and a database's answer into an outcome. Does not own: the table or the SQL; the
 * insert is injected, and must do nothing when the row is there already.
 */
import { sqlStateOf } from "../../db/errors.ts";
import { withTimeout } from "../../db/wait/with-timeout.ts";
import type { Rail, RailMessage, RailOutcome, Validation } from "../../contract/rail.ts";

/** What is inserted. Unique by stream, instruction and idempotency key, by which enqueue deduplicates too. */
export interface TableRow {
  readonly stream: string;
  readonly instructionId: string;
  readonly idempotencyKey: string;
  readonly outboxId: string;
  readonly key: string | null;
  readonly seq: number | null;
  /** The payload as JSON text, as it is stored: pass it to the statement unchanged. */
  readonly payload: string;
}

export interface TableInsert {
  /** False when the row was there already. */
  readonly inserted: boolean;
  /** The row's own id. */
  readonly reference?: string;
}

export interface TableRailOptions {
  /** One statement in its own transaction: `insert … on conflict do nothing`. */
  readonly insert: (row: TableRow, signal: AbortSignal) => Promise<TableInsert>;
  /** As rows name it. Default: `table`. */
  readonly name?: string;
  /** Hard limit of one call. Default: 5,000. */
  readonly timeoutMs?: number;
  /** Calls under way at once. Default: the relay's own limit. */
  readonly concurrency?: number;
  /** Checks a payload before it is inserted. Default: anything goes. */
  readonly validate?: (message: RailMessage) => Validation;
}

const defaults = { name: "table", timeoutMs: 5_000 } satisfies Partial<TableRailOptions>;

type TableCode = keyof typeof tableCodes;

export const tableCodes = {
  aborted_before_send: { outcome: "retry", meaning: "The time was up before anything was sent." },
  database_busy: { outcome: "retry", meaning: "The database could not do it now and has done nothing." },
  connect_failed: { outcome: "retry", meaning: "No connection to the database could be made." },
  row_refused: { outcome: "rejected", meaning: "The table does not take this row." },
  timed_out: { outcome: "unknown", meaning: "The insert was sent and no answer came in time." },
  insert_failed: { outcome: "unknown", meaning: "The insert failed in a way that leaves its outcome open." },
  bad_answer: { outcome: "unknown", meaning: "The insert function gave no answer that can be understood." },
} as const satisfies Record<string, { outcome: "retry" | "rejected" | "unknown"; meaning: string }>;

/** By SQLSTATE, or by its class of two characters. Unless the outcome is unknown, the statement was rolled back as a whole. */
const codesBySqlState: ReadonlyMap<string, TableCode> = new Map([
  ["22", "row_refused"],
  ["23", "row_refused"],
  ["42", "row_refused"],
  ["40", "database_busy"],
  ["53", "database_busy"],
  ["55P03", "database_busy"],
  ["57014", "database_busy"],
  ["57P03", "database_busy"],
  ["25006", "database_busy"],
  // "Statement completion unknown", although its class means that the transaction was rolled back.
  ["40003", "insert_failed"],
]);

/** The platform's codes for a connection that was never made; a statement cannot have run without one. */
const connectErrors: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

export function createTableRail(options: TableRailOptions): Rail {
  const { name, timeoutMs, insert, concurrency, validate } = { ...defaults, ...options };
  return {
    name,
    capability: "idempotent",
    sends: "text",
    timeoutMs,
    ...(concurrency === undefined ? {} : { concurrency }),
    codes: Object.keys(tableCodes),
    ...(validate === undefined ? {} : { validate }),
    send: (message, { signal }) => send(message, signal, insert),
  };
}

async function send(
  message: RailMessage,
  signal: AbortSignal,
  insert: TableRailOptions["insert"],
): Promise<RailOutcome> {
  if (signal.aborted) return outcomeOf("aborted_before_send");
  const { stream, instructionId, idempotencyKey, outboxId, key, seq, body } = message;
  const row: TableRow = { stream, instructionId, idempotencyKey, outboxId, key, seq, payload: body };
  const sent = await withTimeout(inserted(row, signal, insert), signal);
  return sent.kind === "done" ? sent.value : outcomeOf("timed_out");
}

async function inserted(row: TableRow, signal: AbortSignal, insert: TableRailOptions["insert"]): Promise<RailOutcome> {
  try {
    const answer: Partial<TableInsert> | null | undefined = await insert(row, signal);
    if (typeof answer?.inserted !== "boolean") return outcomeOf("bad_answer");
    const { reference } = answer;
    const code = answer.inserted ? "inserted" : "duplicate";
    return { kind: "delivered", code, ...(typeof reference === "string" ? { reference } : {}) };
  } catch (error) {
    return outcomeOf(codeOfError(error));
  }
}

function codeOfError(error: unknown): TableCode {
  const sqlState = sqlStateOf(error);
  if (sqlState !== undefined) {
    return codesBySqlState.get(sqlState) ?? codesBySqlState.get(sqlState.slice(0, 2)) ?? "insert_failed";
  }
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && connectErrors.has(code) ? "connect_failed" : "insert_failed";
}

/** The database's own message is left out of the reason: it quotes values of the row. */
function outcomeOf(code: TableCode): RailOutcome {
  const { outcome, meaning } = tableCodes[code];
  return { kind: outcome, code, reason: meaning };
}
