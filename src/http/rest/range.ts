/**
 * Which part of a result is requested, and which part was returned.
 *
 * Owns: limit, offset, the Range header, Content-Range and the statuses that follow from it.
 */
import { RestError } from "./errors.ts";

export interface Page {
  readonly offset: number;
  readonly limit: number | undefined;
}

/** The header applies only to reads. If limit and offset are given too, the rows that both allow are meant. */
export function parsePage(params: URLSearchParams, rangeHeader: string | null, maxRows: number): Page {
  const limit = wholeNumber(params.get("limit"), "limit");
  const offset = wholeNumber(params.get("offset"), "offset") ?? 0;
  const header = rangeHeader === null ? undefined : parseRangeHeader(rangeHeader);
  const first = Math.max(offset, header?.first ?? 0);
  const ends = [
    limit === undefined ? Infinity : offset + limit,
    header?.last === undefined ? Infinity : header.last + 1,
    first + maxRows,
  ];
  const end = Math.min(...ends);
  return { offset: first, limit: Number.isFinite(end) ? Math.max(0, end - first) : undefined };
}

function wholeNumber(text: string | null, name: "limit" | "offset"): number | undefined {
  if (text === null) return undefined;
  const value = Number(text);
  if (/^-?\d{1,15}$/.test(text) && value >= 0) return value;
  throw unsatisfiable(
    `${name === "limit" ? "Limit" : "Offset"} should be a whole number greater than or equal to zero.`,
  );
}

/** A header that is not a range of items is ignored. */
function parseRangeHeader(text: string): { first: number; last: number | undefined } | undefined {
  const match = /^(?:items=)?(\d{1,15})-(\d{1,15})?$/.exec(text.trim());
  if (match?.[1] === undefined) return undefined;
  const first = Number(match[1]);
  const last = match[2] === undefined ? undefined : Number(match[2]);
  if (last !== undefined && last < first) {
    throw unsatisfiable("The lower boundary must be lower than or equal to the upper boundary in the Range header.");
  }
  return { first, last };
}

export function unsatisfiable(details: string, headers: Record<string, string> = {}): RestError {
  return new RestError(416, "PGRST103", "Requested range not satisfiable", { details, headers });
}

/** `0-1/4`, `*\/4` for an empty page, `0-1/*` without a count. */
export function contentRange(offset: number, rows: number, total: number | undefined): string {
  return `${rows === 0 ? "*" : `${offset}-${offset + rows - 1}`}/${total ?? "*"}`;
}

/** Partial if more rows are known to exist than were returned. */
export function pageStatus(rows: number, total: number | undefined): 200 | 206 {
  return total !== undefined && rows < total ? 206 : 200;
}
