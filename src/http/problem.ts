/**
 * Errors as problem details (RFC 9457), from the one table in src/db/errors.ts.
 *
 * Owns: what of an error may be shown. Does not own: codes and statuses, nor the REST surface's own form (rest/errors.ts).
 */
import { HeadroomError, toHeadroomError } from "../db/errors.ts";

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

/**
 * What may be said of an error. A refusal of ours is meant to be read. Of what the database says by itself only bad values
 * are passed on; anything else may name hosts, tables and statements.
 */
export function describeProblem(thrown: unknown, requestId: string): Problem {
  const error = thrown instanceof HeadroomError ? thrown : toHeadroomError(thrown);
  const known = error.httpStatus < 500 || isOurs(error);
  const { code, detail, hint } = error;
  const shown = known ? error : unknownError(error);
  return {
    type: `urn:headroom:problem:${known ? code : shown.code}`,
    title: shown.message,
    status: error.httpStatus,
    code: shown.code,
    ...(known && detail !== undefined ? { detail } : {}),
    ...(known ? (hint === undefined ? {} : { hint }) : { hint: shown.hint }),
    request_id: requestId,
  };
}

/** Raised by our own SQL or TypeScript on purpose: its sentences are written for callers. */
function isOurs({ sqlState, code }: HeadroomError): boolean {
  if (sqlState !== undefined) return /^(PT|HR)/.test(sqlState);
  return ["not_configured", "shutting_down", "provider_unreachable"].includes(code);
}

function unknownError(error: HeadroomError): HeadroomError {
  if (error.httpStatus === 503) {
    return new HeadroomError("unavailable", "The database does not answer as it should. Nothing was changed.", {
      httpStatus: 503,
      hint: "Try again in a moment.",
    });
  }
  return new HeadroomError("internal", "Something went wrong on our side.", {
    httpStatus: error.httpStatus,
    hint: "Try again. If it stays, tell the operator the request id; the log has the rest.",
  });
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
