/**
 * The faults are over: callers that were never answered ask again, what is held is due, what waits is sent, and Postal repeats what it said.
 */
import { pause } from "../../../src/db/wait/pause.ts";
import type { Crowd } from "./crowd.ts";
import { stuckQuery } from "./oracle.ts";
import type { NotificationsStage } from "./stage.ts";

/** Until nothing is under way any more, or the time is over. */
export async function comeToRest(
  stage: NotificationsStage,
  crowd: Crowd | undefined,
  over: AbortSignal,
): Promise<void> {
  await crowd?.repeat(true);
  // What comes in quiet hours waits for their end, however late it is.
  await stage.rows("update notify.people set quiet_from = null, quiet_until = null where quiet_from is not null");
  await untilQuiet(stage, over);
  await stage.outside.ask("repeatReports");
  // What is learnt from Postal may tell people something.
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
