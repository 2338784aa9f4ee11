/** Gauges of jobs for Prometheus: a relay reads them from the database at each scrape (`gauges` of its options). */
import { Gauge, Registry } from "prom-client";
import type { Queryable } from "../db/call.ts";
import { jobCounts } from "./jobs.ts";

export async function jobGauges(db: Queryable): Promise<string> {
  const registry = new Registry();
  const jobs = new Gauge({
    name: "headroom_provisioning_jobs",
    help: "Provisioning jobs that have not ended, by state; those whose cleanup failed; and those whose run could not be asked for.",
    labelNames: ["state"],
    registers: [registry],
  });
  const oldest = new Gauge({
    name: "headroom_provisioning_oldest_seconds",
    help: "How long the job that moved longest ago has been in the state.",
    labelNames: ["state"],
    registers: [registry],
  });
  for (const count of await jobCounts(db)) {
    jobs.set({ state: count.state }, count.jobs);
    oldest.set({ state: count.state }, count.oldestSeconds);
  }
  return registry.metrics();
}
