/**
 * A slice of 5,000 rows off a queue that holds far more: does the size of the rest matter?
 *
 * `ready`: the rest could be taken as well. `future`: the rest is due tomorrow. `blocked`: a tenth of the keys wait
 * for an operator, with their rows behind them. `baseline`: there is almost no rest. Several slices are
 * taken from one queue, which is topped up in between, and their median is reported.
 */
import type { Contender } from "../contenders/contender.ts";
import { median, round } from "../measure.ts";
import { BURST, type Layout } from "../workload.ts";
import { openContender } from "./open-contender.ts";
import type { Suite } from "./suite.ts";

const BOX_MS = 10_000;

export const sliceSuite: Suite = async ({ url, params, emit, log }) => {
  const kind = params.text("kind");
  const layout: Layout = params.text("layout") === "ordered" ? "bursts" : "none";
  const sliceRows = params.number("sliceRows");
  const contender = await openContender(params.text("contender"), { url, keys: params.number("keys") });
  let next = await prepare(contender, kind, layout, params.number("backlogRows"), params.number("baselineRows"));
  log("filled");

  const mode = layout === "none" ? "backlog" : "ordered";
  const rates: number[] = [];
  // The first slice is not counted: it includes compiling and cold pages, whatever the size of the queue.
  for (let slice = 0; slice <= params.number("slices"); slice += 1) {
    const reading = await contender.drain(mode, { target: sliceRows, until: "target", boxMs: BOX_MS });
    if (!reading.complete) throw new Error(`only ${reading.rows} of ${sliceRows} rows came within ${BOX_MS} ms`);
    if (slice > 0) rates.push(reading.rate);
    const rows = Math.ceil(reading.rows / BURST) * BURST;
    await contender.fillQueue({ rows, from: next, layout });
    next += rows;
  }
  emit({
    measure: `slice/${kind}-${params.text("layout")}`,
    who: contender.name,
    variant: `${kind}, ${params.text("layout")}, ${contender.describe(mode)}`,
    value: round(median(rates)),
    unit: "rows/s",
    details: { backlogRows: params.number("backlogRows"), slices: rates.map((rate) => round(rate)).join(" ") },
  });
  await contender.close();
};

/** Fills the queue for a kind of slice; returns the next free index. */
async function prepare(
  contender: Contender,
  kind: string,
  layout: Layout,
  backlogRows: number,
  baselineRows: number,
): Promise<number> {
  switch (kind) {
    case "baseline":
      await contender.fillQueue({ rows: baselineRows, layout });
      return baselineRows;
    case "ready":
      await contender.fillQueue({ rows: backlogRows, layout });
      return backlogRows;
    case "future":
      await contender.fillQueue({ rows: backlogRows, layout, due: "tomorrow" });
      await contender.fillQueue({ rows: baselineRows, from: backlogRows, layout });
      return backlogRows + baselineRows;
    case "blocked":
      if (!contender.fillWithBlockedKeys) throw new Error(`${contender.name} has no notion of a blocked key`);
      return contender.fillWithBlockedKeys({ readyRows: baselineRows, blockedRows: backlogRows });
    default:
      throw new Error(`there is no kind of slice "${kind}"`);
  }
}
