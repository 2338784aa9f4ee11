/**
 * How commands print: tables and sentences on stdout, progress and failures on stderr, or one JSON value.
 *
 * Text from the database may contain anything, so control characters are shown as escapes: a stored payload must not be able
 * to move the reader's cursor.
 */
import { styleText } from "node:util";
import displayWidth from "string-width";
import type { HeadroomError } from "../db/errors.ts";

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number | boolean | Date | null | undefined;
  /** Numbers read better right-aligned. Default: left. */
  readonly align?: "left" | "right" | undefined;
}

/** Writes one line of JSON. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

export function printLine(text = ""): void {
  process.stdout.write(`${text}\n`);
}

/** Writes rows as an aligned table, cut to the terminal's width; a pipe gets everything in full. */
export function printTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): void {
  const width = process.stdout.isTTY ? process.stdout.columns : undefined;
  const [heading = "", ...lines] = formatTable(rows, columns, width);
  printLine(styleText("bold", heading, { stream: process.stdout }));
  for (const line of lines) printLine(line);
}

export type Fact = readonly [name: string, value: string | number | null];

/** Writes names and values in two columns. A value that is null is left out, and one of several lines is indented. */
export function printFacts(facts: readonly Fact[]): void {
  const known = facts.filter(([, value]) => value !== null);
  const width = Math.max(...known.map(([name]) => name.length));
  for (const [name, value] of known) {
    const lines = String(value).split("\n").map(visible);
    printLine(`${name.padEnd(width)}${gap}${lines.join(`\n${" ".repeat(width)}${gap}`)}`);
  }
}

/** The lines of a table, the heading first. Without a width nothing is cut. */
export function formatTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], width?: number): string[] {
  const body = rows.map((row) => columns.map((column) => showValue(column.value(row))));
  const titles = columns.map((column) => column.title);
  const wanted = titles.map((title, index) =>
    Math.max(...[titles, ...body].map((cells) => displayWidth(cells[index] ?? title))),
  );
  const widths =
    width === undefined
      ? wanted
      : shrink(
          wanted,
          titles.map((title) => displayWidth(title)),
          width - gap.length * (columns.length - 1),
        );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, index) => pad(cut(cell, widths[index] ?? 0), widths[index] ?? 0, columns[index]?.align))
      .join(gap)
      .trimEnd();
  return [titles, ...body].map(line);
}

const gap = "  ";

function showValue(value: string | number | boolean | Date | null | undefined): string {
  if (value === null || value === undefined) return "-";
  return value instanceof Date ? value.toISOString() : visible(String(value));
}

/** Shrinks the widest column until all fit, but leaves each as wide as its title. */
function shrink(wanted: readonly number[], least: readonly number[], room: number): number[] {
  const widths = [...wanted];
  for (let excess = widths.reduce((sum, width) => sum + width, 0) - room; excess > 0; excess -= 1) {
    const spare = widths.map((width, index) => (width > (least[index] ?? 0) ? width : 0));
    const widest = spare.indexOf(Math.max(...spare));
    if ((spare[widest] ?? 0) === 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

/** Control characters as escapes. */
export function visible(text: string): string {
  // oxlint-disable-next-line no-control-regex -- finding control characters is the purpose
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (character) =>
    character === "\n"
      ? "\\n"
      : character === "\t"
        ? "\\t"
        : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Cuts between characters as people see them. */
function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = "";
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (displayWidth(kept + segment) >= width) break;
    kept += segment;
  }
  return `${kept}…`;
}

function pad(text: string, width: number, align: "left" | "right" | undefined): string {
  const filling = " ".repeat(Math.max(0, width - displayWidth(text)));
  return align === "right" ? filling + text : text + filling;
}

/** The failure as lines for people. */
export function formatError(error: Pick<HeadroomError, "message" | "detail" | "hint">): string {
  const indented = (text: string): string =>
    text
      .split("\n")
      .map((line) => `  ${visible(line)}`)
      .join("\n");
  return [
    `error: ${visible(error.message)}`,
    ...(error.detail === undefined ? [] : [indented(error.detail)]),
    ...(error.hint === undefined ? [] : [indented(`hint: ${error.hint}`)]),
  ].join("\n");
}

export interface Progress {
  /** `total` may become known, or grow, later. */
  update(done: number, total?: number): void;
  /** Ends the line. Always call it. */
  finish(): void;
}

/** A stream to draw on, and the time; given by tests, otherwise stderr and the clock. */
export interface ProgressSurface {
  readonly isTTY: boolean;
  readonly columns: number;
  write(text: string): void;
  nowMs(): number;
}

const stderrSurface: ProgressSurface = {
  get isTTY() {
    return process.stderr.isTTY;
  },
  get columns() {
    return process.stderr.columns ?? 80;
  },
  write: (text) => void process.stderr.write(text),
  nowMs: () => performance.now(),
};

const redrawEveryMs = 100;
const lineEveryMs = 2000;

/**
 * Shows how far a long operation is: on a terminal a bar that redraws itself, elsewhere a line every two seconds, so that
 * a shorter operation leaves nothing in a log.
 */
export function startProgress(label: string, surface: ProgressSurface = stderrSurface): Progress {
  let shownAt = surface.isTTY ? -Infinity : surface.nowMs();
  let drawn = false;
  const text = (done: number, total: number | undefined): string => {
    if (total === undefined || total === 0) return `${label} ${done}`;
    const share = Math.min(1, done / total);
    const counts = `${done}/${total} ${String(Math.floor(share * 100)).padStart(3)} %`;
    if (!surface.isTTY) return `${label} ${counts}`;
    const room = Math.max(0, Math.min(40, surface.columns - displayWidth(label) - counts.length - 6));
    const filled = Math.round(share * room);
    return `${label} [${"#".repeat(filled)}${".".repeat(room - filled)}] ${counts}`;
  };
  return {
    update(done, total) {
      const now = surface.nowMs();
      if (now - shownAt < (surface.isTTY ? redrawEveryMs : lineEveryMs)) return;
      shownAt = now;
      surface.write(surface.isTTY ? `\r\u001b[K${text(done, total)}` : `${text(done, total)}\n`);
      drawn = true;
    },
    finish() {
      if (drawn && surface.isTTY) surface.write("\r\u001b[K");
    },
  };
}

/** A span of time for people: 4 s, 12 min, 3 h, 2 d. */
export function formatAge(seconds: number | null): string {
  if (seconds === null) return "-";
  const units: readonly [limit: number, size: number, name: string][] = [
    [120, 1, "s"],
    [7_200, 60, "min"],
    [172_800, 3_600, "h"],
  ];
  const [, size, name] = units.find(([limit]) => seconds < limit) ?? [0, 86_400, "d"];
  return `${Math.floor(seconds / size)} ${name}`;
}
