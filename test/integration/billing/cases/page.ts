/**
 * What a customer reads on their page, line by line: title, notes, progress of the set-up, payments, what they can do and whom they may
 * ask. Times, receipt numbers and the facts of the order are left out.
 */
const entities: Readonly<Record<string, string>> = {
  "&#39;": "'",
  "&quot;": '"',
  "&lt;": "<",
  "&gt;": ">",
  "&amp;": "&",
};

/** In the order of the page. Each is one line; a name and its value share a line. */
const parts =
  /<h1>([^]*?)<\/h1>|<p>([^]*?)<\/p>|<dt>([^]*?)<\/dt>\s*<dd>([^]*?)<\/dd>|<li class="now">\s*<strong>([^]*?)<\/strong>|<button type="submit" aria[^>]*>([^]*?)<\/button>/g;

const leftOut = new Set(["On", "Receipt number", "Request", "Capacity", "Needed by", "Price", "Estimated cost"]);

export function readPage(page: string): string[] {
  const main = /<main[^>]*>([^]*)<\/main>/.exec(page)?.[1] ?? page;
  const order = main.lastIndexOf("<dl>");
  return [...main.matchAll(parts)]
    .filter((found) => !leftOut.has(found[3] ?? "") && !(found[3] === "For" && found.index > order))
    .map(([, title, sentence, name, value, step, button]) =>
      plain(title ?? sentence ?? step ?? (name === undefined ? `[${button}]` : `${name}: ${value}`)),
    )
    .filter((line) => line !== "Since ….");
}

function plain(html: string): string {
  return html
    .replaceAll(/<time[^>]*>[^]*?<\/time>/g, "…")
    .replaceAll(/<[^>]+>/g, " ")
    .replaceAll(/&(?:#39|quot|lt|gt|amp);/g, (entity) => entities[entity] ?? entity)
    .replaceAll(/\s+/g, " ")
    .replaceAll(/\bin \d+ (?:days?|hours?|minutes?)\b/g, "in …")
    .replaceAll(/ ([.,:;])/g, "$1")
    .trim();
}
