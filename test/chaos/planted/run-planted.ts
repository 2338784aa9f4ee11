/**
 * Tests the suite itself: each planted bug must be found by the ordinary oracle, and the code as it is must pass the very
 * same runs.
 */
import { CrashablePostgres } from "../crashable-postgres.ts";
import type { Finding } from "../findings.ts";
import { table } from "../report.ts";
import { runOnce } from "../run-once.ts";
import { ownCodeDir } from "../settings.ts";
import { plantedBugs, type PlantedBug } from "./bugs.ts";
import { copyWithPatches, requireFitting } from "./patch.ts";
import { scenarioNames, scenarioSettings, type ScenarioName } from "./scenarios.ts";

export interface PlantedOutcome {
  /** Null for the code as it is. */
  readonly bug: string | null;
  readonly scenario: string;
  /** Caught, or clean for the code as it is. */
  readonly ok: boolean;
  readonly findings: readonly Finding[];
  readonly seconds: number;
}

export interface PlantedResult {
  readonly ok: boolean;
  readonly seed: number;
  readonly outcomes: readonly PlantedOutcome[];
}

export interface PlantedOptions {
  readonly seed: number;
  /** Only bugs whose name holds this. */
  readonly only?: string | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
}

export async function runPlanted(options: PlantedOptions): Promise<PlantedResult> {
  const bugs = plantedBugs.filter(({ name }) => name.includes(options.only ?? ""));
  if (bugs.length === 0) throw new Error(`no planted bug is named like "${options.only}"`);
  await requireFitting(bugs.flatMap(({ patches }) => patches));
  const needed = new Set(bugs.map(({ scenario }) => scenario));
  const postgres = await CrashablePostgres.start();
  const outcomes: PlantedOutcome[] = [];
  const note = (outcome: PlantedOutcome): void => {
    outcomes.push(outcome);
    const verdict = outcome.bug === null ? (outcome.ok ? "clean" : "NOT CLEAN") : outcome.ok ? "caught" : "NOT CAUGHT";
    options.onProgress(`${outcome.scenario}: ${outcome.bug ?? "the code as it is"}: ${verdict}`);
  };
  try {
    for (const scenario of scenarioNames) {
      if (!needed.has(scenario)) continue;
      note(await runControl(scenario, options, postgres));
      for (const bug of bugs) if (bug.scenario === scenario) note(await runBug(bug, options, postgres));
    }
  } finally {
    await postgres.close();
  }
  return { ok: outcomes.every(({ ok }) => ok), seed: options.seed, outcomes };
}

async function runControl(
  scenario: ScenarioName,
  { seed, signal }: PlantedOptions,
  postgres: CrashablePostgres,
): Promise<PlantedOutcome> {
  const { findings, durationMs } = await runOnce(scenarioSettings(scenario, seed, ownCodeDir), { signal, postgres });
  return { bug: null, scenario, ok: findings.length === 0, findings, seconds: durationMs / 1_000 };
}

async function runBug(
  bug: PlantedBug,
  { seed, signal }: PlantedOptions,
  postgres: CrashablePostgres,
): Promise<PlantedOutcome> {
  await using copy = await copyWithPatches(bug.patches);
  const settings = scenarioSettings(bug.scenario, seed, copy.dir);
  const changed = bug.settings?.(settings) ?? settings;
  const { findings, durationMs } = await runOnce(changed, { signal, postgres });
  return { bug: bug.name, scenario: bug.scenario, ok: findings.length > 0, findings, seconds: durationMs / 1_000 };
}

export function renderPlanted({ outcomes, ok }: PlantedResult): string {
  const body = outcomes.map(({ bug, scenario, ok: good, findings, seconds }) => [
    bug ?? "(the code as it is)",
    scenario,
    bug === null ? (good ? "clean" : "NOT CLEAN") : good ? "caught" : "NOT CAUGHT",
    seconds.toFixed(0),
    findings.map(({ invariant, count }) => `${invariant.split(" ").slice(0, 5).join(" ")} (${count})`).join("; "),
  ]);
  const summary = ok
    ? "Every planted bug is caught, and the code as it is passes the same runs."
    : "The suite does not hold what it promises.";
  return `${table(["planted bug", "scenario", "verdict", "seconds", "by"], body)}\n\n${summary}`;
}
