/**
 * What a caller of the Web API sent: form or JSON, a token in the header or in the body, nested values as JSON in a form field.
 *
 * Owns: parsing it, and Slack's refusals when that fails. Does not own: what a method does with it.
 */
import { z } from "zod";
import { readFields } from "../../web/form.ts";

/** A refusal in Slack's own words. It is answered with status 200, as Slack does. */
export class SlackError extends Error {
  override readonly name = "SlackError";
  readonly error: string;
  readonly messages: readonly string[];

  constructor(error: string, messages: readonly string[] = []) {
    super(error);
    this.error = error;
    this.messages = messages;
  }
}

export type Arguments = Readonly<Record<string, unknown>>;

const nested = new Set(["blocks", "metadata", "view", "attachments", "unfurled_attachments"]);
const object = z.record(z.string(), z.unknown());

export function readArguments(contentType: string, text: string, query: URLSearchParams): Arguments {
  const fromQuery = Object.fromEntries(query);
  if (text === "") return unpacked(fromQuery);
  if (contentType.startsWith("application/json")) {
    const parsed = object.safeParse(parseJson(text, "json_not_object"));
    if (!parsed.success) throw new SlackError("json_not_object");
    return unpacked({ ...fromQuery, ...parsed.data });
  }
  if (!contentType.startsWith("application/x-www-form-urlencoded")) throw new SlackError("invalid_form_data");
  const fields = readFields(text);
  if (fields === undefined) throw new SlackError("invalid_form_data");
  return unpacked({ ...fromQuery, ...Object.fromEntries(fields) });
}

function unpacked(given: Record<string, unknown>): Arguments {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) =>
      nested.has(name) && typeof value === "string" && value !== ""
        ? [name, parseJson(value, `invalid_${name}_format`)]
        : [name, value],
    ),
  );
}

function parseJson(text: string, error: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SlackError(error);
  }
}

/** Reads the arguments of a method by its schema; the error names the first missing or invalid one. */
export function parse<Shape extends z.ZodType>(schema: Shape, given: Arguments): z.output<Shape> {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  throw new SlackError(
    "invalid_arguments",
    result.error.issues.map((issue) => `[ERROR] ${issue.message} [json-pointer:/${issue.path.map(String).join("/")}]`),
  );
}

/** Forms contain only text: `true` and `1` mean true. */
export const flag = z
  .union([z.boolean(), z.string(), z.number()])
  .optional()
  .transform((value) => value === true || value === "true" || value === "1" || value === 1);
export const text = z.union([z.string(), z.number()]).transform(String);
export const optionalText = text.optional();
export const limit = (fallback: number, max: number) =>
  z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .transform((value) => Math.min(value === undefined || value === 0 ? fallback : value, max));

/** Opaque to callers: where the next page begins. */
export function cursorOf(place: string): string {
  return Buffer.from(`next:${place}`).toString("base64");
}

export function placeOf(cursor: string | undefined): string | undefined {
  if (cursor === undefined || cursor === "") return undefined;
  const decoded = Buffer.from(cursor, "base64").toString();
  if (!decoded.startsWith("next:")) throw new SlackError("invalid_cursor");
  return decoded.slice("next:".length);
}
