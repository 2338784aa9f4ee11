/**
 * One row at a time to an idle worker: from the acknowledged commit to the handler's start. The gaps are random so
 * that no poll interval can synchronise with them.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { nowMs, percentile, round } from "../measure.ts";
import { makeBody } from "../workload.ts";
import { openContender } from "./open-contender.ts";
import type { Suite } from "./suite.ts";

const WARM_UP_WAKES = 5;
const MIN_GAP_MS = 15;
const GAP_SPREAD_MS = 20;
/** A wake that takes this long was a poll, or did not happen. */
const LOST_AFTER_MS = 5_000;

export const wakeSuite: Suite = async ({ url, params, emit }) => {
  const keys = params.number("keys");
  const wakes = params.number("wakes");
  const contender = await openContender(params.text("contender"), { url, keys });
  let onHandled: ((atMs: number) => void) | null = null;
  const listener = await contender.listen(() => onHandled?.(nowMs()));

  const fromCommitMs: number[] = [];
  for (let i = 0; i < wakes + WARM_UP_WAKES; i += 1) {
    await sleep(MIN_GAP_MS + Math.random() * GAP_SPREAD_MS);
    const handled = new Promise<number>((resolve, reject) => {
      const lost = setTimeout(() => reject(new Error(`row ${i} was not handled in time`)), LOST_AFTER_MS);
      onHandled = (atMs) => {
        clearTimeout(lost);
        resolve(atMs);
      };
    });
    await contender.enqueueOne(makeBody(i, "none", keys));
    const committedAtMs = nowMs();
    const tookMs = (await handled) - committedAtMs;
    if (i >= WARM_UP_WAKES) fromCommitMs.push(tookMs);
  }
  await listener.stop();

  for (const percent of [50, 99]) {
    emit({
      measure: `wake/p${percent}`,
      who: contender.name,
      variant: listener.describe,
      value: round(percentile(fromCommitMs, percent), 3),
      unit: "ms",
      details: { wakes, maxMs: round(Math.max(...fromCommitMs), 2) },
    });
  }
  await contender.close();
};
