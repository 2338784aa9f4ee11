/**
 * Clocks, medians and meters shared by every suite, so that each contender is measured by the same rules.
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

export const nowMs = (): number => performance.now();

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  if (upper === undefined) throw new Error("the median of nothing");
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1))];
  if (value === undefined) throw new Error("a percentile of nothing");
  return value;
}

export const round = (value: number, digits = 0): number => Math.round(value * 10 ** digits) / 10 ** digits;

/** CPU time of the whole machine in ms, or null if /proc is missing. */
function machineCpuMs(): number | null {
  try {
    const fields = readFileSync("/proc/stat", "utf8").split("\n")[0]?.trim().split(/\s+/).slice(1).map(Number) ?? [];
    // user, nice, system, irq and softirq, in ticks of 10 ms; idle, iowait and steal are left out.
    return [0, 1, 2, 5, 6].reduce((sum, index) => sum + (fields[index] ?? 0), 0) * 10;
  } catch {
    return null;
  }
}

/** Stolen time in ms since boot: how much of the machine other guests used. */
export function stealMs(): number {
  try {
    return Number(readFileSync("/proc/stat", "utf8").split("\n")[0]?.trim().split(/\s+/)[8] ?? 0) * 10;
  } catch {
    return 0;
  }
}

export type CpuReading = Record<"nodeUsPerRow" | "otherUsPerRow", number>;

/** Starts counting CPU time; the result separates this process from everything else (Postgres, and other programs). */
export function startCpuMeter(): (rows: number) => CpuReading {
  const node = process.cpuUsage();
  const machine = machineCpuMs();
  return (rows) => {
    const used = process.cpuUsage(node);
    const nodeMs = (used.user + used.system) / 1000;
    const allMs = machine === null ? nodeMs : (machineCpuMs() ?? 0) - machine;
    const perRow = (ms: number): number => round((Math.max(0, ms) * 1000) / Math.max(1, rows), 1);
    return { nodeUsPerRow: perRow(nodeMs), otherUsPerRow: perRow(allMs - nodeMs) };
  };
}

/** Calls `step` in `loops` parallel loops for `durationMs`, at most `limit` times; returns calls per second. */
export async function ratePerSecond(
  loops: number,
  durationMs: number,
  step: (index: number) => Promise<unknown>,
  limit = Number.POSITIVE_INFINITY,
): Promise<{ rate: number; calls: number }> {
  const startedAt = nowMs();
  let next = 0;
  let calls = 0;
  const loop = async (): Promise<void> => {
    while (nowMs() - startedAt < durationMs && next < limit) {
      await step(next++);
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: loops }, loop));
  return { rate: (calls * 1000) / (nowMs() - startedAt), calls };
}

/**
 * The clock of a drain: from the first handler's start to the moment that `finish` is called, which is when the
 * last completion is visible in the database. `reached` resolves at the target or when time is up.
 */
export class DrainClock {
  readonly reached: Promise<void>;
  readonly #target: number;
  readonly #timer: NodeJS.Timeout;
  #resolve: () => void = () => {};
  #meter: ((rows: number) => CpuReading) | null = null;
  #startedAtMs = 0;
  #targetAtMs = 0;
  #done = 0;

  constructor(target: number, boxMs: number) {
    this.#target = target;
    this.reached = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#timer = setTimeout(() => this.#resolve(), boxMs);
  }

  get done(): number {
    return this.#done;
  }

  get complete(): boolean {
    return this.#done >= this.#target;
  }

  /** Called at the start of a handler, with how many rows it was given. */
  saw(rows = 1): void {
    if (this.#done === 0) {
      this.#startedAtMs = nowMs();
      this.#meter = startCpuMeter();
    }
    const before = this.#done;
    this.#done += rows;
    if (before < this.#target && this.#done >= this.#target) {
      this.#targetAtMs = nowMs();
      this.#resolve();
    }
  }

  /** Reads the clock. `at: "target"` measures up to the handler that reached the target, not to now. */
  finish(at: "now" | "target"): DrainReading {
    clearTimeout(this.#timer);
    const endedAtMs = at === "target" && this.#targetAtMs > 0 ? this.#targetAtMs : nowMs();
    const rows = at === "target" ? Math.min(this.#done, this.#target) : this.#done;
    const tookMs = endedAtMs - this.#startedAtMs;
    return {
      rate: rows === 0 ? 0 : (rows * 1000) / tookMs,
      rows: this.#done,
      complete: this.complete,
      cpu: this.#meter?.(this.#done) ?? { nodeUsPerRow: 0, otherUsPerRow: 0 },
    };
  }
}

export interface DrainReading {
  readonly rate: number;
  readonly rows: number;
  readonly complete: boolean;
  readonly cpu: CpuReading;
}

/** Polls `check` every 3 ms until it is true or time is up; returns whether it became true. */
export async function pollUntil(check: () => Promise<boolean>, boxMs: number): Promise<boolean> {
  const deadline = nowMs() + boxMs;
  for (;;) {
    if (await check()) return true;
    if (nowMs() >= deadline) return false;
    await sleep(3);
  }
}
