/**
 * 20,000 waiting rows, a handler that does nothing, one worker process: from the first handler's start until the
 * database shows the last row finished. A short unmeasured drain goes first, so that compiling is not timed.
 */
import { round } from "../measure.ts";
import type { Mode } from "../contenders/contender.ts";
import { openContender } from "./open-contender.ts";
import type { Suite } from "./suite.ts";

const WARM_UP_BOX_MS = 1_500;

export const drainSuite: Suite = async ({ url, params, emit }) => {
  const mode: Mode = params.text("mode") === "default" ? "default" : "best";
  const rows = params.number("rows");
  const contender = await openContender(params.text("contender"), { url, keys: params.number("keys") });
  const warmUpRows = params.number("warmUpRows");
  if (warmUpRows > 0) {
    await contender.fillQueue({ rows: warmUpRows, layout: "none" });
    await contender.drain(mode, { target: warmUpRows, until: "empty", boxMs: WARM_UP_BOX_MS });
    await contender.reset();
  }
  await contender.fillQueue({ rows, layout: "none" });
  const reading = await contender.drain(mode, { target: rows, until: "empty", boxMs: params.number("boxMs") });
  emit({
    measure: `drain/${mode}`,
    who: contender.name,
    variant: contender.describe(mode),
    value: round(reading.rate),
    unit: "rows/s",
    details: { rows: reading.rows, complete: reading.complete, ...reading.cpu },
  });
  await contender.close();
};
