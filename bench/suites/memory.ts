/** The worker's resident memory while it drains a long queue: the real `headroom relay` in its own process. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openHeadroomQueue, STREAMS } from "../contenders/headroom-queue.ts";
import { median, nowMs, round } from "../measure.ts";
import type { Suite } from "./suite.ts";

const SAMPLE_EVERY_MS = 100;
/** We check less often whether rows are left: the query has to skip deleted rows. */
const SAMPLES_PER_LOOK = 20;
const BOX_MS = 600_000;

const program = fileURLToPath(new URL("../../bin/headroom.js", import.meta.url));
const railsModule = fileURLToPath(new URL("../contenders/noop-rail.ts", import.meta.url));

async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) / 1_024;
}

export const memorySuite: Suite = async ({ url, params, emit, log }) => {
  const rows = params.number("rows");
  const queue = await openHeadroomQueue(url, params.number("keys"));
  await queue.fillQueue({ rows, layout: "none" });
  log("filled");

  // A checkout strips types at its first start. That costs 40 MB, which neither a later start nor an installed package needs.
  await once(spawn(process.execPath, [program, "relay", "--help"], { stdio: "ignore" }), "exit");
  const relay = spawn(
    process.execPath,
    [program, "relay", "--json", "--database-url", url, "--rails", railsModule, "--streams", STREAMS.unordered],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  const ended = once(relay, "exit");
  const startedAtMs = nowMs();
  const samples: number[] = [];
  try {
    while (samples.length % SAMPLES_PER_LOOK > 0 || !(await queue.isEmpty())) {
      if (relay.exitCode !== null) throw new Error(`the relay ended with ${relay.exitCode}`);
      if (nowMs() - startedAtMs > BOX_MS) throw new Error("the queue was not drained in time");
      samples.push(await residentMegabytes(relay.pid ?? 0));
      await sleep(SAMPLE_EVERY_MS);
    }
  } finally {
    relay.kill("SIGTERM");
    await ended;
  }

  const between = (from: number, to: number): number[] => samples.slice(samples.length * from, samples.length * to);
  const values = { peak: Math.max(...samples), early: median(between(0.25, 0.5)), late: median(between(0.75, 1)) };
  for (const [name, value] of Object.entries(values)) {
    emit({
      measure: `memory/${name}`,
      who: "headroom",
      variant: `${rows} rows, resident memory`,
      value: round(value, 1),
      unit: "MB",
      details: { rate: round((rows / (nowMs() - startedAtMs)) * 1_000), samples: samples.length },
    });
  }
  await queue.close();
};
