/**
 * The faults are over: waiting work is done, unknown outcomes are looked up, banks decide everything, and unpaid offers end.
 */
import { pause } from "../../../src/db/wait/pause.ts";
import { Findings } from "../kit/findings.ts";
import { judgeSubscriptions, stuckQuery } from "./oracle.ts";
import type { Outside } from "./outside.ts";
import type { PaymentsStage } from "./stage.ts";

/** Until nothing is in progress any more, or time is up. */
export async function comeToRest(
  stage: PaymentsStage,
  outside: Outside,
  over: AbortSignal,
  note: (failed: string) => void,
): Promise<void> {
  let mayAskAgain = true;
  for (let round = 0; !over.aborted; round += 1) {
    // As if hours had passed; not each time, so that earlier requests can be answered first.
    if (round % 8 === 0) {
      await outside.bank(true);
      await stage.hurryMoney();
      await stage.ageDead();
      await stage.pastDeadline();
    }
    await stage.hurryOutbox();
    await outside.work(true);
    for (const failed of await stage.sweep()) note(failed);
    if ((await countStuck(stage)) === 0 && !(await isBankBusy(stage))) {
      if (!mayAskAgain || !(await hasStaleSubscription(stage))) break;
      mayAskAgain = false;
      await stage.askInNextMinute();
      await stage.hurryMoney();
      continue;
    }
    await pause(200, over);
  }
  await stage.stripe.ask("delivered");
}

export function countStuck(stage: PaymentsStage): Promise<number> {
  return stage.countOf(`(${stuckQuery}) q`);
}

/** Whether Stripe has a change to a subscription that we missed, and that is newer than our last query. */
async function hasStaleSubscription(stage: PaymentsStage): Promise<boolean> {
  const findings = new Findings();
  await judgeSubscriptions(stage, await stage.stripe.ask("holdings"), findings);
  return findings.any;
}

async function isBankBusy(stage: PaymentsStage): Promise<boolean> {
  const { processing, pendingRefunds } = await stage.stripe.ask("open");
  return processing.length + pendingRefunds.length > 0;
}
