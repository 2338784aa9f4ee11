/** Where a run writes its results: every run in `bench/out`, a whole run also in the docs. */
import { mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { renderPlot } from "./plot.ts";
import type { Report } from "./report.ts";

const OUTPUT = fileURLToPath(new URL("../out/", import.meta.url));
const DOCS = fileURLToPath(new URL("../../docs/bench/", import.meta.url));

const toJson = (report: Report): string => `${JSON.stringify(report.document, null, 2)}\n`;

export async function writeOutput(report: Report): Promise<void> {
  await mkdir(OUTPUT, { recursive: true });
  const name = report.document.meta.startedAt.replaceAll(/[:.]/g, "-");
  await writeFile(`${OUTPUT}${name}.json`, toJson(report));
  await writeFile(`${OUTPUT}${name}.svg`, renderPlot(report));
}

export async function writeDocs(report: Report): Promise<void> {
  await mkdir(DOCS, { recursive: true });
  await writeFile(`${DOCS}latest.json`, await formatted(toJson(report)));
  await writeFile(`${DOCS}latest.svg`, renderPlot(report));
}

/** The copy in the docs is an ordinary file of the repository, and is checked like one. */
async function formatted(json: string): Promise<string> {
  const { format, resolveConfig } = await import("prettier");
  const config = await resolveConfig(`${DOCS}latest.json`);
  return format(json, { ...config, parser: "json" });
}
