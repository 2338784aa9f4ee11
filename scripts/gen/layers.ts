/** Writes the table of layers into the architecture page, between its two markers. */
import { layers } from "../../src/db/layers.ts";
import { replaceMarkedPart } from "./marked-part.ts";

export function describeLayers(page: URL): Promise<string> {
  return replaceMarkedPart(page, "layers", table());
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
