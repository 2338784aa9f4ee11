/** `headroom outbox retry-now`: tries rows now that wait for the time of their next try. */
import type { Command } from "commander";
import { call } from "../../../db/call.ts";
import { collectId } from "./filters.ts";
import { actOn, addMany, type ManyOptions } from "./row-actions.ts";

interface RetryOptions extends ManyOptions {
  readonly stream?: string;
  readonly rail?: string;
  readonly code?: string;
}

export function registerRetryNow(outbox: Command): void {
  addMany(
    outbox
      .command("retry-now")
      .description("try rows now that wait for the time of their next try: by id, by filter, or all")
      .argument("[ids...]", "outbox ids", collectId)
      .option("--stream <name>", "only in this stream")
      .option("--rail <name>", "only those that go by this rail")
      .option("--code <code>", "only those whose last try ended with this error code"),
    "all rows that wait for their next try",
  ).action(runRetryNow);
}

async function runRetryNow(ids: readonly string[], options: RetryOptions): Promise<void> {
  const { stream = null, rail = null, code = null } = options;
  const filter = { p_stream: stream, p_rail: rail, p_error_code: code };
  await actOn(
    {
      verb: "retry",
      noun: "Retrying",
      done: "due_now",
      refusals: {
        due_already:
          "it waits for something other than time: a rail, a circuit or a rate limit. See headroom outbox inspect <id>.",
        scheduled: "it was never tried, and goes at the time that its producer gave it.",
        behind:
          "it goes when the row of its key that comes first is finished: headroom outbox inspect <id> names that.",
        in_flight: "a relay is sending it at this moment.",
        dead: 'it was given up: headroom outbox redrive <id> --reason "…" sends it again.',
        finished: "it was delivered or skipped before.",
        unknown: "there is no row with this id. Check it; rows that finished long ago are deleted.",
      },
      run: (client, outboxIds) =>
        call(client, "outbox.retry_now", { p_outbox_ids: outboxIds, p_actor: options.actor, p_reason: options.reason }),
    },
    ids,
    options,
    {
      words: (count) => `${count} row${count === 1 ? "" : "s"} that wait${count === 1 ? "s" : ""} for the next try`,
      isFiltered: [stream, rail, code].some((value) => value !== null),
      filters: "--stream, --rail, --code",
      count: (client) => call(client, "outbox.count_retries", filter),
      warn: () => Promise.resolve(null),
      page: (client, limit, after) =>
        call(client, "outbox.list_retries", { ...filter, p_limit: limit, p_after: after }),
    },
  );
}
