/** How metrics are named: `headroom_…`, in seconds and bytes; a counter, and only a counter, ends in `_total`. */

/** These names are older than the rule and come from the engine's specification. */
const older = new Set([
  "outbox_pending_depth",
  "oldest_pending_age_seconds",
  "notify_wakeups_total",
  "claim_batches_total",
  "dispatch_latency_ms",
  "attempts_total",
  "dlq_depth",
  "reaper_requeues_total",
  "stuck_dispatching_count",
]);

const otherUnits = /_(ns|us|ms|millis|milliseconds|minutes|hours|days|kb|kilobytes|mb|megabytes|percent)(_|$)/;

/** The metrics of a scrape whose names break the rule. */
export function misnamed(scrape: string): string[] {
  return [...scrape.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = "", type = ""]) => {
    const right =
      name.startsWith("headroom_") && !otherUnits.test(name) && name.endsWith("_total") === (type === "counter");
    return right || older.has(name) ? [] : [name];
  });
}
