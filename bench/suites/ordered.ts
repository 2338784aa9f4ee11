/**
 * Strict order over 1,000 keys, checked in the handler, in two layouts: 20 events of a key per transaction, and one
 * event of each key per transaction. For ours also 20,000 keys of one event, where no run can be longer than one.
 */
import { round } from "../measure.ts";
import { OrderCheck } from "../order-check.ts";
import type { Layout } from "../workload.ts";
import { openContender } from "./open-contender.ts";
import type { Suite } from "./suite.ts";

const WARM_UP_BOX_MS = 1_500;
const PLAIN_ROWS = 1_000;
const LAYOUTS: readonly Layout[] = ["bursts", "round-robin", "singles"];

export const orderedSuite: Suite = async ({ url, params, emit }) => {
  const rows = params.number("rows");
  const boxMs = params.number("boxMs");
  const contender = await openContender(params.text("contender"), { url, keys: params.number("keys") });

  const layouts = LAYOUTS.filter((layout) => params.text("layouts").split(",").includes(layout));
  const warmUpRows = params.number("warmUpRows");
  await contender.fillQueue({ rows: warmUpRows, layout: "round-robin" });
  await contender.drain("ordered", { target: warmUpRows, until: "empty", boxMs: WARM_UP_BOX_MS });

  for (const layout of layouts) {
    await contender.reset();
    await contender.fillQueue({ rows, layout });
    const order = new OrderCheck();
    const reading = await contender.drain("ordered", {
      target: rows,
      until: "empty",
      boxMs: layout === "bursts" ? params.number("burstsBoxMs") : boxMs,
      onRow: (body) => order.saw(body),
    });
    emit({
      measure: `ordered/${layout}`,
      who: contender.name,
      variant: contender.describe("ordered"),
      value: round(reading.rate),
      unit: "rows/s",
      details: { rows: reading.rows, complete: reading.complete, violations: order.violations, ...reading.cpu },
    });
  }

  // Whether order survives a producer that simply writes several events of a key in one transaction.
  await contender.reset();
  await contender.fillQueue({ rows: PLAIN_ROWS, layout: "bursts", plain: true });
  const order = new OrderCheck();
  await contender.drain("ordered", {
    target: PLAIN_ROWS,
    until: "empty",
    boxMs: params.number("burstsBoxMs"),
    onRow: (body) => order.saw(body),
  });
  emit({
    measure: "ordered/plain",
    who: contender.name,
    variant: "50 keys, 20 events each in one transaction, nothing else to tell them apart",
    value: order.violations,
    unit: "violations",
    details: { violations: order.violations },
  });
  await contender.close();
};
