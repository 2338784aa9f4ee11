/** `headroom insights …`: figures about the workflow, from its log alone. */
import type { Command } from "commander";
import { withDatabase } from "../../database.ts";
import { addCommon, parseWhole, type CommonOptions } from "../../options.ts";
import { formatAge, printJson, printLine, printTable, type Column } from "../../output.ts";
import { requireWorkspace, workspaceOption, type WorkspaceOption } from "../../workspace.ts";
import { readBacklog, readInsight, type InsightName, type InsightRow } from "./views.ts";

type Options = CommonOptions & WorkspaceOption;

interface SpanOptions extends Options {
  readonly days: number;
}

export function register(program: Command): void {
  const insights = program
    .command("insights")
    .description("show what is open and on whom it waits, how long things take, and how requests end");
  addCommon(
    insights
      .command("backlog")
      .description("open requests by stage and by whom they wait on; one that waits on two is counted for each")
      .addOption(workspaceOption()),
  ).action(runBacklog);
  registerSpan(insights, "approvals", "how long approvals took, from the submission on, by step", [
    { title: "STEP", value: (row) => row.step },
    { title: "BY", value: (row) => (row.automatic === true ? "rule" : "people") },
    { title: "APPROVALS", value: (row) => row.approvals, align: "right" },
    ...durations,
  ]);
  registerSpan(insights, "time-in-state", "how long requests stayed in each state, by the day on which they left it", [
    { title: "STATE", value: (row) => row.state },
    { title: "STAYS", value: (row) => row.stays, align: "right" },
    ...durations,
  ]);
  registerSpan(insights, "outcomes", "how requests ended, from which state and by which event", [
    { title: "OUTCOME", value: (row) => row.outcome },
    { title: "FROM", value: (row) => row.origin_state },
    { title: "BY", value: (row) => row.event_type },
    { title: "REQUESTS", value: (row) => row.requests, align: "right" },
  ]);
  registerSpan(insights, "provisioning", "how long provisioning took, by how it ended", [
    { title: "OUTCOME", value: (row) => row.outcome },
    { title: "REQUESTS", value: (row) => row.requests, align: "right" },
    ...durations,
  ]);
}

interface Durations {
  readonly mean_seconds: number | null;
  readonly median_seconds: number | null;
  readonly p90_seconds: number | null;
  readonly longest_seconds: number | null;
}

const durations: readonly Column<Durations>[] = [
  { title: "MEDIAN", value: (row) => formatAge(row.median_seconds), align: "right" },
  { title: "90 %", value: (row) => formatAge(row.p90_seconds), align: "right" },
  { title: "LONGEST", value: (row) => formatAge(row.longest_seconds), align: "right" },
];

type SpanName = Exclude<InsightName, "backlog">;

function registerSpan<Name extends SpanName>(
  insights: Command,
  name: Name,
  description: string,
  columns: readonly Column<InsightRow<Name>>[],
): void {
  addCommon(
    insights
      .command(name)
      .description(description)
      .option("--days <count>", "how many days to show, including today (UTC)", parseWhole(1, 3_653), 30)
      .addOption(workspaceOption()),
  ).action(async (options: SpanOptions) => {
    const rows = await withDatabase(options, `insights ${name}`, async (client) => {
      await requireWorkspace(client, options.workspace);
      return readInsight(client, name, options.workspace, options.days);
    });
    if (options.json === true) return printJson({ days: options.days, rows });
    if (rows.length === 0) {
      return printLine(
        `Nothing in workspace ${options.workspace} in the last ${options.days} days. Use --days to look further back.`,
      );
    }
    printTable(rows, [{ title: "DAY", value: (row) => row.day }, ...columns]);
  });
}

async function runBacklog(options: Options): Promise<void> {
  const rows = await withDatabase(options, "insights backlog", async (client) => {
    await requireWorkspace(client, options.workspace);
    return readBacklog(client, options.workspace);
  });
  if (options.json === true) return printJson({ rows });
  if (rows.length === 0) return printLine(`No request is open in workspace ${options.workspace}.`);
  printTable(rows, [
    { title: "STAGE", value: (row) => row.stage },
    { title: "WAITS ON", value: waitsOn },
    { title: "REQUESTS", value: (row) => row.requests, align: "right" },
    { title: "LATE", value: (row) => row.late, align: "right" },
    { title: "OLDEST", value: (row) => formatAge(row.oldest_seconds), align: "right" },
    { title: "USD A MONTH", value: (row) => row.monthly_cost_usd, align: "right" },
  ]);
  const deserted = rows.filter((row) => row.waits_on_kind === "nobody").length;
  if (deserted > 0)
    printLine(
      "\nSome of these wait on nobody who could decide them. See headroom members list and headroom policy list.",
    );
}

function waitsOn({ waits_on_kind: kind, waits_on: who }: InsightRow<"backlog">): string {
  if (kind === "member" || kind === null) return who ?? "-";
  if (kind === "nobody") return `nobody (${who ?? "-"})`;
  return who === null ? `the ${kind}` : `${kind} ${who}`;
}
