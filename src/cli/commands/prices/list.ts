/** `headroom prices list`: the prices of a workspace. */
import type { Command } from "commander";
import { listPrices, priceStatuses, type Price, type PriceStatus } from "../../../billing/index.ts";
import { withDatabase } from "../../database.ts";
import { readClock } from "../../words/moment.ts";
import { addCommon, type CommonOptions } from "../../options.ts";
import { printJson, printLine, printTable } from "../../output.ts";
import { requireWorkspace, workspaceOption, type WorkspaceOption } from "../../workspace.ts";
import { amountOf } from "./price-words.ts";

interface ListOptions extends CommonOptions, WorkspaceOption {
  readonly all?: boolean;
}

export function registerList(prices: Command): void {
  addCommon(
    prices
      .command("list")
      .description("list the prices that apply now or later")
      .option("--all", "also those that were replaced or withdrawn")
      .addOption(workspaceOption()),
  ).action(runList);
}

async function runList(options: ListOptions): Promise<void> {
  const all = await withDatabase(options, "prices list", async (client) => {
    const prices = await listPrices(client, options.workspace);
    if (prices.length === 0) await requireWorkspace(client, options.workspace);
    const statuses = priceStatuses(prices, await readClock(client));
    return prices.map((price, index) => ({ ...price, status: statuses[index] ?? "replaced" }));
  });
  const prices = all.filter(({ status }) => options.all === true || status === "applies" || status === "later");
  if (options.json === true) return printJson({ prices });
  show(prices, options.workspace);
}

function show(prices: readonly (Price & { readonly status: PriceStatus })[], workspace: string): void {
  if (prices.length === 0) {
    printLine(`No price applies in the workspace ${workspace}: customers confirm without paying.`);
    return printLine(`Next: headroom prices set <size> --amount 300.00 --monthly --workspace ${workspace}`);
  }
  printTable(prices, [
    { title: "SIZE", value: (row) => row.size },
    { title: "REGION", value: (row) => row.region ?? "all" },
    { title: "DAYS", value: (row) => row.durationDays ?? "any" },
    { title: "ONE COSTS", value: amountOf, align: "right" },
    { title: "STANDS", value: (row) => row.status },
    { title: "FROM", value: (row) => row.validFrom },
    { title: "BY", value: (row) => row.createdBy },
    { title: "PRICE", value: (row) => row.id },
    {
      title: "WITHDRAWN",
      value: (row) => (row.withdrawn === null ? null : `${row.withdrawn.by}: ${row.withdrawn.why}`),
    },
  ]);
}
