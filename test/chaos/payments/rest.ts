/**
 * The faults are over: what waits is carried out, what is unknown is asked for, banks have their last word, and offers that nobody paid end.
 */
import { pause } from "../../../src/db/wait/pause.ts";
import { stuckQuery } from "./oracle.ts";
import type { Outside } from "./outside.ts";
import type { PaymentsStage } from "./stage.ts";

/** Until nothing is under way any more, or the time is over. */
export async function comeToRest(
  stage: PaymentsStage,
  outside: Outside,
  over: AbortSignal,
  note: (failed: string) => void,
): Promise<void> {
  for (let round = 0; !over.aborted; round += 1) {
    // As if hours had passed; not each time, so that what was asked for can be answered first.
    if (round % 8 === 0) {
      await outside.bank(true);
      await stage.hurryMoney();
      await stage.ageDead();
      await stage.pastDeadline();
    }
    await stage.hurryOutbox();
    await outside.work(true);
    for (const failed of await stage.sweep()) note(failed);
    if ((await countStuck(stage)) === 0 && !(await isBankBusy(stage))) break;
    await pause(200, over);
  }
  await stage.stripe.ask("delivered");
}

export async function countStuck(stage: PaymentsStage): Promise<number> {
  const [left] = await stage.rows<{ n: number }>(`select count(*)::integer as n from (${stuckQuery}) q`);
  return left?.n ?? 0;
}

async function isBankBusy(stage: PaymentsStage): Promise<boolean> {
  const { processing, pendingRefunds } = await stage.stripe.ask("open");
  return processing.length + pendingRefunds.length > 0;
}
