/** The body of a form, as a browser sends it. */
import { HeadroomError } from "../../db/errors.ts";
import { readFields } from "../../web/form.ts";
import type { RouteContext } from "../route.ts";

/**
 * A field that was sent twice is refused, because it is not clear which value is meant. Browsers send each line break as two characters
 * (CR LF) but count it as one against `maxlength`, so it becomes one here, before its length is checked.
 */
export async function readForm(context: RouteContext): Promise<Readonly<Record<string, string>>> {
  const type = context.request.headers.get("content-type") ?? "";
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) {
    throw new HeadroomError("unsupported_media_type", "The body must be a form.", {
      hint: "Send it with the header content-type: application/x-www-form-urlencoded.",
    });
  }
  const sent = readFields(await context.text());
  if (sent === undefined) throw new HeadroomError("invalid_input", "The form has too many fields.");
  const fields = new Map<string, string>();
  for (const [name, value] of sent) {
    if (fields.has(name)) throw new HeadroomError("invalid_input", "A field of the form was sent twice.");
    if (value.includes("\0")) throw new HeadroomError("invalid_input", "A field of the form contains a zero byte.");
    fields.set(name, value.replaceAll(/\r\n?/g, "\n"));
  }
  return Object.fromEntries(fields);
}
