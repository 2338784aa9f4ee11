/** Counts of the tasks other than sending, by name, for Prometheus. Owns: the counts and their names. */
import { Counter, Gauge, Registry } from "prom-client";

interface Counts {
  runs: number;
  failures: number;
  seconds: number;
  /** Unix time. */
  lastSuccess: number | undefined;
}

export class TaskMetrics {
  readonly #tasks = new Map<string, Counts>();

  /** From the start: a counter that appears with its first failure hides that failure from a rate. */
  expect(task: string): Counts {
    const counts = this.#tasks.get(task) ?? { runs: 0, failures: 0, seconds: 0, lastSuccess: undefined };
    this.#tasks.set(task, counts);
    return counts;
  }

  count(task: string, tookMs: number, succeeded: boolean): void {
    const counts = this.expect(task);
    counts.runs += 1;
    counts.seconds += tookMs / 1_000;
    if (succeeded) counts.lastSuccess = Date.now() / 1_000;
    else counts.failures += 1;
  }

  render(): Promise<string> {
    const registry = new Registry();
    const options = (name: string, help: string) => ({
      name: `headroom_task_${name}`,
      help,
      labelNames: ["task"] as const,
      registers: [registry],
    });
    const runs = new Counter(options("runs_total", "Runs of a task other than sending."));
    const failures = new Counter(options("failures_total", "Runs that failed."));
    const seconds = new Counter(options("duration_seconds_total", "Total duration of its runs."));
    const success = new Gauge(
      options("last_success_timestamp_seconds", "When it last succeeded here; absent before its first success."),
    );
    for (const [task, counts] of this.#tasks) {
      runs.inc({ task }, counts.runs);
      failures.inc({ task }, counts.failures);
      seconds.inc({ task }, counts.seconds);
      if (counts.lastSuccess !== undefined) success.set({ task }, counts.lastSuccess);
    }
    return registry.metrics();
  }
}
