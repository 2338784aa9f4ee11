/**
 * HTML that is safe by construction: every value that is put into a template is escaped unless it is HTML itself.
 *
 * Owns: escaping. Does not own: what pages look like.
 */

/** A piece of a page. Only `html` makes one, so that no text gets in unescaped. */
export class Html {
  readonly text: string;

  private constructor(text: string) {
    this.text = text;
  }

  static from(strings: TemplateStringsArray, values: readonly Fragment[]): Html {
    let text = strings[0] ?? "";
    values.forEach((value, index) => {
      text += render(value) + (strings[index + 1] ?? "");
    });
    return new Html(text);
  }

  /** For constants of ours that are HTML already, such as the stylesheet. */
  static verbatim(text: string): Html {
    return new Html(text);
  }
}

/** What may stand in a template; nothing comes of null, undefined and false. */
export type Fragment = Html | string | number | null | undefined | false | readonly Fragment[];

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? "");
}

function render(value: Fragment): string {
  if (value === null || value === undefined || value === false) return "";
  if (value instanceof Html) return value.text;
  if (typeof value === "string" || typeof value === "number") return escapeHtml(String(value));
  return value.map(render).join("");
}

/** Attribute values belong into double quotes. */
export function html(strings: TemplateStringsArray, ...values: readonly Fragment[]): Html {
  return Html.from(strings, values);
}
