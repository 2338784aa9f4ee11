/**
 * JSON and the digits in it. JavaScript holds a number as a double: 9007199254740993 parsed and written again is …992.
 *
 * Owns: telling whether a text has a number that would come out as another, and reading JSON so that such a number stays the text that
 * it was, and is written back the same. Does not own: what callers do about it.
 */

type Parsed = null | boolean | number | string | Parsed[] | { [name: string]: Parsed };

/** The database takes payloads no deeper than this (`headroom.too_deep`). */
const deepestLevel = 64;

/** No honest number is longer. Postgres writes exponents out: 1e131071 becomes 131,072 digits, the most that it can store. */
const maxDigits = 1_000;

/** A double holds any fifteen digits; Postgres writes numbers without exponents. */
const sixteenDigits = /[0-9][0-9.]{15}/;

/** Part of ES2026 that the compiler's library does not know yet. */
interface ExactJson {
  parse(text: string, reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown): Parsed;
  rawJSON(text: string): Parsed;
  isRawJSON(value: unknown): value is { readonly rawJSON: string };
}
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Node has had them since version 21
const exact = JSON as unknown as ExactJson;

/** Whether JSON as Postgres writes it has a number that JavaScript would change. */
export function hasInexactNumber(text: string): boolean {
  if (!sixteenDigits.test(text)) return false;
  let found = false;
  exact.parse(text, (_name, value, { source }) => {
    found ||= typeof value === "number" && source !== undefined && !isHeld(source, value);
    return value;
  });
  return found;
}

/** JSON as Postgres writes it. A number that JavaScript would change becomes an object that is written back as the same number. */
export function parseStored(text: string): Parsed {
  if (!sixteenDigits.test(text)) {
    const parsed: Parsed = JSON.parse(text);
    return parsed;
  }
  return parseKeepingDigits(text);
}

/**
 * JSON from outside whose values are passed on as they are, with their digits. Undefined if it is not JSON, or is nested deeper or has
 * longer numbers than the database can store.
 */
export function parseToPassOn(text: string): Parsed | undefined {
  try {
    const parsed = parseKeepingDigits(text, maxDigits);
    return depthOf(parsed, deepestLevel + 1) > deepestLevel ? undefined : parsed;
  } catch {
    return undefined;
  }
}

/** The digits of a number that these functions read; undefined if the value is not a number. */
export function digitsOf(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return exact.isRawJSON(value) ? value.rawJSON : undefined;
}

function parseKeepingDigits(text: string, most = Infinity): Parsed {
  return exact.parse(text, (_name, value, { source }) => {
    if (typeof value !== "number" || source === undefined || isHeld(source, value)) return value;
    if (source.length + Math.abs(Number(/[eE](.*)$/.exec(source)?.[1] ?? 0)) > most) throw new RangeError("too long");
    return exact.rawJSON(source);
  });
}

/** How many levels of lists and objects there are, up to the maximum given. */
function depthOf(value: Parsed, most: number): number {
  if (typeof value !== "object" || value === null || exact.isRawJSON(value) || most === 0) return 0;
  let deepest = 0;
  for (const inner of Object.values(value)) deepest = Math.max(deepest, depthOf(inner, most - 1));
  return deepest + 1;
}

function isHeld(source: string, value: number): boolean {
  return Number.isFinite(value) && decimalOf(source) === decimalOf(String(value));
}

/** One way of writing each number: its sign, its digits without zeros around them, and a power of ten. */
function decimalOf(text: string): string {
  const [, sign = "", whole = "", fraction = "", power = "0"] =
    /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  return `${sign}${significant}e${Number(power) - fraction.length + digits.length - significant.length}`;
}
