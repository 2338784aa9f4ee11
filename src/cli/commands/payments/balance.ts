/** `headroom payments balance`: the books: what was taken, refunded and disputed, per workspace and currency. */
import { type Command, InvalidArgumentError, Option } from "commander";
import {
  formatAmount,
  listBalance,
  listReconciliations,
  totalsOf,
  waitingCounts,
  type BalanceDay,
  type BalanceTotal,
  type Reconciliation,
} from "../../../billing/index.ts";
import { withDatabase } from "../../database.ts";
import { ExitWith } from "../../exit.ts";
import { addCommon, type CommonOptions } from "../../options.ts";
import { printJson, printLine, printTable, type Column } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { requireWorkspace } from "../../workspace.ts";

interface BalanceOptions extends CommonOptions {
  readonly from?: string;
  readonly to?: string;
  readonly byDay?: boolean;
  readonly workspace?: string;
}

export function registerBalance(payments: Command): void {
  addCommon(
    payments
      .command("balance")
      .description("show the books: taken, refunded, disputed and what remains; exit code 1 when they do not add up")
      .option("--from <day>", "first day, UTC, such as 2027-01-31", parseDay)
      .option("--to <day>", "last day, UTC", parseDay)
      .option("--by-day", "a row for each day")
      .addOption(new Option("--workspace <id>", "only of this workspace (default: all)").env("HEADROOM_WORKSPACE")),
  ).action(runBalance);
}

function parseDay(text: string): string {
  const day = text.trim();
  if (/^\d{4}-\d{2}-\d{2}$/.test(day) && !Number.isNaN(Date.parse(`${day}T00:00:00Z`))) return day;
  throw new InvalidArgumentError("Give a day, such as 2027-01-31.");
}

async function runBalance(options: BalanceOptions): Promise<void> {
  const { workspace: workspaceId, from, to } = options;
  const read = await withDatabase(options, "payments balance", async (client) => {
    const { days } = orFail(await listBalance(client, { workspaceId, from, to }));
    if (days.length === 0 && workspaceId !== undefined) await requireWorkspace(client, workspaceId);
    const counts = await waitingCounts(client);
    const reconciliations = await listReconciliations(client);
    return {
      days,
      off: counts.find(({ state }) => state === "books")?.waiting ?? 0,
      compared: reconciliations.find(({ state }) => state === "complete") ?? null,
    };
  });
  const totals = totalsOf(read.days);
  if (options.json === true) {
    printJson({
      totals,
      ...(options.byDay === true ? { days: read.days } : {}),
      off: read.off,
      compared: read.compared,
    });
  } else show(options.byDay === true ? read.days : totals, read.off, read.compared);
  if (read.off > 0) throw new ExitWith(1);
}

type Row = BalanceTotal & Partial<Pick<BalanceDay, "day">>;

function show(rows: readonly Row[], off: number, compared: Reconciliation | null): void {
  if (rows.length === 0) printLine("Nothing is in the books.");
  else {
    const amount = (title: string, of: (row: Row) => number): Column<Row> => ({
      title,
      value: (row) => formatAmount(row.currency, of(row)),
      align: "right",
    });
    printTable(rows, [
      ...(rows[0]?.day === undefined ? [] : [{ title: "DAY", value: (row: Row) => row.day }]),
      { title: "WORKSPACE", value: (row) => row.workspaceId },
      amount("TAKEN", (row) => row.taken),
      amount("REFUNDED", (row) => row.refunded),
      amount("DISPUTED", (row) => row.disputed),
      amount("REMAINS", (row) => row.net),
    ]);
  }
  printLine(
    compared?.finishedAt == null
      ? "\nNever compared with Stripe yet."
      : `\nLast compared with Stripe at ${compared.finishedAt.toISOString()}.`,
  );
  if (off === 0) return;
  printLine(`${off === 1 ? "1 payment does" : `${off} payments do`} not add up with their entries.`);
  printLine("Next: headroom verify, which names them");
}
