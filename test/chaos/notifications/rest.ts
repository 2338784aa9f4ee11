/**
 * The faults are over: callers without an answer call again, held parts become due, waiting messages are sent, and Postal repeats its
 * reports.
 */
import { pause } from "../../../src/db/wait/pause.ts";
import type { Crowd } from "./crowd.ts";
import { stuckQuery } from "./oracle.ts";
import type { NotificationsStage } from "./stage.ts";

/** Until nothing is in progress any more, or time is up. */
export async function comeToRest(
  stage: NotificationsStage,
  crowd: Crowd | undefined,
  over: AbortSignal,
): Promise<void> {
  await crowd?.repeat(true);
  // A message in quiet hours waits for their end, however late that is.
  await stage.rows("update notify.people set quiet_from = null, quiet_until = null where quiet_from is not null");
  await untilQuiet(stage, over);
  await stage.outside.ask("repeatReports");
  // Postal's reports may cause notifications.
  await untilQuiet(stage, over);
}

async function untilQuiet(stage: NotificationsStage, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    await stage.hurryHeld();
    await stage.hurryOutbox();
    if ((await countStuck(stage)) === 0) return;
    await pause(200, over);
  }
}

export function countStuck(stage: NotificationsStage): Promise<number> {
  return stage.countOf(`(${stuckQuery}) q`);
}
