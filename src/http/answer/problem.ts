/**
 * Errors as problem details (RFC 9457), from the one table in src/db/errors.ts.
 *
 * Owns: which parts of an error may be shown. Does not own: codes and statuses, nor the REST surface's own form (rest/errors.ts).
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

interface Shown {
  readonly code: string;
  readonly title: string;
  readonly detail?: string | undefined;
  readonly hint?: string | undefined;
}

export function describeProblem(thrown: unknown, requestId: string): Problem {
  const error = thrown instanceof HeadroomError ? thrown : toHeadroomError(thrown);
  const { code, title, detail, hint } = shownOf(error);
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
 * What callers may see of an error. Our own refusals are written for them, except that missing configuration is explained to the operator,
 * in the log. Of Postgres' own messages only those about bad values are passed on; others may name hosts, tables and statements.
 */
function shownOf(error: HeadroomError): Shown {
  const { code, message: title, detail, hint, sqlState, httpStatus } = error;
  if (isOurs(error)) {
    return httpStatus < 500
      ? { code, title, detail, hint }
      : { code, title, hint: "Give the operator the request id." };
  }
  if (httpStatus >= 500) return unknownFailure(error);
  if (sqlState?.startsWith("22") === true) return { code, title };
  return { code, title: "The database refused this.", hint: "Correct what you sent. Nothing was changed." };
}

/** Raised by our own SQL or TypeScript on purpose: its text is written for callers. */
function isOurs({ sqlState, code, httpStatus }: HeadroomError): boolean {
  if (sqlState !== undefined) return /^(PT|HR)/.test(sqlState);
  return httpStatus < 500 || ["not_configured", "shutting_down", "provider_unreachable"].includes(code);
}

function unknownFailure(error: HeadroomError): Shown {
  if (error.httpStatus === 503) {
    const code = "unavailable";
    return provesRollback(error)
      ? {
          code,
          title: "The database is not available. Nothing was changed.",
          hint: "Try again in a moment.",
        }
      : {
          code,
          title: "The database did not answer. Data may have been changed.",
          hint: "Check whether it has changed, then try again.",
        };
  }
  return {
    code: "internal",
    title: "Something went wrong on our side.",
    hint: "Try again. If it happens again, give the operator the request id; the log has the details.",
  };
}

export function problemResponse(
  thrown: unknown,
  requestId: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const error = thrown instanceof HeadroomError ? thrown : toHeadroomError(thrown);
  const problem = describeProblem(error, requestId);
  const waitSeconds = problem.status === 503 ? "1" : error.waitSeconds;
  return new Response(`${JSON.stringify(problem)}\n`, {
    status: problem.status,
    headers: {
      "content-type": problemType,
      ...(problem.status === 401 ? { "www-authenticate": "Bearer" } : {}),
      ...(waitSeconds === undefined ? {} : { "retry-after": waitSeconds }),
      ...headers,
    },
  });
}
