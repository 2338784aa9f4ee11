/**
 * Runs suites in turn, round by round, so that a slow minute of the machine affects every contender equally.
 *
 * It owns processes and time: each suite has its limit, each part its share of the remaining time, and the run as a whole
 * its end. It does not interpret the numbers; the parts do.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { databaseName, dropDatabase } from "./database.ts";
import { nowMs } from "./measure.ts";
import type { Measurement, Part, Profile, SuiteSpec } from "./model.ts";
import { RESULT_PREFIX } from "./protocol.ts";

const SUITE_PROCESS = fileURLToPath(new URL("./suite-process.ts", import.meta.url));
const KILL_GRACE_MS = 1_500;
/** Below this a suite is not worth starting. */
const MIN_SUITE_MS = 4_000;
/** How much longer than its share a part may take to reach the smallest number of rounds. */
const OVERDRAFT = 1.5;
const STDERR_LIMIT = 4_000;
const LOGGED_LINES = 4;

export interface ScheduleOptions {
  readonly parts: readonly Part[];
  readonly profile: Profile;
  readonly adminUrl: string;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  readonly log: (message: string) => void;
}

export interface ScheduleOutcome {
  readonly measurements: ReadonlyMap<string, readonly Measurement[]>;
  readonly failures: readonly { suite: string; reason: string }[];
  /** Suites skipped, or repeated less often than planned, because time was up. */
  readonly cutShort: readonly string[];
  readonly secondsByPart: Readonly<Record<string, number>>;
}

type SuiteOutcome = { kind: "done"; measurements: Measurement[] } | { kind: "failed"; reason: string };

export async function runParts(options: ScheduleOptions): Promise<ScheduleOutcome> {
  const run = new Run(options);
  let weightLeft = options.parts.reduce((sum, part) => sum + part.weight, 0);
  for (const part of options.parts) {
    const startedAtMs = nowMs();
    const shareMs = ((options.deadlineMs - startedAtMs) * part.weight) / weightLeft;
    await run.part(part, shareMs);
    weightLeft -= part.weight;
    run.secondsByPart[part.name] = Math.round((nowMs() - startedAtMs) / 1000);
  }
  return run;
}

class Run implements ScheduleOutcome {
  readonly measurements = new Map<string, Measurement[]>();
  readonly failures: { suite: string; reason: string }[] = [];
  readonly cutShort: string[] = [];
  readonly secondsByPart: Record<string, number> = {};
  readonly #options: ScheduleOptions;
  readonly #finished = new Set<string>();

  constructor(options: ScheduleOptions) {
    this.#options = options;
  }

  async part(part: Part, shareMs: number): Promise<void> {
    const { profile, signal } = this.#options;
    const specs = part.suites(profile).filter((spec) => !this.#finished.has(spec.id));
    const startedAtMs = nowMs();
    let roundMs = 0;
    for (let round = 1; round <= profile.maxRounds && !signal.aborted; round += 1) {
      const due = specs.filter((spec) => round <= (spec.rounds ?? profile.maxRounds));
      if (due.length === 0) break;
      const allowedMs = round <= profile.minRounds ? shareMs * OVERDRAFT : shareMs;
      if (round > 1 && nowMs() - startedAtMs + roundMs > allowedMs) {
        if (round <= profile.minRounds) this.cutShort.push(`${part.name}: ${round - 1} round(s) only`);
        break;
      }
      const roundStartedAtMs = nowMs();
      for (const spec of due) await this.#suite(spec, `${part.name} ${round}`);
      roundMs = nowMs() - roundStartedAtMs;
    }
    for (const spec of specs) this.#finished.add(spec.id);
  }

  async #suite(spec: SuiteSpec, label: string): Promise<void> {
    const { adminUrl, deadlineMs, signal, log } = this.#options;
    const leftMs = deadlineMs - nowMs();
    if (signal.aborted || leftMs < MIN_SUITE_MS) {
      this.#noteCutShort(spec);
      return;
    }
    const startedAtMs = nowMs();
    const outcome = await runSuite(spec, adminUrl, Math.min(spec.timeoutMs, leftMs), signal);
    const seconds = ((nowMs() - startedAtMs) / 1000).toFixed(1);
    if (outcome.kind === "failed" && nowMs() >= deadlineMs) {
      // The run ended first: that says nothing about the suite.
      this.#noteCutShort(spec);
      return;
    }
    if (outcome.kind === "failed") {
      this.failures.push({ suite: spec.id, reason: outcome.reason });
      log(`[${label}] ${spec.id} failed after ${seconds} s: ${outcome.reason.split("\n", LOGGED_LINES).join("\n")}`);
      await dropDatabase(adminUrl, databaseName(spec.id)).catch(() => {});
      return;
    }
    for (const measurement of outcome.measurements) {
      const id = `${measurement.measure}|${measurement.who}`;
      this.measurements.set(id, [...(this.measurements.get(id) ?? []), measurement]);
    }
    const numbers = outcome.measurements.map((m) => `${m.measure} ${m.value} ${m.unit}`).join(", ");
    log(`[${label}] ${spec.id} ${seconds} s: ${numbers}`);
  }

  #noteCutShort(spec: SuiteSpec): void {
    const note = `${spec.id}: no time left`;
    if (!this.cutShort.includes(note)) this.cutShort.push(note);
  }
}

/** One suite in its own process group, so that ending it also ends the processes it started. */
async function runSuite(
  spec: SuiteSpec,
  adminUrl: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<SuiteOutcome> {
  const child = spawn(process.execPath, [SUITE_PROCESS, JSON.stringify(spec), adminUrl], {
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let stdout = "";
  let stderr = "";
  let ending: string | null = null;
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr = (stderr + text).slice(-STDERR_LIMIT)));
  const end = (reason: string) => {
    ending ??= reason;
    endGroup(child);
  };
  const onAbort = () => end("the run was interrupted");
  const timer = setTimeout(() => end(`took longer than ${Math.round(timeoutMs / 1000)} s`), timeoutMs);
  signal.addEventListener("abort", onAbort, { once: true });
  const code = await new Promise<number | string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (exitCode, exitSignal) => resolve(exitCode ?? exitSignal ?? "unknown"));
  });
  clearTimeout(timer);
  signal.removeEventListener("abort", onAbort);

  if (ending !== null) return { kind: "failed", reason: ending };
  if (code !== 0) return { kind: "failed", reason: `ended with ${code}: ${stderr.trim()}` };
  const lines = stdout.split("\n").filter((line) => line.startsWith(RESULT_PREFIX));
  return {
    kind: "done",
    measurements: lines.map(parseMeasurement),
  };
}

/** Both ends of the pipe are this program, so the line can be trusted. */
function parseMeasurement(line: string): Measurement {
  const measurement: Measurement = JSON.parse(line.slice(RESULT_PREFIX.length));
  return measurement;
}

function endGroup(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  const send = (name: NodeJS.Signals) => {
    try {
      process.kill(-pid, name);
    } catch {
      // The group has already ended.
    }
  };
  send("SIGTERM");
  setTimeout(() => send("SIGKILL"), KILL_GRACE_MS).unref();
}
