/** The table on the terminal: a line per row with ours, the peers, the ratio and its target. */
import type { ReportRow } from "../model.ts";
import { formatRatio, formatValue } from "./numbers.ts";
import { isMet, type Report } from "./report.ts";

const HEADINGS = ["what", "unit", "headroom", "graphile-worker", "pg-boss", "held against", "ratio", "target", "met"];
/** The text columns. */
const LEFT = new Set([0, 1, 5, 7, 8]);

function cells(row: ReportRow): string[] {
  const { values, unit, target } = row;
  const met = isMet(row);
  const reference =
    row.referenceLabel === undefined ? "" : `${formatValue(values.reference, unit)} ${row.referenceLabel}`;
  const isCount = target !== undefined && target.value === 0;
  return [
    row.label,
    unit,
    formatValue(values.headroom, unit),
    formatValue(values["graphile-worker"], unit),
    formatValue(values["pg-boss"], unit),
    reference,
    isCount ? String(row.ratio ?? "–") : formatRatio(row.ratio),
    target ? `${target.comparison === ">=" ? "≥" : "≤"} ${target.value}` : "",
    met === null ? "" : met ? "yes" : "NO",
  ];
}

export function renderTable({ rows, document }: Report): string {
  const lines = [HEADINGS, ...rows.map(cells)];
  const widths = HEADINGS.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? "").length)));
  const render = (line: readonly string[]): string =>
    line
      .map((cell, column) => (LEFT.has(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ")
      .trimEnd();
  const rule = widths.map((width) => "-".repeat(width)).join("  ");
  const { meta, targets } = document;
  const met = targets.filter((target) => target.met).length;
  const notes = [
    `${met} of ${targets.length} targets met, ${meta.seconds} s, ${meta.profile} run on ${meta.machine.cpus} cpus, ` +
      `${meta.server["server_version"] ?? "PostgreSQL"}, Node ${meta.node}`,
    ...meta.cutShort.map((what) => `cut short: ${what}`),
    ...meta.failures.map(({ suite, reason }) => `failed: ${suite}: ${reason.split("\n")[0] ?? ""}`),
  ];
  return `${[render(HEADINGS), rule, ...lines.slice(1).map(render), "", ...notes].join("\n")}\n`;
}
