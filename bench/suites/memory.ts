/** The worker's resident memory while it drains a long queue: the highest, and early against late. */
import { openHeadroom } from "../contenders/headroom.ts";
import { median, round } from "../measure.ts";
import type { Suite } from "./suite.ts";

const SAMPLE_EVERY_MS = 100;
const BOX_MS = 300_000;
const MEGABYTE = 1024 * 1024;

export const memorySuite: Suite = async ({ url, params, emit, log }) => {
  const rows = params.number("rows");
  const headroom = await openHeadroom({ url, keys: params.number("keys") });
  await headroom.fillQueue({ rows, layout: "none" });
  log("filled");

  let delivered = 0;
  const samples: { readonly delivered: number; readonly megabytes: number }[] = [];
  const sampler = setInterval(
    () => samples.push({ delivered, megabytes: process.memoryUsage.rss() / MEGABYTE }),
    SAMPLE_EVERY_MS,
  );
  const reading = await headroom.drain("default", {
    target: rows,
    until: "empty",
    boxMs: BOX_MS,
    onRow: () => (delivered += 1),
  });
  clearInterval(sampler);
  if (!reading.complete) throw new Error(`only ${reading.rows} of ${rows} rows were drained`);

  const between = (from: number, to: number): number[] =>
    samples.filter((s) => s.delivered >= rows * from && s.delivered < rows * to).map((s) => s.megabytes);
  const values = {
    peak: Math.max(...samples.map((sample) => sample.megabytes)),
    early: median(between(0.25, 0.5)),
    late: median(between(0.75, 1)),
  };
  for (const [name, value] of Object.entries(values)) {
    emit({
      measure: `memory/${name}`,
      who: "headroom",
      variant: `${rows} rows, resident memory`,
      value: round(value, 1),
      unit: "MB",
      details: { rate: round(reading.rate), samples: samples.length },
    });
  }
  await headroom.close();
};
