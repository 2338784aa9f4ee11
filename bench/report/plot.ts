/**
 * The plot for the docs: hand-written SVG without a library, readable on light and dark pages.
 *
 * Two panels. The upper one compares ours with the peers, each group scaled to its longest bar. The lower one compares ours with itself or
 * with plain SQL, as ratios with a mark at the target.
 */
import { CONTENDERS, type ContenderName, type ReportRow } from "../model.ts";
import { formatRatio, formatShort } from "./numbers.ts";
import { isMet, type Report } from "./report.ts";

const WIDTH = 940;
const MARGIN = 24;
const LABEL_WIDTH = 430;
const BAR_HEIGHT = 13;
const BAR_GAP = 3;
const GROUP_GAP = 16;
const VALUE_SPACE = 175;
const HEADING_HEIGHT = 34;
const BAR_SPACE = WIDTH - 2 * MARGIN - LABEL_WIDTH - VALUE_SPACE;
const BAR_X = MARGIN + LABEL_WIDTH;

const CLASS: Record<ContenderName, string> = {
  headroom: "ours",
  "graphile-worker": "graphile",
  "pg-boss": "boss",
};

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .title { font-size: 17px; font-weight: 600; }
  .heading { font-weight: 600; }
  .quiet { fill: #59636e; font-size: 12px; }
  .ours { fill: #1f6feb; } .graphile { fill: #9a6700; } .boss { fill: #6e7781; }
  .missed { fill: #cf222e; } .mark { stroke: #1f2328; stroke-width: 2; } .rule { stroke: #d1d9e0; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .quiet { fill: #9198a1; }
    .ours { fill: #58a6ff; } .graphile { fill: #d29922; } .boss { fill: #8b949e; }
    .missed { fill: #ff7b72; } .mark { stroke: #e6edf3; } .rule { stroke: #3d444d; }
  }`;

const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const text = (x: number, y: number, content: string, className = "", anchor = "start"): string =>
  `<text x="${Math.round(x)}" y="${y}"${className ? ` class="${className}"` : ""} text-anchor="${anchor}">${escapeXml(content)}</text>`;

const bar = (y: number, width: number, className: string): string =>
  `<rect x="${BAR_X}" y="${y}" width="${Math.max(1, width).toFixed(1)}" height="${BAR_HEIGHT}" rx="2" class="${className}"/>`;

/** A drawing that grows downwards. */
interface Canvas {
  readonly parts: string[];
  y: number;
}

const hasPeer = ({ values }: ReportRow): boolean =>
  typeof values["graphile-worker"] === "number" || typeof values["pg-boss"] === "number";

/** Rows with the same numbers and different targets are drawn once. */
function withoutRepeats(rows: readonly ReportRow[]): ReportRow[] {
  const seen = new Set<string>();
  return rows.filter((row) => {
    const id = `${row.part} ${row.unit} ${JSON.stringify(row.values)}`;
    return !seen.has(id) && seen.add(id);
  });
}

/** The part of a label that names its target; it is not drawn. */
const plainLabel = (label: string): string => label.replace(/ \((?:first|second) mark\)$/, "");

function drawPeerGroup(canvas: Canvas, row: ReportRow): void {
  const { values, unit } = row;
  const known = CONTENDERS.flatMap((name) => {
    const value = values[name];
    return typeof value === "number" ? [{ name, value }] : [];
  });
  const longest = Math.max(...known.map(({ value }) => value), Number.MIN_VALUE);
  const met = isMet(row);
  canvas.parts.push(text(MARGIN, canvas.y + BAR_HEIGHT - 2, plainLabel(row.label)));
  if (row.ratio !== null) {
    const against = unit === "ms" ? "of graphile-worker's" : "× the best peer";
    canvas.parts.push(
      text(
        MARGIN,
        canvas.y + BAR_HEIGHT + 14,
        `${formatRatio(row.ratio)} ${against}`,
        met === false ? "quiet missed" : "quiet",
      ),
    );
  }
  for (const { name, value } of known) {
    const width = (value / longest) * BAR_SPACE;
    canvas.parts.push(bar(canvas.y, width, CLASS[name]));
    canvas.parts.push(
      text(BAR_X + width + 6, canvas.y + BAR_HEIGHT - 2, `${formatShort(value, unit)}  ${name}`, "quiet"),
    );
    canvas.y += BAR_HEIGHT + BAR_GAP;
  }
  canvas.y += GROUP_GAP;
}

function drawRatio(canvas: Canvas, row: ReportRow, scale: number): void {
  const { ratio, target } = row;
  if (ratio === null || !target) return;
  const width = Math.min(1, ratio / scale) * BAR_SPACE;
  const markX = BAR_X + (target.value / scale) * BAR_SPACE;
  canvas.parts.push(text(MARGIN, canvas.y + BAR_HEIGHT - 2, row.label.replace(/, against .*/, ""), "", "start"));
  canvas.parts.push(bar(canvas.y, width, isMet(row) ? "ours" : "missed"));
  canvas.parts.push(
    `<line x1="${markX.toFixed(1)}" x2="${markX.toFixed(1)}" y1="${canvas.y - 3}" y2="${canvas.y + BAR_HEIGHT + 3}" class="mark"/>`,
  );
  const sign = target.comparison === ">=" ? "≥" : "≤";
  const note = `${formatRatio(ratio)} (${sign} ${target.value})`;
  canvas.parts.push(text(BAR_X + BAR_SPACE + 10, canvas.y + BAR_HEIGHT - 2, note, "quiet"));
  canvas.parts.push(text(MARGIN, canvas.y + BAR_HEIGHT + 12, `against ${row.referenceLabel ?? ""}`, "quiet"));
  canvas.y += BAR_HEIGHT + GROUP_GAP + 8;
}

function drawHeading(canvas: Canvas, heading: string, note: string): void {
  canvas.parts.push(`<line x1="${MARGIN}" x2="${WIDTH - MARGIN}" y1="${canvas.y}" y2="${canvas.y}" class="rule"/>`);
  canvas.parts.push(text(MARGIN, canvas.y + 20, heading, "heading"));
  canvas.parts.push(text(WIDTH - MARGIN, canvas.y + 20, note, "quiet", "end"));
  canvas.y += HEADING_HEIGHT;
}

export function renderPlot({ rows, document }: Report): string {
  const { meta } = document;
  const canvas: Canvas = { parts: [], y: MARGIN + 12 };
  canvas.parts.push(text(MARGIN, canvas.y, "Headroom's outbox beside graphile-worker and pg-boss", "title"));
  const server = meta.server["server_version"] ?? "PostgreSQL";
  const when = meta.startedAt.slice(0, 10);
  canvas.y += 20;
  canvas.parts.push(
    text(
      MARGIN,
      canvas.y,
      `${server}, default durability, ${meta.machine.cpus} cpus, ${when}, ${meta.profile} run`,
      "quiet",
    ),
  );
  canvas.y += 16;

  const beside = withoutRepeats(rows.filter((row) => hasPeer(row) && row.unit !== "violations"));
  const faster = beside.filter((row) => row.unit !== "ms");
  const sooner = beside.filter((row) => row.unit === "ms");
  if (faster.length > 0) drawHeading(canvas, "Rows per second", "longer is better");
  for (const row of faster) drawPeerGroup(canvas, row);
  if (sooner.length > 0) drawHeading(canvas, "From commit to handler", "shorter is better");
  for (const row of sooner) drawPeerGroup(canvas, row);

  const alone = rows.filter((row) => row.referenceLabel !== undefined && row.target && row.ratio !== null);
  for (const comparison of [">=", "<="] as const) {
    const chosen = alone.filter((row) => row.target?.comparison === comparison);
    if (chosen.length === 0) continue;
    const note = comparison === ">=" ? "at least up to the mark" : "no further than the mark";
    drawHeading(canvas, comparison === ">=" ? "Held against itself and plain SQL" : "Limits", note);
    const scale = Math.max(...chosen.flatMap((row) => [row.ratio ?? 0, row.target?.value ?? 0])) * 1.05;
    for (const row of chosen) drawRatio(canvas, row, scale);
  }

  const height = Math.ceil(canvas.y + MARGIN / 2);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    "<title>Benchmark of Headroom's outbox</title>",
    `<style>${STYLE}\n</style>`,
    ...canvas.parts,
    "</svg>",
    "",
  ].join("\n");
}
