/**
 * How values of the database become values of JavaScript, the same on every connection, ours or a user's.
 *
 * The driver's defaults turn a bigint into a string and a date into midnight of whatever zone the process is in. These
 * parsers are passed with each query, because a user's own connection must not be changed.
 */
import { types, type CustomTypesConfig } from "pg";
import { HeadroomError } from "../errors.ts";
import { parseStored } from "./exact-json.ts";

const oid = {
  int8: 20,
  int8Array: 1016,
  date: 1082,
  dateArray: 1182,
  interval: 1186,
  timestamptz: 1184,
  nameArray: 1003,
  textArray: 1009,
  json: 114,
  jsonb: 3802,
} as const;

/** The range of a Date, in milliseconds before and after the epoch. */
const endOfTimeMs = 8.64e15;

/** A bigint as a number. Sequence numbers and counts stay far below 2^53; a larger value is refused, never rounded. */
export function parseBigint(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new HeadroomError("database_error", `The number ${text} is too large for JavaScript.`);
}

const parseFiniteTime: (text: string) => Date = types.getTypeParser(types.builtins.TIMESTAMPTZ, "text");

/** A time as a Date. The driver turns "infinity" into a number, which no caller expects. */
function parseTimestamptz(text: string): Date {
  if (text === "infinity") return new Date(endOfTimeMs);
  if (text === "-infinity") return new Date(-endOfTimeMs);
  return parseFiniteTime(text);
}

/** The driver does not parse a list of names, although it is written like a list of texts. */
const parseTexts: (text: string) => unknown = types.getTypeParser(oid.textArray as number, "text");

const asIs = (text: string): string => text;
/** Arrays of plain words: no element holds a comma, a quote or a brace. */
const split = (text: string): (string | null)[] =>
  text === "{}"
    ? []
    : text
        .slice(1, -1)
        .split(",")
        .map((item) => (item === "NULL" ? null : item));

const parsers: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [oid.int8, parseBigint],
  [oid.int8Array, (text) => split(text).map((item) => (item === null ? null : parseBigint(item)))],
  [oid.date, asIs],
  [oid.dateArray, split],
  [oid.interval, asIs],
  [oid.timestamptz, parseTimestamptz],
  [oid.nameArray, parseTexts],
  [oid.json, parseStored],
  [oid.jsonb, parseStored],
]);

/** For the `types` of a query or a pool. */
export const valueTypes: CustomTypesConfig = {
  getTypeParser(id: number, format?: "text" | "binary") {
    const own = format === "binary" ? undefined : parsers.get(id);
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- an oid may be of a type that the driver does not know
    return own ?? types.getTypeParser(id, format);
  },
};
