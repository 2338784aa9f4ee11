/**
 * Walks: count what one user action causes, to compare before and after a change.
 *
 * Counts are the same in every run; nothing here is timed.
 */
import { parseArgs } from "node:util";
import type { Passed } from "./meter.ts";
import { openStage } from "./stage.ts";
import type { StatementKind } from "./statement-kind.ts";
import { WALKS } from "./walks.ts";

const USAGE = `usage: npm run walk -- [options]

  --verbose   also every function and every statement that was passed
  --json      one JSON object on stdout, with all of it
`;

/** One more than the number of executions after which the server may keep a plan. */
const WARM_UPS = 7;
const TEXT_CHARS = 180;

interface Walked extends Passed {
  readonly name: string;
}

async function walkAll(): Promise<Walked[]> {
  await using stage = await openStage();
  const walked: Walked[] = [];
  for (const walk of WALKS) {
    for (let times = 0; times < WARM_UPS; times += 1) await walk.walk(stage, await walk.arrange(stage));
    const request = await walk.arrange(stage);
    walked.push({ name: walk.name, ...(await stage.meter.count(() => walk.walk(stage, request))) });
  }
  return walked;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

function figuresOf({ functions, statements, roundTrips }: Passed) {
  const of = (kind: StatementKind): number =>
    sum(statements.filter((statement) => statement.kind === kind).map(({ calls }) => calls));
  return {
    functions: Object.keys(functions).length,
    calls: sum(Object.values(functions)),
    "round trips": roundTrips,
    sent: of("sent"),
    reads: of("read"),
    bare: of("bare"),
    writes: of("write"),
    checks: of("check"),
  };
}

function renderTable(walked: readonly Walked[]): string {
  const rows = walked.map((walk) => [walk.name, ...Object.values(figuresOf(walk)).map(String)]);
  const heads = ["walk", ...Object.keys(figuresOf({ functions: {}, statements: [], roundTrips: 0 }))];
  const widths = heads.map((head, column) => Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ");
  return [
    line(heads),
    ...rows.map(line),
    "",
    "calls: of functions. sent: statements that came from outside. reads, bare, writes: statements inside of the database, bare those",
    "without a table; checks: those of foreign keys. Functions that the planner inlines are not counted, nor are simple expressions.",
    "",
  ].join("\n");
}

const counted = (calls: number, text: string): string => `${String(calls).padStart(5)} × ${text}`;

function renderPassed({ name, functions, statements }: Walked): string {
  const kinds = [
    ["sent", "sent"],
    ["read", "reads"],
    ["bare", "bare"],
    ["write", "writes"],
    ["check", "checks of foreign keys"],
  ] as const;
  return [
    `\n${name}`,
    "  functions",
    ...Object.entries(functions).map(([called, calls]) => counted(calls, called)),
    ...kinds.flatMap(([kind, words]) => [
      `  ${words}`,
      ...statements
        .filter((statement) => statement.kind === kind)
        .map(({ calls, text }) => counted(calls, text.slice(0, TEXT_CHARS))),
    ]),
    "",
  ].join("\n");
}

const { values } = parseArgs({
  options: {
    verbose: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});
if (values.help) {
  process.stdout.write(USAGE);
} else {
  const walked = await walkAll();
  const document = { walks: walked.map((walk) => ({ ...walk, figures: figuresOf(walk) })) };
  process.stdout.write(values.json ? `${JSON.stringify(document)}\n` : renderTable(walked));
  if (values.verbose && !values.json) process.stdout.write(walked.map(renderPassed).join(""));
}
