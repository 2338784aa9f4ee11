/**
 * Results for people: the faults, the outcome, and the violations.
 */
import type { Finding } from "./findings.ts";
import { verdictOf, type PlantedResult } from "./planted.ts";
import type { Entry, RunResult } from "./subject.ts";

export function renderRun({ seed, seconds, sections, findings }: RunResult): string {
  return [
    `seed ${seed}, ${seconds.toFixed(0)} s`,
    ...Object.entries(sections).map(([title, entries]) => renderSection(title, entries)),
    renderFindings(findings),
  ].join("\n\n");
}

const columnsOf = (entry: Entry): Readonly<Record<string, number | string>> =>
  typeof entry === "object" ? entry : { "": entry };

const cellOf = (value: number | string = ""): string =>
  typeof value === "number" ? value.toLocaleString("en-US") : value;

function renderSection(title: string, entries: Readonly<Record<string, Entry>>): string {
  const columns = [...new Set(Object.values(entries).flatMap((entry) => Object.keys(columnsOf(entry))))];
  const body = Object.entries(entries).map(([name, entry]) => [
    name,
    ...columns.map((column) => cellOf(columnsOf(entry)[column])),
  ]);
  return table([title, ...columns], body);
}

export function renderPlanted({ outcomes, ok }: PlantedResult): string {
  const body = outcomes.map((outcome) => [
    outcome.bug ?? "(the code as it is)",
    outcome.scene,
    verdictOf(outcome),
    outcome.seconds.toFixed(0),
    outcome.findings
      .map(({ invariant, count }) => `${invariant.split(" ").slice(0, 5).join(" ")} (${count})`)
      .join("; "),
  ]);
  const summary = ok
    ? "Every planted bug is caught, and the code as it is passes the same scenes."
    : "A planted bug is missed, or the code as it is does not pass its scene.";
  const wrong = outcomes.filter((outcome) => !outcome.ok && outcome.findings.length > 0);
  return [
    table(["planted bug", "scene", "verdict", "seconds", "by"], body),
    ...wrong.map(({ bug, scene, findings }) => `${scene}, ${bug ?? "the code as it is"}:\n${renderFindings(findings)}`),
    summary,
  ].join("\n\n");
}

export function renderFindings(findings: readonly Finding[]): string {
  if (findings.length === 0) return "All invariants hold.";
  const parts = findings.map(({ invariant, count, examples }) =>
    [`BROKEN  ${invariant}  (${count})`, ...examples.map((example) => `  ${example}`)].join("\n"),
  );
  return parts.join("\n");
}

/** Numbers are right-aligned, text is left-aligned. */
function table(head: readonly string[], body: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...body].map((cells) => cells[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        /^[\d.,]/.test(cell) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd();
  const rule = widths.map((width) => "-".repeat(width)).join("  ");
  return [line(head), rule, ...body.map(line)].join("\n");
}
