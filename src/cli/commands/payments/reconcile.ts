/** `headroom payments reconcile`: compares what Stripe has with what we have, now instead of within the hour. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import type { Client } from "pg";
import { listReconciliations, reconcile, type Reconciliation } from "../../../billing/index.ts";
import { runTimers } from "../../../capacity/timers.ts";
import { actorOption, type ActorOption } from "../../actor.ts";
import { withDatabase } from "../../database.ts";
import { ExitWith } from "../../exit.ts";
import { parseMoment, periodOf, readClock, type Moment } from "../../words/moment.ts";
import { addCommon, parseWhole, type CommonOptions } from "../../options.ts";
import { printJson, printLine, startProgress } from "../../output.ts";
import { orFail } from "../../refusal.ts";

interface ReconcileOptions extends CommonOptions, ActorOption {
  readonly since?: Moment;
  readonly wait?: boolean;
  readonly timeout: number;
}

export function registerReconcile(payments: Command): void {
  addCommon(
    payments
      .command("reconcile")
      .description(
        "compare payments, renewals, refunds and disputes at Stripe with ours; relays do it, one begins every hour",
      )
      .option("--since <time>", "how far back, such as 30d or 2027-01-31 (default: seven days)", parseMoment)
      .option("--wait", "wait until it is complete")
      .option("--timeout <seconds>", "with --wait: how long at most", parseWhole(1, 86_400), 600)
      .addOption(actorOption()),
  ).action(runReconcile);
}

async function runReconcile(options: ReconcileOptions): Promise<void> {
  const done = await withDatabase(options, "payments reconcile", async (client) => {
    const { from: since } = periodOf(
      options.since === undefined ? {} : { from: options.since },
      await readClock(client),
    );
    const { id } = orFail(await reconcile(client, options.actor, { since }));
    return options.wait === true ? follow(client, id, options.timeout) : find(client, id);
  });
  if (options.json === true) printJson({ reconciliation: done });
  else show(done, options.wait === true);
  if (options.wait === true && done.state !== "complete") throw new ExitWith(1);
}

async function find(client: Client, id: string): Promise<Reconciliation> {
  const [found] = await listReconciliations(client, { id });
  if (found === undefined) throw new Error("A comparison that was begun is gone.");
  return found;
}

const askEveryMs = 500;

/**
 * Waits until it is complete, given up, or the time is up. Each page waits for a sweep, which asks for the next one. Others sweep once a
 * minute, so this sweeps too.
 */
async function follow(client: Client, id: string, timeoutSeconds: number): Promise<Reconciliation> {
  const until = performance.now() + timeoutSeconds * 1_000;
  const progress = startProgress("Objects compared");
  try {
    for (;;) {
      const found = await find(client, id);
      if (found.state !== "under_way" || performance.now() >= until) return found;
      progress.update(found.seen);
      await sleep(askEveryMs);
      await runTimers(client);
    }
  } finally {
    progress.finish();
  }
}

function show({ id, since, seen, found, state }: Reconciliation, waited: boolean): void {
  if (state === "under_way") {
    printLine(
      waited
        ? `It is not complete yet: ${seen} objects were compared. It continues without this command.`
        : `The comparison with Stripe since ${since.toISOString()} has begun (${id}).`,
    );
    return printLine(
      "Next: headroom payments balance, which says when it is complete; headroom outbox status, if it is not",
    );
  }
  if (state === "given_up") {
    printLine(`It was given up after ${seen} objects, because it did not finish within the hour.`);
    return printLine("Next: headroom outbox status, and headroom doctor");
  }
  printLine(
    `Compared ${seen} objects at Stripe; ${found === 0 ? "nothing in them was new to us" : `${found} ${found === 1 ? "was" : "were"} new to us, and recorded`}.`,
  );
  printLine("Next: headroom payments findings");
}
