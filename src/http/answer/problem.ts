/**
 * Errors as problem details (RFC 9457), from the one table in src/db/errors.ts.
 *
 * Owns: what of an error may be shown. Does not own: codes and statuses, nor the REST surface's own form (rest/errors.ts).
 */
import { HeadroomError, provesRollback, toHeadroomError } from "../../db/errors.ts";

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail?: string | undefined;
  readonly hint?: string | undefined;
  readonly request_id: string;
}

export const problemType = "application/problem+json";

interface Sayable {
  readonly code: string;
  readonly title: string;
  readonly detail?: string | undefined;
  readonly hint?: string | undefined;
}

export function describeProblem(thrown: unknown, requestId: string): Problem {
  const error = thrown instanceof HeadroomError ? thrown : toHeadroomError(thrown);
  const { code, title, detail, hint } = sayable(error);
  return {
    type: `urn:headroom:problem:${code}`,
    title,
    status: error.httpStatus,
    code,
    ...(detail === undefined ? {} : { detail }),
    ...(hint === undefined ? {} : { hint }),
    request_id: requestId,
  };
}

/**
 * What may be said of an error. A refusal of ours is meant to be read; but what is not set up is explained to the operator, in the
 * log. Of what the database says by itself only sentences about bad values are passed on; anything else may name hosts, tables
 * and statements.
 */
function sayable(error: HeadroomError): Sayable {
  const { code, message: title, detail, hint, sqlState, httpStatus } = error;
  if (isOurs(error)) {
    return httpStatus < 500
      ? { code, title, detail, hint }
      : { code, title, hint: "Tell the operator the request id." };
  }
  if (httpStatus >= 500) return unknownFailure(error);
  if (sqlState?.startsWith("22") === true) return { code, title };
  return { code, title: "The database refused this.", hint: "Correct what you sent. Nothing was changed." };
}

/** Raised by our own SQL or TypeScript on purpose: its sentences are written for callers. */
function isOurs({ sqlState, code, httpStatus }: HeadroomError): boolean {
  if (sqlState !== undefined) return /^(PT|HR)/.test(sqlState);
  return httpStatus < 500 || ["not_configured", "shutting_down", "provider_unreachable"].includes(code);
}

function unknownFailure(error: HeadroomError): Sayable {
  if (error.httpStatus === 503) {
    const code = "unavailable";
    return provesRollback(error)
      ? {
          code,
          title: "The database does not answer as it should. Nothing was changed.",
          hint: "Try again in a moment.",
        }
      : {
          code,
          title: "The database does not answer. What this was to change may have been changed.",
          hint: "Look whether it was done, then try again.",
        };
  }
  return {
    code: "internal",
    title: "Something went wrong on our side.",
    hint: "Try again. If it stays, tell the operator the request id; the log has the rest.",
  };
}

export function problemResponse(
  thrown: unknown,
  requestId: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const problem = describeProblem(thrown, requestId);
  return new Response(`${JSON.stringify(problem)}\n`, {
    status: problem.status,
    headers: {
      "content-type": problemType,
      ...(problem.status === 401 ? { "www-authenticate": "Bearer" } : {}),
      ...(problem.status === 503 ? { "retry-after": "1" } : {}),
      ...headers,
    },
  });
}
