/** Replaces the text between two markers of a page; everything else is written by hand. */
import { readFile } from "node:fs/promises";

/** `<!-- layers: … -->` and `<!-- /layers -->` enclose the part called "layers". */
export async function replaceMarkedPart(page: URL, name: string, content: string): Promise<string> {
  const text = await readFile(page, "utf8");
  const begin = new RegExp(`<!-- ${name}:[^>]*-->`).exec(text);
  const end = text.indexOf(`<!-- /${name} -->`);
  if (begin === null || end === -1) throw new Error(`${page.pathname} lacks the markers of "${name}".`);
  return `${text.slice(0, begin.index + begin[0].length)}\n\n${content}\n\n${text.slice(end)}`;
}
