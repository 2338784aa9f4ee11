/** `headroom outbox skip`: gives up rows permanently, so that their keys continue. */
import type { Command } from "commander";
import { call } from "../../../db/call.ts";
import { collectId } from "./filters.ts";
import { actOn, addBulk, deadLetters, type BulkOptions } from "./row-actions.ts";

export function registerSkip(outbox: Command): void {
  addBulk(
    outbox
      .command("skip")
      .description("give up rows permanently: dead letters by id, by filter, or all; pending rows by id")
      .argument("[ids...]", "outbox ids", collectId),
  ).action(runSkip);
}

async function runSkip(ids: readonly string[], options: BulkOptions): Promise<void> {
  await actOn(
    {
      verb: "skip",
      noun: "Skipping",
      done: "skipped",
      refusals: {
        in_flight: "a relay is sending it at this moment, so it may arrive. Try again when that has an outcome.",
        finished: "it was delivered or skipped before, and stays as it is.",
        unknown: "there is no row with this id. Check it; rows that finished long ago are deleted.",
      },
      run: (client, outboxIds) =>
        call(client, "outbox.skip", { p_outbox_ids: outboxIds, p_actor: options.actor, p_reason: options.reason }),
    },
    ids,
    options,
    deadLetters(
      options,
      (parked) => `${parked} of them are parked: they may have arrived, and will be given up without finding out.`,
    ),
  );
}
