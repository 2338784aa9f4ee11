/** Figures of each channel, for Prometheus: a relay reads them with each scrape (`gauges` of its options). */
import { Gauge, Registry } from "prom-client";
import { call, type Queryable } from "../db/call.ts";

/** Of the last thousand messages within an hour; except held and suppressed, which count all there are. */
export interface ChannelFigures {
  readonly channel: string;
  /** Parts that wait for their time. */
  readonly held: number;
  /** How long the oldest that is due has been. */
  readonly oldestDueSeconds: number;
  readonly sent: number;
  readonly failed: number;
  readonly waiting: number;
  /** Tries beyond the first. */
  readonly retries: number;
  /** From release until the channel took it: the median, and the 95th percentile. */
  readonly medianSeconds: number;
  readonly slowestSeconds: number;
  readonly suppressed: number;
}

export async function channelFigures(db: Queryable): Promise<readonly ChannelFigures[]> {
  const rows = await call(db, "notify.channel_figures", {});
  return rows.map((row) => ({
    channel: row.channel,
    held: row.held,
    oldestDueSeconds: row.oldest_due_seconds,
    sent: row.sent,
    failed: row.failed,
    waiting: row.waiting,
    retries: row.retries,
    medianSeconds: row.median_seconds,
    slowestSeconds: row.slowest_seconds,
    suppressed: row.suppressed,
  }));
}

export async function notifyGauges(db: Queryable): Promise<string> {
  const registry = new Registry();
  const gauge = <L extends string>(name: string, help: string, ...more: L[]): Gauge<"channel" | L> =>
    new Gauge({ name: `headroom_notify_${name}`, help, labelNames: ["channel", ...more], registers: [registry] });
  const held = gauge("held", "Notifications that wait for their time, by channel.");
  const oldestDue = gauge("oldest_due_seconds", "How long ago the oldest unsent notification fell due.");
  const recent = gauge("recent", "The last thousand messages of a channel within an hour, by outcome.", "status");
  const success = gauge("success_ratio", "The part of the finished ones that went out; 1 without any.");
  const retries = gauge("recent_retries", "How many further tries they took.");
  const latency = gauge("latency_seconds", "From their release until the channel took them.", "quantile");
  const suppressed = gauge("suppressed", "Addresses to which no mail goes any more.");
  for (const figures of await channelFigures(db)) {
    const { channel, sent, failed, waiting } = figures;
    held.set({ channel }, figures.held);
    oldestDue.set({ channel }, figures.oldestDueSeconds);
    for (const [status, count] of Object.entries({ sent, failed, waiting })) recent.set({ channel, status }, count);
    success.set({ channel }, sent + failed === 0 ? 1 : sent / (sent + failed));
    retries.set({ channel }, figures.retries);
    latency.set({ channel, quantile: "0.5" }, figures.medianSeconds);
    latency.set({ channel, quantile: "0.95" }, figures.slowestSeconds);
    suppressed.set({ channel }, figures.suppressed);
  }
  return registry.metrics();
}
