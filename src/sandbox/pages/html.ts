/**
 * HTML for the stand-ins' pages: whatever is put into a template is escaped, unless it is HTML itself.
 *
 * Owns: escaping. Does not own: what pages look like. The stand-ins are no part of the product's server and share no page with it.
 */

/** A piece of a page; only `html` makes one. */
export class Html {
  readonly text: string;

  private constructor(text: string) {
    this.text = text;
  }

  static from(strings: TemplateStringsArray, values: readonly Fragment[]): Html {
    return new Html(strings.map((part, index) => part + (index < values.length ? render(values[index]) : "")).join(""));
  }
}

/** What may stand in a template. Nothing comes of null, undefined and booleans, so that `condition && html` can be written. */
export type Fragment = Html | string | number | boolean | null | undefined | readonly Fragment[];

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function render(value: Fragment): string {
  if (value instanceof Html) return value.text;
  if (typeof value === "string" || typeof value === "number") {
    return String(value).replaceAll(/[&<>"']/g, (character) => escapes[character] ?? "");
  }
  if (value === null || value === undefined || typeof value === "boolean") return "";
  return value.map(render).join("");
}

/** Attribute values belong into double quotes. */
export function html(strings: TemplateStringsArray, ...values: readonly Fragment[]): Html {
  return Html.from(strings, values);
}
