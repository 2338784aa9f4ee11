/**
 * The fields of a form as browsers and clients send it. Any other body has no fields, and is refused where a field is required.
 */
import { readFields } from "../../web/form.ts";
import type { SandboxContext } from "./exchange.ts";

/** A field that was sent several times is a list. */
export type Form = Readonly<Record<string, string | readonly string[]>>;

export async function readForm(context: SandboxContext): Promise<Form> {
  const type = context.req.header("content-type") ?? "";
  if (!type.startsWith("application/x-www-form-urlencoded")) return {};
  const fields = readFields(await context.req.text());
  if (fields === undefined) return {};
  return Object.fromEntries(
    [...new Set(fields.keys())].map((name): [string, string | string[]] => {
      const values = fields.getAll(name);
      return [name, values.length === 1 ? (values[0] ?? "") : values];
    }),
  );
}
