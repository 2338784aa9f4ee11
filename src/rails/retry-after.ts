/**
 * Reads the Retry-After header of RFC 9110: a number of seconds, or a date.
 *
 * Owns: the grammar and the cap. Does not own: what a rail or the engine does with the pause request.
 */

/** The longest pause that the engine makes at a receiver's request. */
export const maxRetryAfterMs = 24 * 60 * 60 * 1000;

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;

/** The three forms of an HTTP date; the last two are obsolete, and a recipient must still read them. */
const dateForms: readonly RegExp[] = [
  /^[A-Z][a-z]{2}, (?<day>\d{2}) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  /^[A-Z][a-z]{5,8}, (?<day>\d{2})-(?<month>[A-Z][a-z]{2})-(?<year>\d{2}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  /^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>\d{2}:\d{2}:\d{2}) (?<year>\d{4})$/,
];

/**
 * How long the receiver asks us to wait, between 0 and 24 hours; undefined if it asks for nothing, or for nonsense.
 *
 * `sentDate` is the Date header of the same answer. A date is measured from it if it can be read, otherwise from
 * our own clock. With both dates from one clock, a worker whose clock is hours off still waits as asked.
 */
export function parseRetryAfter(
  value: string | undefined,
  sentDate: string | undefined,
  now: Date,
): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, maxRetryAfterMs);
  const until = parseHttpDate(text, now);
  if (until === undefined) return undefined;
  const from = (sentDate === undefined ? undefined : parseHttpDate(sentDate.trim(), now)) ?? now.getTime();
  return Math.min(Math.max(until - from, 0), maxRetryAfterMs);
}

/** Milliseconds since the epoch, or undefined for anything that is not one of the three forms or not a real date. */
export function parseHttpDate(text: string, now: Date): number | undefined {
  for (const form of dateForms) {
    const parts = form.exec(text)?.groups;
    if (parts === undefined) continue;
    const [hour, minute, second] = (parts["time"] ?? "").split(":").map(Number);
    return instantOf(
      yearOf(parts["year"] ?? "", now),
      parts["month"] ?? "",
      Number(parts["day"]),
      hour,
      minute,
      second,
    );
  }
  return undefined;
}

/** RFC 9110: a two-digit year that would lie more than 50 years ahead means the century before. */
function yearOf(text: string, now: Date): number {
  const year = Number(text);
  if (text.length === 4) return year;
  const century = Math.floor(now.getUTCFullYear() / 100) * 100;
  const guess = century + year;
  return guess > now.getUTCFullYear() + 50 ? guess - 100 : guess;
}

function instantOf(
  year: number,
  monthName: string,
  day: number,
  hour = Number.NaN,
  minute = Number.NaN,
  second = Number.NaN,
): number | undefined {
  const month = (months as readonly string[]).indexOf(monthName);
  // The grammar allows a leap second. The platform has none, so it is read as the second before.
  const wholeSecond = second === 60 ? 59 : second;
  if (month < 0 || hour > 23 || minute > 59 || wholeSecond > 59) return undefined;
  const date = new Date(Date.UTC(year, month, day, hour, minute, wholeSecond));
  // Date.UTC reads the years 0 to 99 as the 1900s.
  date.setUTCFullYear(year);
  // Date.UTC rolls 31 February over into March; there is no such date.
  return date.getUTCDate() === day && date.getUTCMonth() === month ? date.getTime() : undefined;
}
