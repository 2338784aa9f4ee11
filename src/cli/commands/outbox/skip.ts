/** `headroom outbox skip`: gives rows up for good, and lets their keys go on. */
import type { Command } from "commander";
import { call } from "../../../db/call.ts";
import { collectId } from "./filters.ts";
import { actOn, addBulk, type BulkOptions } from "./row-actions.ts";

export function registerSkip(outbox: Command): void {
  addBulk(
    outbox
      .command("skip")
      .description("give rows up for good: dead letters by id, by filter, or all; pending rows by id")
      .argument("[ids...]", "outbox ids", collectId),
  ).action(runSkip);
}

async function runSkip(ids: readonly string[], options: BulkOptions): Promise<void> {
  await actOn(
    {
      verb: "skip",
      noun: "Skipping",
      done: "skipped",
      warn: (parked) => `${parked} of them are parked: they may have arrived, and will be given up without knowing.`,
      refusals: {
        in_flight:
          "a relay is sending it at this moment, so it may be arriving. Ask again when it has come to something.",
        finished: "it was delivered or skipped before, and stays as it is.",
        unknown: "there is no row with this id. Check it; rows that finished long ago are collected.",
      },
      run: (client, outboxIds) =>
        call(client, "outbox.skip", { p_outbox_ids: outboxIds, p_actor: options.actor, p_reason: options.reason }),
    },
    ids,
    options,
  );
}
