/** Prints the table of layers into the architecture page, between its two markers. */
import { readFile } from "node:fs/promises";
import { layers } from "../../src/db/layers.ts";

const begin = "<!-- layers: generated from src/db/layers.ts by `npm run gen` -->";
const end = "<!-- /layers -->";

/** The page with the table as it is now; everything outside the markers is written by hand. */
export async function describeLayers(page: URL): Promise<string> {
  const text = await readFile(page, "utf8");
  const [before, rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined)
    throw new Error(`${page.pathname} lacks the markers of the table of layers.`);
  return `${before}${begin}\n\n${table()}\n\n${end}${after}`;
}

function code(name: string | undefined): string {
  return name === undefined ? "" : `\`${name}\``;
}

function table(): string {
  return [
    "| schema | folder of `src` | part | holds |",
    "| --- | --- | --- | --- |",
    ...layers.map(({ schema, folder, part, holds }) => `| ${code(schema)} | ${code(folder)} | ${part} | ${holds} |`),
  ].join("\n");
}
