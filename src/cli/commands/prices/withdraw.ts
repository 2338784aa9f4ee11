/** `headroom prices withdraw`: takes back a price that was a mistake. */
import { type Command, InvalidArgumentError } from "commander";
import { withdrawPrice } from "../../../billing/index.ts";
import { requireReason } from "../../acting.ts";
import { actorOption, type ActorOption } from "../../actor.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, parseText, type CommonOptions } from "../../options.ts";
import { printJson, printLine } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { amountOf, whatItBuys } from "./price-words.ts";

interface WithdrawOptions extends CommonOptions, ActorOption {
  readonly reason?: string;
}

export function registerWithdraw(prices: Command): void {
  addCommon(
    prices
      .command("withdraw")
      .description("take back a price that was a mistake: open offers at it can no longer be paid")
      .argument("<price>", "price id", parsePriceId)
      .option(
        "--reason <text>",
        "why; it is kept with the price; asked for at a terminal when left out",
        parseText(500),
      )
      .addOption(actorOption()),
  ).action(runWithdraw);
}

function parsePriceId(text: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text.trim())) return text.trim().toLowerCase();
  throw new InvalidArgumentError("Give a price's id: headroom prices list");
}

async function runWithdraw(id: string, options: WithdrawOptions): Promise<void> {
  const reason = await requireReason(options);
  const { price } = orFail(
    await withDatabase(options, "prices withdraw", (client) => withdrawPrice(client, id, reason, options.actor)),
  );
  if (options.json === true) return printJson({ price });
  printLine(`${amountOf(price)} for ${whatItBuys(price)} is withdrawn. Open offers at it can no longer be paid.`);
  printLine("Payments for it that count are kept; later ones are refunded automatically.");
  printLine(`Next: headroom prices list --workspace ${price.workspaceId}`);
}
