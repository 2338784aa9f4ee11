/**
 * Counters of one relay, and the gauges that the database knows, in Prometheus' text format.
 *
 * Written by hand for one reason: these are bumped for every row, and a general library looks up its labels each time.
 * Owns: names and formats. Does not own: serving them.
 */
import { call, type Queryable } from "../../db/call.ts";

/** The lines that a relay itself causes; those that operators write are theirs, and SKIPPED ones are the claim's. */
const attemptStates = ["DISPATCHING", "DISPATCHED", "RETRYABLE", "FAILED", "ZOMBIE_REQUEUE", "RELEASED"] as const;
export type AttemptState = (typeof attemptStates)[number];

/** Upper bounds in milliseconds. */
const latencyBounds = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000] as const;

export class RelayMetrics {
  notifyWakeups = 0;
  claimBatches = 0;
  claimErrors = 0;
  settleErrors = 0;
  lateSettles = 0;
  reaperRequeues = 0;
  sweptLanes = 0;
  // All of them from the start: a counter that appears with its first event hides that event from a rate.
  readonly #attempts = new Map<AttemptState, number>(attemptStates.map((state) => [state, 0]));
  readonly #latencyCounts: number[] = Array.from({ length: latencyBounds.length + 1 }, () => 0);
  #latencySumMs = 0;
  #latencyCount = 0;

  countAttempts(state: AttemptState, count: number): void {
    if (count > 0) this.#attempts.set(state, (this.#attempts.get(state) ?? 0) + count);
  }

  observeLatency(latencyMs: number): void {
    let bucket = 0;
    while (bucket < latencyBounds.length && latencyMs > (latencyBounds[bucket] ?? 0)) bucket += 1;
    this.#latencyCounts[bucket] = (this.#latencyCounts[bucket] ?? 0) + 1;
    this.#latencySumMs += latencyMs;
    this.#latencyCount += 1;
  }

  attempts(state: AttemptState): number {
    return this.#attempts.get(state) ?? 0;
  }

  /** What this process counted. */
  render(): string {
    const lines: string[] = [];
    counter(lines, "notify_wakeups_total", "Wake-ups by NOTIFY.", [["", this.notifyWakeups]]);
    counter(lines, "claim_batches_total", "Claims that brought rows.", [["", this.claimBatches]]);
    counter(lines, "claim_errors_total", "Claims that failed.", [["", this.claimErrors]]);
    counter(lines, "settle_errors_total", "Settles that failed and were tried again.", [["", this.settleErrors]]);
    counter(lines, "late_settles_total", "Results that came after their lease was gone, and changed nothing.", [
      ["", this.lateSettles],
    ]);
    counter(lines, "reaper_requeues_total", "Rows taken back from dead relays.", [["", this.reaperRequeues]]);
    counter(lines, "swept_lanes_total", "Stranded lanes that the sweep mended; anything above zero is a bug.", [
      ["", this.sweptLanes],
    ]);
    counter(
      lines,
      "attempts_total",
      "Archive lines written by this relay, by state.",
      [...this.#attempts].map(([state, count]) => [`{state="${state}"}`, count]),
    );
    this.#renderLatency(lines);
    return `${lines.join("\n")}\n`;
  }

  #renderLatency(lines: string[]): void {
    header(lines, "dispatch_latency_ms", "Duration of rail calls in milliseconds.", "histogram");
    let total = 0;
    latencyBounds.forEach((bound, index) => {
      total += this.#latencyCounts[index] ?? 0;
      lines.push(`dispatch_latency_ms_bucket{le="${bound}"} ${total}`);
    });
    lines.push(`dispatch_latency_ms_bucket{le="+Inf"} ${this.#latencyCount}`);
    lines.push(`dispatch_latency_ms_sum ${this.#latencySumMs}`, `dispatch_latency_ms_count ${this.#latencyCount}`);
  }
}

/** Whether the gauges below could be read. */
export function renderDatabaseUp(up: boolean): string {
  const lines: string[] = [];
  gauge(lines, "database_up", "Whether this relay's database answers.", [["", up ? 1 : 0]]);
  return `${lines.join("\n")}\n`;
}

/** What the database knows, whichever relay asks. */
export async function renderDatabaseGauges(db: Queryable): Promise<string> {
  const streams = await call(db, "outbox.status", {});
  const classes = await call(db, "outbox.partition_status", {});
  const circuits = await call(db, "outbox.destination_status", {});
  const lines: string[] = [];
  const perStream = (name: string, help: string, value: (row: (typeof streams)[number]) => number | null): void =>
    gauge(
      lines,
      name,
      help,
      streams.map((row) => [`{stream="${row.stream}"}`, value(row) ?? 0]),
    );
  perStream(
    "outbox_pending_depth",
    "Rows waiting to be sent; an estimate where there are more than 10,000.",
    (row) => row.pending,
  );
  perStream(
    "oldest_pending_age_seconds",
    "Age of the oldest row waiting to be sent.",
    (row) => row.oldest_pending_age_seconds,
  );
  perStream("outbox_in_flight", "Rows leased to a relay.", (row) => row.in_flight);
  perStream("dlq_depth", "Dead letters, parked ones included.", (row) => row.dead);
  perStream("parked_depth", "Dead letters that only a person may decide.", (row) => row.parked);
  perStream(
    "stuck_dispatching_count",
    "Rows whose lease has run out and that nobody has taken back yet.",
    (row) => row.stuck,
  );
  perStream("blocked_lanes", "Lanes that wait for an operator.", (row) => row.blocked_lanes);
  gauge(
    lines,
    "archive_days_ahead",
    "Days for which archive partitions exist; at zero, claims stop.",
    classes.map((row) => [`{class="${row.class}"}`, row.days_ahead]),
  );
  gauge(lines, "open_circuits", "Destinations whose circuit is not closed.", [
    ["", circuits.filter((row) => row.circuit !== "closed").length],
  ]);
  return `${lines.join("\n")}\n`;
}

type Sample = readonly [labels: string, value: number];

function header(lines: string[], name: string, help: string, type: string): void {
  lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
}

function counter(lines: string[], name: string, help: string, samples: readonly Sample[]): void {
  header(lines, name, help, "counter");
  for (const [labels, value] of samples) lines.push(`${name}${labels} ${value}`);
}

function gauge(lines: string[], name: string, help: string, samples: readonly Sample[]): void {
  header(lines, name, help, "gauge");
  for (const [labels, value] of samples) lines.push(`${name}${labels} ${value}`);
}
