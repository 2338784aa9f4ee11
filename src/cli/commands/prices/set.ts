/** `headroom prices set`: what one instance of a size costs, from now on or from a day on. */
import { InvalidArgumentError, type Command } from "commander";
import type { Client } from "pg";
import { listSettings, setPrice, type Price, type PriceKind } from "../../../billing/index.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { actorOption, type ActorOption } from "../../actor.ts";
import { withDatabase } from "../../database.ts";
import { parseMoment } from "../../words/moment.ts";
import { currencyOption, requireAmount } from "../../money-options.ts";
import { addCommon, parseWhole, type CommonOptions } from "../../options.ts";
import { printJson, printLine } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { requireWorkspace, workspaceOption, type WorkspaceOption } from "../../workspace.ts";
import { amountOf, whatItBuys } from "./price-words.ts";

interface SetOptions extends CommonOptions, WorkspaceOption, ActorOption {
  readonly amount: string;
  readonly currency?: string;
  readonly monthly?: boolean;
  readonly once?: boolean;
  readonly region?: string;
  readonly days?: number;
  readonly from?: Date;
}

export function registerSet(prices: Command): void {
  addCommon(
    prices
      .command("set")
      .description("set what one instance costs; offers that were made keep the price that they were made with")
      .argument("<size>", "instance size, such as 32XL")
      .requiredOption("--amount <amount>", "of one instance, in the currency's own decimals, such as 300.00")
      .addOption(currencyOption("in which currency (default: the workspace's)"))
      .option("--monthly", "for each month: a subscription that renews")
      .option("--once", "for the whole duration, paid once")
      .option("--region <region>", "only in this region (default: everywhere)")
      .option("--days <count>", "only for requests of exactly this many days (default: any)", parseWhole(1, 3_650))
      .option("--from <time>", "from this time on, such as 2027-01-31T00:00:00Z (default: now)", parseStart)
      .addOption(actorOption())
      .addOption(workspaceOption()),
  ).action(runSet);
}

async function runSet(size: string, options: SetOptions): Promise<void> {
  const kind = kindOf(options);
  const validFrom = options.from;
  const price = await withDatabase(options, "prices set", async (client) => {
    const currency = options.currency ?? (await currencyOf(client, options.workspace));
    const unitAmount = requireAmount(options.amount, currency);
    const wanted = { size, region: options.region, durationDays: options.days, kind, currency, unitAmount, validFrom };
    return orFail(await setPrice(client, options.workspace, wanted, options.actor)).price;
  });
  if (options.json === true) printJson({ price });
  else show(price, options.workspace);
}

/** Never guess which of the two: one payment instead of a monthly one is a twelfth of a year's price. */
function kindOf({ monthly, once }: SetOptions): PriceKind {
  if ((monthly === true) !== (once === true)) return monthly === true ? "recurring" : "one_off";
  throw new HeadroomError("usage", "Say whether it is paid once or every month.", {
    hint: "Pass either --once or --monthly. Nothing was changed.",
  });
}

/** A price begins now or later, so a span back from now is refused. */
function parseStart(text: string): Date {
  const moment = /^\s*\d{4}-/.test(text) ? parseMoment(text) : undefined;
  if (moment?.kind === "at") return moment.time;
  throw new InvalidArgumentError("A price begins now or later. Give a date and time, such as 2027-01-31T00:00:00Z.");
}

async function currencyOf(client: Client, workspace: string): Promise<string> {
  const found = (await listSettings(client)).find(({ workspaceId }) => workspaceId === workspace);
  if (found === undefined) await requireWorkspace(client, workspace);
  return found?.currency ?? "USD";
}

function show(price: Price, workspace: string): void {
  printLine(`From ${price.validFrom.toISOString()} on ${whatItBuys(price)} costs ${amountOf(price)}.`);
  printLine(
    `It is the price ${price.id}. A mistake is taken back with: headroom prices withdraw ${price.id} --reason "…"`,
  );
  if (price.kind === "one_off" && price.durationDays === null) {
    printLine("It buys any duration, even ten years. For a certain one: --days 30");
  }
  printLine(`Next: headroom prices list --workspace ${workspace}, and headroom doctor, which checks what paying needs`);
}
