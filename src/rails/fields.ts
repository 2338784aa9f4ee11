/**
 * A rail's settings as data: one list drives the form, the validation and the documentation, so that they cannot
 * drift apart.
 *
 * Owns: the shape of a field and what is derived from a list of fields. Does not own: any rail's fields.
 */
import type { z } from "zod";
import { HeadroomError } from "../db/errors.ts";

export interface RailField {
  readonly name: string;
  /** Its label in a form. */
  readonly label: string;
  /** One or two sentences for the person who fills it in. */
  readonly help: string;
  /** Shown as a placeholder and in the documentation; never a working secret. */
  readonly example: string;
  /** True if the value must never be shown once it is stored. */
  readonly secret: boolean;
  readonly required: boolean;
  readonly schema: z.ZodType;
}

/** What is wrong, by field and in words; never the value itself, which may be a secret. */
export function problemsOf(error: z.ZodError): string {
  return error.issues.map((issue) => `${issue.path.join(".") || "settings"}: ${issue.message}`).join("; ");
}

/** Checks the settings of a rail. The error names fields and rules, never values. */
export function requireSettings<T>(rail: string, schema: z.ZodType<T>, settings: unknown): T {
  const parsed = schema.safeParse(settings);
  if (parsed.success) return parsed.data;
  throw new HeadroomError("rail_invalid", `The settings of the rail "${rail}" cannot be used.`, {
    detail: problemsOf(parsed.error),
    hint: "Correct the settings that the detail names.",
  });
}

/** A Markdown table of the fields, for the reference. */
export function fieldTable(fields: readonly RailField[]): string {
  const rows = fields.map(
    (field) =>
      `| \`${field.name}\` | ${field.required ? "yes" : "no"} | ${field.secret ? "yes" : "no"} | ` +
      `${cell(field.help)} | \`${cell(field.example)}\` |`,
  );
  return ["| field | required | secret | meaning | example |", "|---|---|---|---|---|", ...rows, ""].join("\n");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll(/\s+/g, " ");
}
