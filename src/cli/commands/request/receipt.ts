/** `headroom request receipt`: what proves the events of a request, to be checked elsewhere. */
import type { Command } from "commander";
import { getReceipt } from "../../../capacity/index.ts";
import { withDatabase, type DatabaseUrlOption } from "../../database.ts";
import { addCommon, parseWhole } from "../../options.ts";
import { printJson } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { parseRequestId } from "../../acting.ts";

interface ReceiptOptions extends DatabaseUrlOption {
  readonly event?: number;
}

export function registerReceipt(request: Command): void {
  addCommon(
    request
      .command("receipt")
      .description("print the texts and hashes of a request's events as JSON, for `headroom verify --receipt`")
      .argument("<id>", "request id", parseRequestId)
      .option("--event <number>", "only this event", parseWhole(1, 1_000_000)),
  ).action(runReceipt);
}

async function runReceipt(id: string, options: ReceiptOptions): Promise<void> {
  const { receipt } = orFail(
    await withDatabase(options, "request receipt", (client) => getReceipt(client, id, options.event)),
  );
  printJson(receipt);
}
