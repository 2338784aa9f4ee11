/** `headroom outbox redrive`: sends dead letters again. */
import type { Command } from "commander";
import { call } from "../../../db/call.ts";
import { collectId } from "./filters.ts";
import { actOn, addBulk, deadLetters, type BulkOptions } from "./row-actions.ts";

interface RedriveOptions extends BulkOptions {
  readonly outOfOrder?: boolean;
}

export function registerRedrive(outbox: Command): void {
  addBulk(
    outbox
      .command("redrive")
      .description("send dead letters again: by id, by filter, or all")
      .argument("[ids...]", "outbox ids", collectId),
  )
    .option("--out-of-order", "also send rows whose key has delivered later rows")
    .action(runRedrive);
}

async function runRedrive(ids: readonly string[], options: RedriveOptions): Promise<void> {
  await actOn(
    {
      verb: "redrive",
      noun: "Redriving",
      done: "redriven",
      refusals: {
        parked:
          'it may have arrived. Find out at the receiver, then headroom outbox resolve <id> --delivered or --not-delivered --reason "…".',
        needs_out_of_order:
          "later rows of its key have been sent already. Add --out-of-order if its receiver can handle that, or skip it.",
        not_dead:
          "there is no dead letter with this id; it may have been redriven or skipped before. See headroom outbox inspect <id>.",
      },
      run: (client, outboxIds) =>
        call(client, "outbox.redrive", {
          p_outbox_ids: outboxIds,
          p_actor: options.actor,
          p_reason: options.reason,
          p_out_of_order: options.outOfOrder === true,
        }),
    },
    ids,
    options,
    deadLetters(
      options,
      (parked) =>
        `${parked} of them are parked and will not be changed: only a person can find out whether they arrived.`,
    ),
  );
}
