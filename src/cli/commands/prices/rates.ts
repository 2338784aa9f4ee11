/** `headroom prices rates | rate`: the exchange rates to US dollars that approval rules use. They convert no money. */
import { type Command, InvalidArgumentError } from "commander";
import { listRates, setRate, type Rate } from "../../../billing/index.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { actorOption, type ActorOption } from "../../actor.ts";
import { withDatabase } from "../../database.ts";
import { parseCurrency } from "../../money-options.ts";
import { addCommon, type CommonOptions } from "../../options.ts";
import { printJson, printLine, printTable } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { requireWorkspace, workspaceOption, type WorkspaceOption } from "../../workspace.ts";

interface RateOptions extends CommonOptions, WorkspaceOption, ActorOption {
  readonly forget?: boolean;
}

export function registerRates(prices: Command): void {
  addCommon(
    prices
      .command("rates")
      .description("list the exchange rates to US dollars that approval rules use")
      .addOption(workspaceOption()),
  ).action(runRates);
  addCommon(
    prices
      .command("rate")
      .description("set or remove a currency's exchange rate to US dollars, for approval rules; it converts no money")
      .argument("<currency>", "such as EUR", parseCurrency)
      .argument("[usd]", "what one unit is worth, such as 1.08", parseWorth)
      .option("--forget", "remove the rate: prices in this currency escalate")
      .addOption(actorOption())
      .addOption(workspaceOption()),
  ).action(runRate);
}

/** Digits are kept as they were typed. */
function parseWorth(text: string): string {
  if (/^\d{1,6}(\.\d{1,12})?$/.test(text.trim())) return text.trim();
  throw new InvalidArgumentError("Give what one unit is worth in US dollars, such as 1.08.");
}

async function runRates(options: CommonOptions & WorkspaceOption): Promise<void> {
  const rates = await withDatabase(options, "prices rates", async (client) => {
    const listed = await listRates(client, options.workspace);
    if (listed.length === 0) await requireWorkspace(client, options.workspace);
    return listed;
  });
  if (options.json === true) printJson({ rates });
  else show(rates);
}

function show(rates: readonly Rate[]): void {
  if (rates.length === 0) {
    printLine("No rate is known: prices in other currencies than USD escalate as if there were no estimate.");
    return printLine("Next: headroom prices rate EUR 1.08");
  }
  printTable(rates, [
    { title: "CURRENCY", value: (row) => row.currency },
    { title: "ONE IS WORTH", value: (row) => `USD ${row.usd}`, align: "right" },
    { title: "SET", value: (row) => row.setAt },
    { title: "BY", value: (row) => row.setBy },
  ]);
}

async function runRate(currency: string, usd: string | undefined, options: RateOptions): Promise<void> {
  if ((usd === undefined) !== (options.forget === true)) {
    throw new HeadroomError("usage", "Give a rate, or --forget.", {
      hint: `headroom prices rate ${currency} 1.08, or headroom prices rate ${currency} --forget. Nothing was changed.`,
    });
  }
  const rate = { currency, usd: usd ?? null };
  orFail(
    await withDatabase(options, "prices rate", (client) => setRate(client, options.workspace, rate, options.actor)),
  );
  if (options.json === true) return printJson({ rate });
  printLine(
    usd === undefined
      ? `No rate is known for ${currency} now: new requests with prices in it escalate.`
      : `One ${currency} counts as USD ${usd} when rules are applied to new requests. It converts no money.`,
  );
}
