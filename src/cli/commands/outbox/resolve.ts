/** `headroom outbox resolve`: records whether a parked row arrived, after a person has found out. */
import type { Command } from "commander";
import type { Client } from "pg";
import { call } from "../../../db/call.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { withDatabase } from "../../database.ts";
import { printJson, printLine } from "../../output.ts";
import { parseId } from "./filters.ts";
import { addOperator, retryBusy, busyHint, type OperatorOptions, type RowResult } from "./row-actions.ts";

interface ResolveOptions extends OperatorOptions {
  readonly delivered?: boolean;
  readonly notDelivered?: boolean;
  readonly reference?: string;
}

export function registerResolve(outbox: Command): void {
  addOperator(
    outbox
      .command("resolve")
      .description("record whether a row of unknown outcome arrived")
      .argument("<id>", "outbox id", parseId),
  )
    .option("--delivered", "it arrived: the row is finished, and its key continues")
    .option("--not-delivered", "it did not arrive: the row stays dead, to be redriven or skipped")
    .option("--reference <text>", "the receiver's own id of what arrived")
    .action(runResolve);
}

async function runResolve(id: string, options: ResolveOptions): Promise<void> {
  const delivered = options.delivered === true;
  if (delivered === (options.notDelivered === true)) {
    throw new HeadroomError("usage", "Give either --delivered or --not-delivered.", {
      hint: "Find out at the receiver whether it arrived. Nothing was changed.",
    });
  }
  const resolve = async (client: Client): Promise<RowResult[]> => [
    await call(client, "outbox.resolve_dead", {
      p_outbox_id: id,
      p_delivered: delivered,
      p_actor: options.actor,
      p_reason: options.reason,
      ...(options.reference === undefined ? {} : { p_reference: options.reference }),
    }),
  ];
  const [result] = await withDatabase(options, "outbox resolve", (client) => retryBusy(client, [id], resolve));
  if (result === undefined || result.result === "busy") {
    throw new HeadroomError("conflict", `${id} was not changed: another session holds its key.`, { hint: busyHint });
  }
  if (options.json === true) {
    printJson({ outboxId: id, result: result.result, detail: result.detail });
    return;
  }
  printLine(delivered ? `${id} is recorded as delivered; its key continues.` : `${id} is recorded as not delivered.`);
  if (!delivered) printLine(`It is still a dead letter. Next: headroom outbox redrive ${id} --reason "…", or skip it.`);
}
