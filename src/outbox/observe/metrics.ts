/**
 * Counters of one relay, and the gauges that the database knows, for Prometheus.
 *
 * Owns: names and help. Does not own: the text format (prom-client), nor serving it.
 *
 * Names begin with `headroom_`, units are seconds and bytes, and counters end in `_total`. The exceptions are names that are older than
 * this rule; a test lists them.
 *
 * Counters are plain numbers that prom-client reads when it is asked for text, because they are raised for every row. The histogram of rail
 * calls is counted and written by hand for the same reason: prom-client's own takes one to three microseconds for each row, ours a
 * tenth of one, and a busy relay has only twenty for everything.
 */
import { Counter, Gauge, Registry } from "prom-client";
import { call, type Queryable } from "../../db/call.ts";

/** The lines that a relay writes itself; operators write others, and claims write SKIPPED ones. */
const attemptStates = ["DISPATCHING", "DISPATCHED", "RETRYABLE", "FAILED", "ZOMBIE_REQUEUE", "RELEASED"] as const;
export type AttemptState = (typeof attemptStates)[number];

/** Upper bounds in milliseconds. */
const latencyBounds = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000] as const;

const secondsPerDay = 86_400;

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
  readonly #registry = new Registry();
  readonly #latencyCounts: number[] = Array.from({ length: latencyBounds.length + 1 }, () => 0);
  #latencySumMs = 0;

  constructor() {
    const registry = this.#registry;
    counter(registry, "notify_wakeups_total", "Wake-ups by NOTIFY.", () => this.notifyWakeups);
    counter(registry, "claim_batches_total", "Claims that returned rows.", () => this.claimBatches);
    counter(registry, "headroom_outbox_claim_errors_total", "Claims that failed.", () => this.claimErrors);
    counter(
      registry,
      "headroom_outbox_settle_errors_total",
      "Settles that failed and were tried again.",
      () => this.settleErrors,
    );
    const lateHelp = "Results that came after their lease was gone, and changed nothing.";
    counter(registry, "headroom_outbox_late_settles_total", lateHelp, () => this.lateSettles);
    counter(registry, "reaper_requeues_total", "Rows taken back from dead relays.", () => this.reaperRequeues);
    const sweptHelp = "Stranded lanes that the sweep repaired; anything above zero is a bug.";
    counter(registry, "headroom_outbox_swept_lanes_total", sweptHelp, () => this.sweptLanes);
    this.#registerAttempts();
  }

  #registerAttempts(): void {
    const attempts = this.#attempts;
    // oxlint-disable-next-line no-new -- it registers itself
    new Counter({
      name: "attempts_total",
      help: "Archive lines written by this relay, by state.",
      labelNames: ["state"],
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const [state, count] of attempts) this.inc({ state }, count);
      },
    });
  }

  countAttempts(state: AttemptState, count: number): void {
    if (count > 0) this.#attempts.set(state, (this.#attempts.get(state) ?? 0) + count);
  }

  observeLatency(latencyMs: number): void {
    let bucket = 0;
    while (bucket < latencyBounds.length && latencyMs > (latencyBounds[bucket] ?? 0)) bucket += 1;
    this.#latencyCounts[bucket] = (this.#latencyCounts[bucket] ?? 0) + 1;
    this.#latencySumMs += latencyMs;
  }

  attempts(state: AttemptState): number {
    return this.#attempts.get(state) ?? 0;
  }

  /** What this process counted. */
  async render(): Promise<string> {
    return `${await this.#registry.metrics()}${this.#renderLatency()}`;
  }

  #renderLatency(): string {
    let total = 0;
    const buckets = [...latencyBounds, "+Inf"].map((bound, index) => {
      total += this.#latencyCounts[index] ?? 0;
      return `dispatch_latency_ms_bucket{le="${bound}"} ${total}`;
    });
    return [
      "# HELP dispatch_latency_ms Duration of rail calls in milliseconds.",
      "# TYPE dispatch_latency_ms histogram",
      ...buckets,
      `dispatch_latency_ms_sum ${this.#latencySumMs}`,
      `dispatch_latency_ms_count ${total}`,
      "",
    ].join("\n");
  }
}

/** Two checks: a database that answers may still take too long for the gauges below. */
export function renderReach(databaseUp: boolean, gaugesUp: boolean): Promise<string> {
  const registry = new Registry();
  gauge(registry, "headroom_database_up", "Whether this relay's database answers.").set(databaseUp ? 1 : 0);
  gauge(registry, "headroom_gauges_up", "Whether the gauges of the database could be read in time.").set(
    gaugesUp ? 1 : 0,
  );
  return registry.metrics();
}

/** What the database knows, whichever relay asks. */
export async function renderDatabaseGauges(db: Queryable): Promise<string> {
  const streams = await call(db, "outbox.status", {});
  const classes = await call(db, "outbox.partition_status", {});
  const circuits = await call(db, "outbox.destination_status", {});
  const registry = new Registry();
  const perStream = (name: string, help: string, value: (row: (typeof streams)[number]) => number | null): void => {
    const each = gauge(registry, name, help, "stream");
    for (const row of streams) each.set({ stream: row.stream }, value(row) ?? 0);
  };
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
  perStream("headroom_outbox_in_flight", "Rows leased to a relay.", (row) => row.in_flight);
  perStream("dlq_depth", "Dead letters, parked ones included.", (row) => row.dead);
  perStream("headroom_outbox_parked", "Dead letters that only a person may decide.", (row) => row.parked);
  perStream(
    "stuck_dispatching_count",
    "Rows whose lease has run out and that nobody has taken back yet.",
    (row) => row.stuck,
  );
  perStream("headroom_outbox_blocked_lanes", "Lanes that wait for an operator.", (row) => row.blocked_lanes);
  const ahead = gauge(
    registry,
    "headroom_outbox_archive_ahead_seconds",
    "For how long archive partitions exist; at zero, claims stop.",
    "class",
  );
  for (const row of classes) ahead.set({ class: row.class }, row.days_ahead * secondsPerDay);
  const open = circuits.filter((row) => row.circuit !== "closed").length;
  gauge(registry, "headroom_outbox_open_circuits", "Destinations whose circuit is not closed.").set(open);
  return registry.metrics();
}

function counter(registry: Registry, name: string, help: string, value: () => number): void {
  // oxlint-disable-next-line no-new -- it registers itself
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      this.reset();
      this.inc(value());
    },
  });
}

function gauge(registry: Registry, name: string, help: string, label?: string): Gauge {
  return new Gauge({ name, help, labelNames: label === undefined ? [] : [label], registers: [registry] });
}
