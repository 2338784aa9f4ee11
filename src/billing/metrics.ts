/** Gauges of money for Prometheus: a relay reads them from the database at each scrape (`gauges` of its options). */
import { Gauge, Registry } from "prom-client";
import type { Queryable } from "../db/call.ts";
import { waitingCounts } from "./waiting.ts";

export async function moneyGauges(db: Queryable): Promise<string> {
  const registry = new Registry();
  const waiting = new Gauge({
    name: "headroom_billing_waiting",
    help: "Payments, refunds, disputes and findings that wait for something, by state; and payments that do not add up (books).",
    labelNames: ["state"],
    registers: [registry],
  });
  const oldest = new Gauge({
    name: "headroom_billing_oldest_seconds",
    help: "How long the oldest of them has waited; of unreconciled, since the last complete comparison with Stripe.",
    labelNames: ["state"],
    registers: [registry],
  });
  for (const count of await waitingCounts(db)) {
    waiting.set({ state: count.state }, count.waiting);
    oldest.set({ state: count.state }, count.oldestSeconds);
  }
  return registry.metrics();
}
