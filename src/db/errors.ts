/**
 * The product's only error class, and the table that turns Postgres' errors into a code and an HTTP status.
 *
 * Owns: codes, their statuses, and whether trying again can help. Does not own: how an error is printed (the command line)
 * or rendered (problem details over HTTP), nor the codes of the database's refusals, which are listed in SQL (headroom.refusals)
 * and generated from there.
 */
import { isRefusalCode, refusalStatuses, type RefusalCode } from "./refusals.gen.ts";

export interface HeadroomErrorOptions {
  /** More about this case: values, names, limits. Never a secret. */
  readonly detail?: string | undefined;
  /** A sentence that says what to do. */
  readonly hint?: string | undefined;
  readonly cause?: unknown;
  /** The SQLSTATE, if the error is the database's. */
  readonly sqlState?: string | undefined;
  /** Overrides the status that the code has in the table. */
  readonly httpStatus?: number | undefined;
}

/** Every failure that the product reports on purpose. `code` is stable and meant for programs. */
export class HeadroomError extends Error {
  override readonly name = "HeadroomError";
  readonly code: string;
  readonly detail: string | undefined;
  readonly hint: string | undefined;
  readonly sqlState: string | undefined;
  readonly httpStatus: number;

  constructor(code: string, message: string, options: HeadroomErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.detail = options.detail;
    this.hint = options.hint;
    this.sqlState = options.sqlState;
    this.httpStatus = options.httpStatus ?? statusByCode.get(code) ?? 500;
  }

  /** How many seconds a caller that came too soon has to wait, if the database says. */
  get waitSeconds(): string | undefined {
    return this.code === "too_soon" ? /^again in (\d{1,9}) seconds$/.exec(this.detail ?? "")?.[1] : undefined;
  }
}

interface ErrorKind {
  readonly code: string;
  readonly httpStatus: number;
  /** True when the same call may succeed later, on a new connection. */
  readonly retryable?: true;
  /** Used when the database gives no hint. */
  readonly hint?: string;
}

/**
 * SQLSTATE → code → HTTP status, for errors other than refusals. Class HR is ours: HR009 is given here to a failed partition check, the others
 * are the migrator's. A key of two characters is for the rest of its class.
 */
const failuresBySqlState: Readonly<Record<string, ErrorKind>> = {
  HR009: {
    code: "partition_missing",
    httpStatus: 503,
    hint: "Make it with outbox.ensure_partitions(), as a running relay does automatically; see outbox.partition_status().",
  },
  HR011: { code: "schema_newer_than_code", httpStatus: 409 },
  HR012: { code: "not_allowed", httpStatus: 403 },

  "08": { code: "database_unreachable", httpStatus: 503, retryable: true },
  "22": { code: "invalid_input", httpStatus: 400 },
  "23502": { code: "invalid_input", httpStatus: 400 },
  "23503": { code: "conflict", httpStatus: 409 },
  "23505": { code: "conflict", httpStatus: 409 },
  "23514": { code: "invalid_input", httpStatus: 400 },
  "25006": {
    code: "database_read_only",
    httpStatus: 503,
    hint: "Point the connection at the primary; a standby or a read-only session cannot be used.",
  },
  "28": {
    code: "login_refused",
    httpStatus: 503,
    hint: "Check user name and password in the database URL, and the server's pg_hba.conf.",
  },
  "3D000": {
    code: "database_missing",
    httpStatus: 503,
    hint: "Create the database first, or correct its name in the URL.",
  },
  "3F000": { code: "schema_missing", httpStatus: 503, hint: "Run `headroom migrate` against this database." },
  "40001": { code: "serialization_failure", httpStatus: 503 },
  "40P01": { code: "deadlock", httpStatus: 503 },
  "42501": {
    code: "permission_denied",
    httpStatus: 403,
    hint: "Log in as a role that is a member of the headroom_ role which this needs.",
  },
  "42883": { code: "schema_missing", httpStatus: 503, hint: "Run `headroom migrate` against this database." },
  "42P01": { code: "schema_missing", httpStatus: 503, hint: "Run `headroom migrate` against this database." },
  "53100": { code: "disk_full", httpStatus: 503, hint: "Free space on the database server's disk." },
  "53300": {
    code: "too_many_connections",
    httpStatus: 503,
    retryable: true,
    hint: "Lower the pool size of the clients, or raise max_connections on the server.",
  },
  "53": { code: "database_overloaded", httpStatus: 503 },
  // Nested deeper or larger than the database can read. Only a caller's input can be.
  "54": { code: "invalid_input", httpStatus: 400, hint: "Send it in smaller parts, or nested less deeply." },
  "55P03": { code: "lock_timeout", httpStatus: 503 },
  "57014": { code: "query_canceled", httpStatus: 503 },
  "57P01": { code: "connection_lost", httpStatus: 503, retryable: true },
  "57P02": { code: "connection_lost", httpStatus: 503, retryable: true },
  "57P03": { code: "database_starting", httpStatus: 503, retryable: true },
  "57P05": { code: "connection_lost", httpStatus: 503, retryable: true },
  "58": { code: "database_storage_failed", httpStatus: 503 },
};

/**
 * A refusal's SQLSTATE is PT and its HTTP status, so several refusals share one, and the detail names the code. If it names none, the
 * first code of the status is used.
 */
const refusalsBySqlState: Readonly<Record<string, ErrorKind>> = Object.fromEntries(
  Object.entries(refusalStatuses)
    .toReversed()
    .map(([code, httpStatus]) => [`PT${httpStatus}`, { code, httpStatus }]),
);

export const errorsBySqlState: Readonly<Record<string, ErrorKind>> = { ...failuresBySqlState, ...refusalsBySqlState };

/** Codes that TypeScript raises without an error from the database. */
const statusOfOwnCodes: Readonly<Record<string, number>> = {
  database_unreachable: 503,
  connection_lost: 503,
  server_too_old: 503,
  database_error: 500,
  usage: 400,
  no_api_key: 401,
  invalid_api_key: 401,
  invalid_token: 401,
  method_not_allowed: 405,
  body_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
  shutting_down: 503,
};

const statusByCode: ReadonlyMap<string, number> = new Map([
  ...Object.values(errorsBySqlState).map((kind) => [kind.code, kind.httpStatus] as const),
  ...Object.entries(refusalStatuses),
  ...Object.entries(statusOfOwnCodes),
]);

/** Node's own codes for a connection that was never made, or that broke. */
const unreachableCodes = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
  "ENOENT",
  "EACCES",
]);
const brokenCodes = new Set(["ECONNRESET", "EPIPE", "ECONNABORTED"]);

/** The driver gives no code for these; the texts are the driver's, word for word. */
const driverConnectionSentences: ReadonlyMap<string, "database_unreachable" | "connection_lost"> = new Map([
  ["Connection terminated unexpectedly", "connection_lost"],
  ["Connection terminated", "connection_lost"],
  ["Connection terminated due to connection timeout", "database_unreachable"],
  ["timeout exceeded when trying to connect", "database_unreachable"],
  ["timeout expired", "database_unreachable"],
  ["Client has encountered a connection error and is not queryable", "connection_lost"],
  ["Client was closed and is not queryable", "connection_lost"],
]);

/** The only part of a driver's error that we read. */
interface DatabaseErrorLike {
  readonly message: string;
  readonly code?: unknown;
  readonly severity?: unknown;
  readonly detail?: unknown;
  readonly hint?: unknown;
  readonly schema?: unknown;
  readonly table?: unknown;
  readonly constraint?: unknown;
}

function asErrorLike(error: unknown): DatabaseErrorLike | undefined {
  return error instanceof Error ? error : undefined;
}

/** The code that Node gives to a failed system call, such as ENOENT. */
export function nodeCodeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** The SQLSTATE that the server sent, or undefined if the failure is not the server's. */
export function sqlStateOf(error: unknown): string | undefined {
  if (error instanceof HeadroomError) return error.sqlState;
  const like = asErrorLike(error);
  if (like === undefined || typeof like.code !== "string" || typeof like.severity !== "string") return undefined;
  return /^[0-9A-Z]{5}$/.test(like.code) ? like.code : undefined;
}

/**
 * A refusal's detail is the code, or the code, a colon and the facts. The archive of attempts refuses changes with P0001 and not with a
 * state of class PT (see outbox.refuse_change).
 */
function readRefusal(
  sqlState: string,
  detail: string | undefined,
): { code: RefusalCode; facts: string | undefined } | undefined {
  if (!sqlState.startsWith("PT") && sqlState !== "P0001") return undefined;
  const match = /^([a-z_]+)(?:: (.+))?$/s.exec(detail ?? "");
  const code = match?.[1] ?? "";
  return isRefusalCode(code) ? { code, facts: match?.[2] } : undefined;
}

function kindOfSqlState(sqlState: string): ErrorKind {
  return (
    errorsBySqlState[sqlState] ?? errorsBySqlState[sqlState.slice(0, 2)] ?? { code: "database_error", httpStatus: 500 }
  );
}

/**
 * A line for which the archive has no partition. Postgres reports it as a failed check, but one without a name. It is
 * recognised here and not in SQL, where catching it would cost every claim and settle a subtransaction.
 */
function lacksPartition({ code, schema, table, constraint }: DatabaseErrorLike): boolean {
  const inArchive = schema === "outbox" && typeof table === "string" && table.startsWith("attempts");
  return code === "23514" && inArchive && constraint === undefined;
}

function connectionCodeOf(error: unknown): "database_unreachable" | "connection_lost" | undefined {
  const like = asErrorLike(error);
  if (like === undefined) return undefined;
  if (typeof like.code === "string" && unreachableCodes.has(like.code)) return "database_unreachable";
  if (typeof like.code === "string" && brokenCodes.has(like.code)) return "connection_lost";
  // Node reports a host with several addresses as one error that holds the others.
  if (error instanceof AggregateError && error.errors.length > 0) return connectionCodeOf(error.errors[0]);
  return driverConnectionSentences.get(like.message);
}

const hintOfUnreachable =
  "Check that the server is running and that host and port of the database URL are right and reachable from here.";

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Turns whatever a query or a connect threw into a HeadroomError; a HeadroomError is returned unchanged. */
export function toHeadroomError(error: unknown): HeadroomError {
  if (error instanceof HeadroomError) return error;
  const like = asErrorLike(error);
  if (like === undefined) return new HeadroomError("database_error", String(error), { cause: error });
  const sqlState = lacksPartition(like) ? "HR009" : sqlStateOf(error);
  if (sqlState !== undefined) {
    const kind = kindOfSqlState(sqlState);
    const refusal = readRefusal(sqlState, textOf(like.detail));
    return new HeadroomError(refusal?.code ?? kind.code, like.message, {
      sqlState,
      httpStatus: refusal === undefined ? kind.httpStatus : refusalStatuses[refusal.code],
      detail: refusal === undefined ? textOf(like.detail) : refusal.facts,
      hint: textOf(like.hint) ?? kind.hint,
      cause: error,
    });
  }
  const connectionCode = connectionCodeOf(error);
  if (connectionCode === "database_unreachable") {
    const reason = textOf(like.message) ?? textOf(like.code) ?? "no answer";
    return new HeadroomError(connectionCode, `The database cannot be reached: ${reason}`, {
      hint: hintOfUnreachable,
      cause: error,
    });
  }
  if (connectionCode === "connection_lost") {
    return new HeadroomError(connectionCode, "The connection to the database broke.", { cause: error });
  }
  return new HeadroomError("database_error", like.message, { cause: error });
}

/**
 * True if the database reported that it refused the statement: nothing of its transaction is left. A connection that ended,
 * even if the server says so, may have ended after the commit and before its acknowledgement; then the outcome is unknown.
 */
export function provesRollback({ sqlState }: HeadroomError): boolean {
  return sqlState !== undefined && !/^(?:08|40003|57P0|58|XX)/.test(sqlState);
}

/**
 * True if the connection failed, not the statement: anything idempotent can be repeated on a new connection.
 * False for deadlocks and serialization failures: there the connection is fine.
 */
export function isRetryableConnectionError(error: unknown): boolean {
  const sqlState = sqlStateOf(error);
  if (sqlState !== undefined) return kindOfSqlState(sqlState).retryable === true;
  if (error instanceof HeadroomError) return error.code === "database_unreachable" || error.code === "connection_lost";
  return connectionCodeOf(error) !== undefined;
}

/**
 * Failures that the statement did not cause and that pass by themselves: a deadlock, a lock that was waited for too long, a full disk, a
 * server out of memory, a statement time-out.
 */
export function isPassing(sqlState: string | undefined): boolean {
  return /^(40|53|55P03|57014|58)/.test(sqlState ?? "");
}
