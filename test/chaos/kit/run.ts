/**
 * One run: faults happen at random under load, then they stop, everything comes to rest, and the oracle judges.
 *
 * Owns: the phases and their time, repeated actions, and which of their errors are expected. Does not own: the faults and their targets.
 */
import { isRetryableConnectionError, sqlStateOf, toHeadroomError } from "../../../src/db/errors.ts";
import { pause } from "../../../src/db/wait/pause.ts";
import { Findings } from "./findings.ts";
import { PartFailed } from "./part-process.ts";
import { Random, type Range } from "./random.ts";
import type { Hooks, RunResult, Sections } from "./subject.ts";

export interface RunSettings {
  readonly seed: number;
  /** The longest time for faults. */
  readonly faultsMs: number;
  /** The longest time to come to rest afterwards. */
  readonly restMs: number;
}

/** What a subject does in the phases of a run, on a stage that is up. */
export interface Play {
  /** Faults and load, in parallel. */
  readonly faults: () => Promise<unknown>;
  /** After the faults. Resolves when nothing is in progress any more, or the phase's time is up. */
  readonly rest: () => Promise<void>;
  readonly judge: () => Promise<void>;
  readonly sections: () => Sections | Promise<Sections>;
  /** Printed every few seconds. */
  readonly progress: () => string | Promise<string>;
}

const progressEveryMs = 5_000;

export async function runPlay(
  settings: RunSettings,
  hooks: Hooks,
  begin: (run: Run, undo: AsyncDisposableStack) => Promise<Play>,
): Promise<RunResult> {
  const startedAtMs = performance.now();
  await using undo = new AsyncDisposableStack();
  const run = new Run(settings.seed, hooks);
  const play = await begin(run, undo);
  hooks.onProgress?.("the stage is up");
  await run.phase("faults", settings.faultsMs, play);
  hooks.onProgress?.("the faults are over");
  await run.phase("rest", settings.restMs, play);
  hooks.onProgress?.("checking");
  await play.judge();
  const sections = await play.sections();
  const seconds = (performance.now() - startedAtMs) / 1_000;
  return { ok: !run.findings.any, seed: settings.seed, seconds, sections, findings: run.findings.list };
}

export class Run {
  readonly findings = new Findings();
  readonly random: Random;
  /** The durations of the finished phases. */
  readonly spentMs = { faults: 0, rest: 0 };
  readonly #hooks: Hooks;
  readonly #did = new Map<string, number>();
  #phase = new AbortController();

  constructor(seed: number, hooks: Hooks) {
    this.random = new Random(seed);
    this.#hooks = hooks;
  }

  /** Aborts when the current phase ends. */
  get over(): AbortSignal {
    return this.#phase.signal;
  }

  /** The phase has reached its goal. */
  readonly enough = (): void => this.#phase.abort();

  readonly count = (what: string): void => {
    this.#did.set(what, (this.#did.get(what) ?? 0) + 1);
  };

  get did(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#did].toSorted(([one], [other]) => one.localeCompare(other)));
  }

  async phase(name: "faults" | "rest", ms: number, play: Play): Promise<void> {
    const startedAtMs = performance.now();
    this.#phase = new AbortController();
    const outside = AbortSignal.any([this.#hooks.signal, AbortSignal.timeout(ms)]);
    if (outside.aborted) this.enough();
    outside.addEventListener("abort", this.enough, { once: true });
    await Promise.all([play[name]().finally(this.enough), this.#report(name, play, this.over)]);
    outside.removeEventListener("abort", this.enough);
    this.#hooks.signal.throwIfAborted();
    this.spentMs[name] = performance.now() - startedAtMs;
  }

  /** Repeats an action until the phase ends. */
  async again(everyMs: Range, act: (random: Random) => Promise<unknown>): Promise<void> {
    const random = this.random.fork();
    while (!this.over.aborted) {
      await this.#try(act, random);
      await pause(random.between(...everyMs), this.over);
    }
  }

  /** As `again`, but waits first. Null: never. */
  async every(everyMs: Range | null, act: (random: Random) => Promise<unknown>): Promise<void> {
    if (everyMs === null) return;
    const random = this.random.fork();
    for (;;) {
      await pause(random.between(...everyMs), this.over);
      if (this.over.aborted) return;
      await this.#try(act, random);
    }
  }

  async #try(act: (random: Random) => Promise<unknown>, random: Random): Promise<void> {
    try {
      await act(random);
    } catch (error) {
      if (isExpected(error)) return;
      const { message, sqlState } = toHeadroomError(error);
      this.findings.add("nothing fails in an unknown way", `${message} (${sqlState ?? "no SQL state"})`);
    }
  }

  async #report(name: string, play: Play, over: AbortSignal): Promise<void> {
    const startedAtMs = performance.now();
    for (;;) {
      await pause(progressEveryMs, over);
      if (over.aborted) return;
      const seconds = Math.round((performance.now() - startedAtMs) / 1_000);
      const said = await Promise.resolve(play.progress()).catch(() => "the database is down");
      this.#hooks.onProgress?.(`${name}, ${seconds} s: ${said}`);
    }
  }
}

/** A database or server that is down, or a regular refusal by Headroom, is not reported. */
function isExpected(error: unknown): boolean {
  return (
    error instanceof PartFailed ||
    isRetryableConnectionError(error) ||
    sqlStateOf(error)?.startsWith("PT4") === true ||
    (error instanceof TypeError && error.message === "fetch failed")
  );
}

/** Retries an action that must succeed in the end, although the database may still be starting. */
export async function patiently(work: () => Promise<void>): Promise<void> {
  for (let left = 20; ; left -= 1) {
    try {
      return await work();
    } catch (error) {
      if (left === 0 || !isExpected(error)) throw error;
      await pause(500);
    }
  }
}
