/**
 * Errors of the REST surface, as PostgREST says them: `{code, details, hint, message}`.
 *
 * Owns: which status a SQLSTATE gets there. Does not own: our own routes' errors (problem.ts).
 */
import { HeadroomError, toHeadroomError } from "../../db/errors.ts";

export function postgrestErrorResponse(thrown: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  const error = thrown instanceof HeadroomError ? thrown : toHeadroomError(thrown);
  const { sqlState, code, message, detail, hint, httpStatus } = error;
  const body = { code: sqlState ?? code, details: detail ?? null, hint: hint ?? null, message };
  return new Response(JSON.stringify(body), {
    status: httpStatus,
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
  });
}
