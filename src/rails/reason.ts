/**
 * Makes the sentence that an outcome carries safe to store and to show.
 *
 * Owns: what may be quoted of a receiver's answer, and how much. Does not own: classifying it, which is done by code alone.
 */
import { maxReasonChars } from "../contract/rail.ts";

const maxExcerptChars = 200;
const redacted = "[redacted]";
/** Shorter values are not secrets, and replacing them would make the text unreadable. */
const minSecretChars = 6;

/**
 * A short quotation of a receiver's text: one line, printable, with every given secret removed first. The secrets are
 * searched in the forms in which a receiver is likely to echo them.
 */
export function excerptOf(text: string, secrets: Iterable<string>): string {
  const line = printable(redact(text, secrets)).trim();
  return line.length > maxExcerptChars ? `${sliceWhole(line, maxExcerptChars)}…` : line;
}

/** One printable line of at most 300 characters. */
export function reasonOf(text: string): string {
  const line = printable(text).trim();
  return line.length > maxReasonChars ? `${sliceWhole(line, maxReasonChars - 1)}…` : line;
}

export function redact(text: string, secrets: Iterable<string>): string {
  let clean = text;
  // Longest first, so that no recognizable rest remains of a secret that contains another.
  const values = [...secrets].filter((secret) => secret.length >= minSecretChars);
  for (const secret of values.toSorted((a, b) => b.length - a.length)) {
    for (const form of formsOf(secret)) clean = clean.replaceAll(form, redacted);
  }
  return clean;
}

function formsOf(secret: string): Set<string> {
  const escaped = JSON.stringify(secret).slice(1, -1);
  // Some JSON writers escape the slash, which base64 is full of.
  return new Set([secret, escaped, escaped.replaceAll("/", "\\/"), encodeURIComponent(secret.toWellFormed())]);
}

/** Control characters could forge lines in a log or colours on a terminal. */
function printable(text: string): string {
  return text.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ");
}

/** Cuts without leaving half of a surrogate pair, which Postgres would refuse to store. */
function sliceWhole(text: string, length: number): string {
  const cut = text.slice(0, length);
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
}
