/** `headroom payments end`: ends a monthly subscription. */
import type { Command } from "commander";
import { endSubscription } from "../../../billing/index.ts";
import { HeadroomError } from "../../../db/errors.ts";
import {
  asOption,
  parseRequestId,
  reasonOption,
  requireMember,
  requireReason,
  type ActingOptions,
} from "../../acting.ts";
import { ask } from "../../ask.ts";
import { withDatabase } from "../../database.ts";
import { addCommon } from "../../options.ts";
import { printJson, printLine } from "../../output.ts";
import { orFail } from "../../refusal.ts";

interface EndOptions extends ActingOptions {
  readonly reason?: string;
  readonly yes?: boolean;
}

export function registerEnd(payments: Command): void {
  addCommon(
    payments
      .command("end")
      .description("end the subscription of a request: nothing more is charged, and nothing goes back")
      .argument("<request>", "request id", parseRequestId)
      .addOption(asOption())
      .addOption(reasonOption("why; it is posted in the thread; asked for at a terminal when left out"))
      .option("--yes", "do not ask for confirmation"),
  ).action(runEnd);
}

async function runEnd(id: string, options: EndOptions): Promise<void> {
  const as = requireMember(options);
  const reason = await requireReason(options);
  const answer = options.yes === true ? "yes" : await ask(`Charge nothing more for ${id}? [y/N] `, null);
  if (answer === "no") {
    throw new HeadroomError("usage", "Nothing was ended.", { hint: "Answer yes, or pass --yes." });
  }
  const { money } = orFail(
    await withDatabase(options, "payments end", (client) => endSubscription(client, id, { as, reason })),
  );
  if (options.json === true) {
    printJson(money);
    return;
  }
  printLine(`${id}: Stripe is asked to end the subscription, and nothing more is charged.`);
  printLine("This does not stop the capacity, and refunds nothing.");
  printLine(`Next: headroom payments show ${id}`);
}
