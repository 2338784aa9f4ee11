/**
 * Reads a call's parameters, with Stripe's own refusals of missing, unknown and invalid ones.
 */
import { z } from "zod";
import type { FormValue } from "../form.ts";
import { StripeRefusal } from "../refusal.ts";

export type Parameters = Readonly<Record<string, FormValue>>;

/** Stripe's limits. */
const maxMetadata = 50;
export const metadata = z
  .record(z.string().max(40), z.string().max(500))
  .refine((given) => Object.keys(given).length <= maxMetadata, { message: "You may have up to 50 metadata keys." })
  .optional();
export const count = z.coerce.number().int().min(1);
export const ignored = z.unknown().optional();

export function parse<Schema extends z.ZodType>(schema: Schema, given: Parameters): z.output<Schema> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue?.code === "unrecognized_keys") {
    const param = issue.keys[0] ?? "";
    throw new StripeRefusal(400, `Received unknown parameter: ${param}`, { code: "parameter_unknown", param });
  }
  const [first, ...rest] = (issue?.path ?? []).map(String);
  const param = `${first ?? ""}${rest.map((part) => `[${part}]`).join("")}`;
  if (first !== undefined && rest.length === 0 && given[first] === undefined) {
    throw new StripeRefusal(400, `Missing required param: ${param}.`, { code: "parameter_missing", param });
  }
  throw new StripeRefusal(
    400,
    `${param === "" ? "" : `Invalid ${param}: `}${issue?.message ?? "not valid"}`,
    param === "" ? {} : { param },
  );
}

/** The parts of an answer to expand. */
export function expandOf(given: Parameters): readonly string[] {
  const { expand } = given;
  return Array.isArray(expand) ? expand.filter((each) => typeof each === "string") : [];
}
