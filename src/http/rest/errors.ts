/**
 * Errors of the REST surface, in PostgREST's format: `{code, details, hint, message}`.
 *
 * Owns: which status a SQLSTATE gets there, and the errors that the surface itself raises. Does not own: our own routes' errors
 * (problem.ts).
 */
import { z } from "zod";
import { HeadroomError, toHeadroomError } from "../../db/errors.ts";
import { InvalidToken } from "../auth/credentials.ts";
import type { SessionRole } from "../auth/session.ts";

export interface RestErrorBody {
  readonly code: string;
  readonly details: string | null;
  readonly hint: string | null;
  readonly message: string;
}

/** An error that the surface raises itself, under PostgREST's own code. */
export class RestError extends HeadroomError {
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: string,
    message: string,
    options: { details?: string | undefined; hint?: string | undefined; headers?: Record<string, string> } = {},
  ) {
    super(code, message, { httpStatus: status, detail: options.details, hint: options.hint });
    this.headers = options.headers ?? {};
  }
}

/** A key of two characters stands for the rest of its class. What is not listed is 400. */
const statusBySqlState: Readonly<Record<string, number>> = {
  "08": 503,
  "09": 500,
  "0L": 403,
  "0P": 403,
  "23503": 409,
  "23505": 409,
  "25006": 405,
  "25": 500,
  "28": 403,
  "2D": 500,
  "38": 500,
  "39": 500,
  "3B": 500,
  "40": 500,
  "42883": 404,
  "42P01": 404,
  "42P17": 500,
  "53400": 500,
  "53": 503,
  // PostgREST answers 500. Nested input is what exceeds the stack, so here the error is the caller's.
  "54001": 400,
  "54": 500,
  "55": 500,
  "57P01": 503,
  "57": 500,
  "58": 500,
  F0: 500,
  HV: 500,
  P0001: 400,
  P0: 500,
  XX: 500,
};

function statusOf(sqlState: string, role: SessionRole | undefined): number {
  const named = /^PT([1-5]\d\d)$/.exec(sqlState)?.[1];
  if (named !== undefined) return Math.max(200, Number(named));
  if (sqlState === "42501") return role === undefined || role === "anon" ? 401 : 403;
  return statusBySqlState[sqlState] ?? statusBySqlState[sqlState.slice(0, 2)] ?? 400;
}

interface RestAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: RestErrorBody;
}

/** The database's message, word for word; the product's own table would replace it. */
interface DatabaseWords {
  readonly sqlState: string;
  readonly message: string;
  readonly detail: string | null;
  readonly hint: string | null;
}

function wordsOf(error: HeadroomError): DatabaseWords | undefined {
  const { cause, sqlState } = error;
  if (sqlState === undefined) return undefined;
  if (!(cause instanceof Error)) return { sqlState, message: error.message, detail: null, hint: null };
  const said = (name: "detail" | "hint"): string | null => {
    const value: unknown = name in cause ? Reflect.get(cause, name) : undefined;
    return typeof value === "string" ? value : null;
  };
  return { sqlState, message: cause.message, detail: said("detail"), hint: said("hint") };
}

const raisedMessage = z.object({
  code: z.string(),
  message: z.string(),
  details: z.string().nullish(),
  hint: z.string().nullish(),
});
const raisedDetail = z.object({
  status: z.number().int().min(200).max(599),
  headers: z.record(z.string(), z.string()).optional(),
});

/** `raise sqlstate 'PGRST'`: message and detail are JSON that describes the whole answer. */
function answerAsRaised(words: DatabaseWords): RestAnswer {
  const message = raisedMessage.safeParse(jsonOf(words.message));
  const detail = raisedDetail.safeParse(jsonOf(words.detail ?? ""));
  if (message.success && detail.success) {
    const { code, message: text, details, hint } = message.data;
    return {
      status: detail.data.status,
      headers: detail.data.headers ?? {},
      body: { code, details: details ?? null, hint: hint ?? null, message: text },
    };
  }
  return answerOf(
    new RestError(500, "PGRST121", "Could not parse JSON in the \"RAISE SQLSTATE 'PGRST'\" error", {
      details: `Invalid JSON value for ${message.success ? "DETAIL" : "MESSAGE"}`,
      hint: message.success
        ? "DETAIL must be a JSON object with obligatory keys: 'status', 'headers' and optional key: 'status_text'."
        : "MESSAGE must be a JSON object with obligatory keys: 'code', 'message' and optional keys: 'details', 'hint'.",
    }),
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Missing configuration is explained to the operator, in the log. A caller gets the refusal's code and whom to ask. */
function factsOf({ sqlState, detail, hint }: DatabaseWords) {
  const withheld = sqlState.startsWith("PT5") || sqlState === "HR009";
  if (!withheld) return { details: detail, hint };
  return {
    details: /^[a-z_]+(?=:|$)/.exec(detail ?? "")?.[0] ?? null,
    hint: "Give the operator the request id (X-Request-Id).",
  };
}

function answerOf(error: HeadroomError, role?: SessionRole): RestAnswer {
  if (error instanceof InvalidToken) {
    const challenge = `Bearer error="invalid_token", error_description="${error.message.replaceAll('"', "'")}"`;
    return {
      status: 401,
      headers: { "www-authenticate": challenge },
      body: { code: "PGRST301", details: null, hint: null, message: error.message },
    };
  }
  const words = wordsOf(error);
  if (words?.sqlState === "PGRST") return answerAsRaised(words);
  if (words !== undefined) {
    const { sqlState: code, message } = words;
    const status = statusOf(code, role);
    return { status, headers: headersFor(status, error.waitSeconds), body: { code, ...factsOf(words), message } };
  }
  const { code, message, detail = null, hint = null, httpStatus: status } = error;
  const headers = error instanceof RestError ? error.headers : {};
  if (status < 500 || error instanceof RestError) {
    return { status, headers: { ...headersFor(status), ...headers }, body: { code, details: detail, hint, message } };
  }
  // A lost connection or a fault of ours: the message may name hosts and statements.
  const lost = status === 503;
  return {
    status: lost ? 503 : 500,
    headers: headersFor(status),
    body: {
      code: lost ? "PGRST000" : "PGRSTX00",
      details: null,
      hint: null,
      message: lost ? "Database connection error. Retrying the connection." : "Something went wrong on our side.",
    },
  };
}

function headersFor(status: number, waitSeconds?: string): Record<string, string> {
  if (status === 401) return { "www-authenticate": "Bearer" };
  if (waitSeconds !== undefined) return { "retry-after": waitSeconds };
  return status === 503 ? { "retry-after": "0" } : {};
}

export function postgrestErrorResponse(
  thrown: unknown,
  headers: Readonly<Record<string, string>> = {},
  role?: SessionRole,
): Response {
  const answer = answerOf(thrown instanceof HeadroomError ? thrown : toHeadroomError(thrown), role);
  const all = new Headers({ "content-type": "application/json; charset=utf-8" });
  for (const [name, value] of Object.entries({ ...answer.headers, ...headers })) {
    // A function may raise a header that is not valid; it is left out, and the answer is still sent.
    if (/^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) all.set(name, value);
  }
  const empty = answer.status === 204 || answer.status === 304 || answer.status === 205;
  return new Response(empty ? null : JSON.stringify(answer.body), { status: answer.status, headers: all });
}
